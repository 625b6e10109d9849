"""Comparison of a robot with the one that an export reads back to."""

import numpy as np


def assert_equal_robots(one, other, exactly=True):
    """`exactly`: placements to the bit; where URDF text was made of rotation matrices, their last bits differ."""
    tolerance = {"rtol": 0, "atol": 0 if exactly else 1e-13}
    np.testing.assert_array_equal(one.get_generalized_coordinate(), other.get_generalized_coordinate())
    np.testing.assert_array_equal(one.get_generalized_velocity(), other.get_generalized_velocity())
    np.testing.assert_array_equal(one.get_base_position(), other.get_base_position())
    np.testing.assert_array_equal(one.get_base_quaternion(), other.get_base_quaternion())
    np.testing.assert_allclose(one.get_mass_matrix(), other.get_mass_matrix(), **tolerance)
    np.testing.assert_allclose(one.get_nonlinearities(), other.get_nonlinearities(), **tolerance)
    np.testing.assert_array_equal(one.get_joint_limits(), other.get_joint_limits())
    np.testing.assert_array_equal(one.get_joint_velocity_limits(), other.get_joint_velocity_limits())
    np.testing.assert_array_equal(one.get_actuation_upper_limits(), other.get_actuation_upper_limits())
    np.testing.assert_array_equal(one.get_pd_gains(), other.get_pd_gains())
    np.testing.assert_array_equal(one.get_pd_target()[0], other.get_pd_target()[0])
    np.testing.assert_array_equal(one.get_generalized_force(), other.get_generalized_force())
    assert one.get_movable_joint_names() == other.get_movable_joint_names()
    assert one.get_body_names() == other.get_body_names()
    assert one.get_actuators() == other.get_actuators()
    assert one.get_interface() == other.get_interface()
    assert (one.get_name(), one.get_integration_scheme(), one.get_control_mode()) == (
        other.get_name(), other.get_integration_scheme(), other.get_control_mode(),
    )  # fmt: skip
    count = one.get_number_of_joints()
    pairs = [(i, j) for i in range(count) for j in range(i)]
    assert [one.may_collide(*pair) for pair in pairs] == [other.may_collide(*pair) for pair in pairs]
    for shape, twin in zip(one.get_collision_bodies(), other.get_collision_bodies(), strict=True):
        assert (shape.shape, shape.material, shape.name) == (twin.shape, twin.material, twin.name)
        np.testing.assert_array_equal(shape.dim, twin.dim)
        np.testing.assert_allclose(shape.position, twin.position, **tolerance)
        np.testing.assert_allclose(shape.quaternion, twin.quaternion, **tolerance)
