"""Robots on stiff wires: what joints hold against the wire's pull is no energy from nowhere, and what cannot move is left in peace."""

import numpy as np
import pytest
from robot_scenes import ROBOTS

from raisim_ros import BodyType, World

DT = 0.002


def make_world():
    world = World()
    world.set_time_step(DT)
    world.set_sleeping_enabled(False)
    world.add_ground()
    return world


def add_anchor(world, position):
    anchor = world.add_sphere(0.05, 1.0, collision_mask=0)
    anchor.set_body_type(BodyType.STATIC)
    anchor.set_position(*position)
    return anchor


def add_taut_wire(world, robot, link, anchor):
    length = float(np.linalg.norm(robot.get_body_position(link) - anchor.get_position()))
    return world.add_stiff_wire(anchor, 0, (0, 0, 0), robot, link, (0, 0, 0), length)


def add_robot(world, name, rng):
    robot = world.add_articulated_system(ROBOTS / f"{name}.urdf")
    q = np.array(robot.get_generalized_coordinate())
    if name == "arm":
        q += rng.uniform(-1.5, 1.5, len(q))
    else:
        q[2], q[3:7] = 1.0, rng.normal(size=4)
    robot.set_generalized_coordinate(q)
    return robot


@pytest.mark.parametrize("seed", [3, 15, 22, 23])
def test_a_robot_that_swings_on_a_wire_obeys_the_laws_without_being_restrained(seed):
    """Impulses of wires were reduced where brakes and stops held against them: that counted as energy given, though nothing moved."""
    rng = np.random.default_rng(seed)
    world = make_world()
    robot = add_robot(world, "quadruped", rng)
    anchor = add_anchor(world, (*rng.uniform(-0.5, 0.5, 2), 2.0))
    add_taut_wire(world, robot, int(rng.integers(2, len(robot.get_body_names()))), anchor)
    worst = gained = restrained = 0.0
    for _ in range(500):
        before = robot.get_energy()
        world.integrate()
        counters = world.get_collision_counters()
        worst = max(worst, counters.solver_relative_error)
        restrained += counters.restrained_islands
        gained = max(gained, robot.get_energy() - before)
    assert worst < 1e-2
    assert restrained < 3
    assert gained < 0.02


@pytest.mark.parametrize("link", [0, 1, 2])
@pytest.mark.parametrize("stiff", [True, False])
def test_a_wire_to_a_point_that_no_joint_moves_does_nothing(link, stiff):
    """Both ends stay where they are whatever the joints do, but for rounding, of which nothing must be made: robots flew apart."""
    moved = []
    for wired in (False, True):
        world = make_world()
        robot = add_robot(world, "arm", np.random.default_rng(8))
        anchor = add_anchor(world, (0.3, -0.2, 2.0))
        if wired and stiff:
            add_taut_wire(world, robot, link, anchor)
        elif wired:
            world.add_compliant_wire(anchor, 0, (0, 0, 0), robot, link, (0, 0, 0), 1.0, 1000.0)
        for _ in range(200):
            world.integrate()
            assert world.get_collision_counters().solver_relative_error < 1e-2
        moved.append(robot.get_generalized_coordinate())
    np.testing.assert_allclose(moved[1], moved[0], rtol=0, atol=1e-6)


def test_a_load_hangs_on_the_base_of_an_arm():
    world = make_world()
    robot = add_robot(world, "arm", np.random.default_rng(1))
    load = world.add_sphere(0.05, 5.0, collision_mask=0)
    load.set_position(*(robot.get_body_position(0) - (0, 0, 1.0)))
    wire = world.add_stiff_wire(robot, 0, (0, 0, 0), load, 0, (0, 0, 0), 1.0)
    world.integrate(500)
    assert wire.get_tension() == pytest.approx(5.0 * 9.81, rel=1e-3)
    assert load.get_position()[2] == pytest.approx(robot.get_body_position(0)[2] - 1.0, abs=1e-5)
