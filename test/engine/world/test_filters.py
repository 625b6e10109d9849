"""Collision groups and masks: both sides must agree, 64 bits, and edits take effect at once."""

import pytest

from raisim_ros import BroadphaseSettings, BroadphaseType, InvalidValueError, World
from raisim_ros.engine.world.bodies import GROUND_GROUP, HEIGHTMAP_GROUP

ALL = 2**64 - 1


def touching(world: World, filter_a: tuple[int, int], filter_b: tuple[int, int]) -> bool:
    a = world.add_sphere(0.1, 1.0, "default", *filter_a)
    b = world.add_sphere(0.1, 1.0, "default", *filter_b)
    b.set_position(0.15, 0.0, 0.0)
    world.integrate()
    hit = world.read_contacts().size > 0
    assert (len(a.get_contacts()) > 0) == (len(b.get_contacts()) > 0) == hit
    return hit


@pytest.mark.parametrize("broadphase", list(BroadphaseType))
@pytest.mark.parametrize(
    ("filter_a", "filter_b", "hit"),
    [
        ((1, -1), (1, -1), True),
        ((2, 4), (4, 2), True),
        ((2, 4), (4, 1), False),  # b refuses a
        ((2, 1), (4, 2), False),  # a refuses b
        ((3, 8), (8, 2), True),  # one common bit is enough
        ((1 << 63, -1), (1, 1 << 63), True),
        ((1 << 63, 1 << 62), (1 << 62, 1 << 63), True),
        ((1 << 62, -1), (1, 1 << 63), False),
        ((0, -1), (1, -1), False),
        ((1, 0), (1, -1), False),
    ],
)
def test_both_sides_must_agree(broadphase, filter_a, filter_b, hit):
    world = World()
    world.set_broadphase_settings(BroadphaseSettings(broadphase))
    assert touching(world, filter_a, filter_b) == hit


def test_groups_of_ground_and_heightmap():
    world = World()
    ground = world.add_ground()
    terrain = world.add_height_map(2, 2, 1.0, 1.0, 5.0, 0.0, [0.0] * 4)
    ball = world.add_sphere(0.1, 1.0)
    assert (ground.get_collision_group(), ground.get_collision_mask()) == (GROUND_GROUP, ALL) == (1 << 61, ALL)
    assert (terrain.get_collision_group(), terrain.get_collision_mask()) == (HEIGHTMAP_GROUP, ALL) == (1 << 63, ALL)
    assert (ball.get_collision_group(), ball.get_collision_mask()) == (1, ALL)


def test_a_ball_that_does_not_accept_the_ground_falls_through():
    world = World()
    world.add_ground()
    through = world.add_sphere(0.1, 1.0, "default", 1, ~GROUND_GROUP)
    held = world.add_sphere(0.1, 1.0)
    through.set_position(0.0, 0.0, 0.1)
    held.set_position(1.0, 0.0, 0.1)
    world.integrate(100)
    assert through.get_position()[2] == pytest.approx(0.1 - 0.5 * 9.81 * 0.25, abs=1e-9)
    assert held.get_position()[2] == pytest.approx(0.1, abs=1e-5)


def test_a_ground_with_a_mask_holds_only_what_it_accepts():
    world = World()
    world.add_ground(0.0, "default", 2)
    through = world.add_sphere(0.1, 1.0, "default", 1)
    held = world.add_sphere(0.1, 1.0, "default", 2)
    through.set_position(0.0, 0.0, 0.1)
    held.set_position(1.0, 0.0, 0.1)
    world.integrate(100)
    assert through.get_position()[2] < -1.0
    assert held.get_position()[2] == pytest.approx(0.1, abs=1e-5)


@pytest.mark.parametrize("broadphase", list(BroadphaseType))
def test_filters_can_be_edited_while_running(broadphase):
    world = World()
    world.set_broadphase_settings(BroadphaseSettings(broadphase))
    world.add_ground()
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.1)
    world.integrate(50)
    assert world.set_object_collision_filter(ball, 1, 0)
    world.update_self_collision_cache()
    world.integrate(10)
    fallen = ball.get_position()[2]
    assert fallen == pytest.approx(0.1 - 0.5 * 9.81 * 0.05**2, abs=2e-5)
    assert world.set_object_collision_filter(ball, 1, -1, 0)
    assert ball.get_collision_mask() == ALL
    world.integrate(200)
    assert ball.get_position()[2] == pytest.approx(0.1, abs=1e-3)


def test_filters_of_unknown_local_bodies_are_refused_with_false():
    world = World()
    ball = world.add_sphere(0.1, 1.0)
    assert world.set_object_collision_filter(ball, 2, 2, 1) is False
    assert ball.get_collision_group() == 1
    assert world.set_object_material(ball, "steel", 1) is False
    assert world.get_object_material(ball) == "default"


@pytest.mark.parametrize("bits", [1.5, "1", True, None, 2**64, -(2**63) - 1])
def test_wrong_bits_are_refused(bits):
    world = World()
    ball = world.add_sphere(0.1, 1.0)
    with pytest.raises(InvalidValueError, match="collision_group"):
        world.add_sphere(0.1, 1.0, "default", bits)
    with pytest.raises(InvalidValueError, match="collision_mask"):
        world.set_object_collision_filter(ball, 1, bits)
    assert len(world.get_obj_list()) == 1
    assert ball.get_collision_mask() == ALL
