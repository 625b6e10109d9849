"""All robots are read in one call, and a commanded wrench acts on the base until it is replaced."""

import numpy as np
import pytest

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.resources import resource
from raisim_ros.description.rotation import matrix_from_quaternion
from raisim_ros.engine.world.robots import ArticulatedSystemOption
from raisim_ros.engine.world.world import World


def robot(name):
    return str(resource(f"robots/{name}.urdf"))


def floating_box():
    """One free body of 2 kg whose centre of mass lies beside its origin."""
    return """<robot name="b"><link name="b"><inertial><origin xyz="0.3 0 0"/><mass value="2"/>
        <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_bulk_read_agrees_with_every_single_read():
    world = World()
    world.add_sphere(0.1, 1.0)
    rng = np.random.default_rng(3)
    robots = [world.add_articulated_system(robot(name)) for name in ("quadruped", "cartpole", "arm")]
    for handle in robots:
        q = handle.get_generalized_coordinate() + rng.uniform(-3.0, 3.0, handle.get_generalized_coordinate_dim())
        handle.set_state(q, rng.uniform(-1.0, 1.0, handle.get_dof()))
        handle.set_generalized_force(rng.uniform(-1.0, 1.0, handle.get_dof()))
    world.integrate(2)
    world.remove_object(robots.pop(0))  # the others move up
    buffer = world.read_articulations()
    assert sum(handle.get_number_of_joints() for handle in robots) == len(buffer.link_poses)
    for handle in robots:
        at = buffer.link_first[handle.get_id()]
        for body in range(handle.get_number_of_joints()):
            position, rotation = handle.get_body_pose(body)
            pose = buffer.link_poses[at + body]
            assert pose[:3] == pytest.approx(position, abs=1e-15)
            assert matrix_from_quaternion(pose[3:]) == pytest.approx(rotation, abs=1e-14)
        q, u = handle.get_state()
        first = buffer.coordinate_first[handle.get_id()]
        assert buffer.coordinates[first : first + len(q)].tolist() == q.tolist()
        first = buffer.velocity_first[handle.get_id()]
        assert buffer.velocities[first : first + len(u)].tolist() == u.tolist()
        # The last one commanded: no limit was reached, so the forces are those given.
        given = handle.get_feed_forward_generalized_force()
        limits = handle.get_actuation_upper_limits()
        expected = np.clip(given, -limits, limits)
        assert buffer.efforts[first : first + len(u)] == pytest.approx(expected, abs=1e-12)


def test_every_rotation_comes_out_as_its_quaternion():
    """Turns by half a revolution about each axis: where one component alone is large."""
    world = World()
    body = world.add_articulated_system(floating_box())
    for wxyz in ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (0.1, 0.7, -0.5, 0.5), (-0.5, 0.5, 0.5, 0.5)):
        unit = np.array(wxyz, float) / np.linalg.norm(wxyz)
        body.set_base_orientation(unit)
        turn = world.read_articulations().link_poses[0, 3:]
        assert abs(unit @ turn) == pytest.approx(1.0, abs=1e-14)


def test_a_world_without_robots_reads_nothing():
    world = World()
    world.add_sphere(0.1, 1.0)
    assert world.read_articulations().link_poses.shape == (0, 7)


def test_commanded_wrench_acts_at_the_centre_of_mass_until_replaced():
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_time_step(0.001)
    body = world.add_articulated_system(floating_box())
    body.set_command_wrench((0.0, 0.0, 6.0), (0.0, 0.0, 0.0))
    world.integrate(100)
    # The force goes through the centre of mass: it pushes and does not turn.
    assert body.get_linear_momentum() == pytest.approx([0.0, 0.0, 0.6], abs=1e-12)
    assert body.get_generalized_velocity() == pytest.approx([0, 0, 0.3, 0, 0, 0], abs=1e-12)
    states = world.read_states()
    assert states.wrenches[0].tolist() == [0.0, 0.0, 6.0, 0.0, 0.0, 0.0]
    body.set_command_wrench((0.0, 0.0, 0.0), (0.5, 0.0, 0.0))
    world.integrate(100)
    # About its axis of 0.1 kg m^2: w = M t / I.
    assert body.get_angular_velocity(0) == pytest.approx([0.5, 0.0, 0.0], abs=1e-9)
    body.clear_command()
    before = body.get_generalized_velocity()
    world.integrate(10)
    assert body.get_linear_momentum() == pytest.approx([0.0, 0.0, 0.6], abs=1e-9)
    assert body.get_angular_velocity(0) == pytest.approx(before[3:], abs=1e-9)


def test_commanded_wrench_pushes_a_fixed_base_nowhere_and_must_be_finite():
    world = World()
    fixed = ArticulatedSystemOption(base="fixed")
    arm, other = (world.add_articulated_system(robot("arm"), collision_mask=0, options=fixed) for _ in range(2))
    with pytest.raises(InvalidValueError):
        arm.set_command_wrench((np.nan, 0.0, 0.0), (0.0, 0.0, 0.0))
    arm.set_command_wrench((100.0, 50.0, 1.0), (3.0, 2.0, 1.0))
    world.integrate(50)
    assert arm.get_generalized_coordinate().tolist() == other.get_generalized_coordinate().tolist()
