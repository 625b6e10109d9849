"""Editing the collision bodies of a robot, its self-collision rules, and what its joint limits do."""

from pathlib import Path

import numpy as np
import pytest

from raisim_ros import InvalidValueError, World

ROBOTS = Path(__file__).resolve().parents[3] / "rsc" / "robots"


@pytest.fixture
def arm():
    return World().add_articulated_system(ROBOTS / "arm.urdf")


def distance_from_above(arm, x, y):
    """How far below z = 5 a ray meets the robot."""
    hits = arm._world.ray_test((x, y, 5.0), (0, 0, -1), 10.0)
    return hits[0].distance if hits else None


def test_collision_body_can_be_resized_moved_and_turned(arm):
    """A cylinder of the second body, moved beside the arm: asymmetric in every way."""
    name = arm.get_collision_bodies()[1].name
    origin, rotation = arm.get_body_pose(arm.get_collision_bodies()[1].body_index)
    assert distance_from_above(arm, *(origin + rotation @ (2.0, 1.0, 0.5))[:2]) is None
    arm.set_collision_body_shape_parameters(name, (0.1, 0.6))
    arm.set_collision_body_position_offset(name, (2.0, 1.0, 0.5))
    place = origin + rotation @ (2.0, 1.0, 0.5)
    assert distance_from_above(arm, place[0], place[1]) == pytest.approx(5.0 - place[2] - 0.3)
    assert distance_from_above(arm, place[0] + 0.2, place[1]) is None
    arm.set_collision_body_orientation_offset(name, (np.sqrt(0.5), 0, np.sqrt(0.5), 0))  # its axis along x of the body
    along = rotation @ (0.2, 0.0, 0.0)
    assert distance_from_above(arm, place[0] + along[0], place[1] + along[1]) == pytest.approx(5.0 - place[2] - 0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda arm, name: arm.set_collision_body_shape_parameters(name, (1.0,)), "parameters has 1 numbers; expected 2"),
        (lambda arm, name: arm.set_collision_body_shape_parameters(name, (-1.0, 1.0)), "radius is -1"),
        (lambda arm, name: arm.set_collision_body_position_offset(name, (0, 0, np.nan)), "position"),
        (lambda arm, name: arm.set_collision_body_position_offset("nothing/0", (0, 0, 0)), "no collision body named 'nothing/0'"),
        (lambda arm, name: arm.set_allowed_number_of_internal_contacts_between_two_bodies(1, 1, 1), "two different ones"),
        (lambda arm, name: arm.set_allowed_number_of_internal_contacts_between_two_bodies(1, 2, 9), "expected 0 to 8"),
    ],
)
def test_wrong_edits_change_nothing(arm, call, message):
    name = arm.get_collision_bodies()[1].name
    before = repr(arm.get_collision_body(name))
    with pytest.raises(InvalidValueError, match=message):
        call(arm, name)
    assert repr(arm.get_collision_body(name)) == before


def test_an_edited_shape_keeps_the_material_it_was_given(arm):
    name = arm.get_collision_bodies()[1].name
    assert arm._world.set_object_material(arm, "rubber", arm.get_collision_bodies()[1].body_index)
    assert arm.get_collision_body(name).material == "rubber"
    arm.set_collision_body_position_offset(name, (0.1, 0.2, 0.3))
    assert arm.get_collision_body(name).material == "rubber"
    assert arm.get_collision_bodies()[0].material == "default"


def test_numbers_of_internal_contacts(arm):
    assert arm.get_allowed_number_of_internal_contacts_between_two_bodies(1, 3) == 1
    assert not arm.may_collide(1, 2)  # parent and child
    arm.set_allowed_number_of_internal_contacts_between_two_bodies(2, 1, 4)
    assert arm.get_allowed_number_of_internal_contacts_between_two_bodies(1, 2) == 4
    arm.ignore_collision_between(1, 3)
    assert arm.get_allowed_number_of_internal_contacts_between_two_bodies(3, 1) == 0


def test_limit_violations_name_the_joint_and_balance_the_motor(arm):
    """A motor that pushes a joint into its limit: the limit's impulse holds the torque."""
    world = arm._world
    world.set_gravity((0, 0, 0))
    limits = arm.get_joint_limits()
    stop = arm.get_generalized_coordinate()
    stop[0] = limits[0, 1] - 1e-3
    arm.set_generalized_coordinate(stop)
    torque = np.zeros(arm.get_dof())
    torque[0] = 3.0
    assert arm.get_joint_limit_violations() == []
    gains = np.r_[0.0, np.full(arm.get_dof() - 1, 1000.0)]  # the other joints stay where they are
    arm.set_pd_gains(gains, 0.1 * gains)
    arm.set_pd_target(stop, np.zeros(arm.get_dof()))
    arm.set_generalized_force(torque)
    world.integrate(1000)
    (violation,) = arm.get_joint_limit_violations()
    joint = arm.get_movable_joint_names()[0]
    assert violation.joint_id == arm.get_joint(joint).idx
    friction = 0.1 * world.get_time_step()  # of the joint: it may carry a part of the load, either way
    assert violation.impulse == pytest.approx(-3.0 * world.get_time_step(), abs=1.001 * friction)
    assert arm.get_generalized_coordinate()[0] == pytest.approx(limits[0, 1], abs=1e-5)


def test_options_are_kept(arm):
    assert arm.get_options().base == "auto"
    assert arm.get_options().do_not_collide_with_parent
