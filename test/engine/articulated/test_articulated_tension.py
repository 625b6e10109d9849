"""Heavy loads on chains of light links: what is taut stays where it belongs, however coarse the step."""

import numpy as np
import pytest
from random_tree import make_body, tree_of

from raisim_ros import World
from raisim_ros.description.robot.kinematic_tree import JointType

G = 9.81
LENGTH = 0.1
KINDS = ("hinge", "ball", "cross", "random", "mixed")


def joints_of(kind, count, rng):
    """Type and axis of each joint."""
    turn, ball = JointType.REVOLUTE, JointType.SPHERICAL
    along = [axis / np.linalg.norm(axis) for axis in rng.normal(size=(count, 3))]
    if kind == "hinge":
        return [(turn, (0, 1, 0))] * count
    if kind == "ball":
        return [(ball, (1, 0, 0))] * count
    if kind == "cross":
        return [(turn, (0, 1, 0) if k % 2 else (1, 0, 0)) for k in range(count)]
    return [(ball if kind == "mixed" and rng.random() < 0.5 else turn, along[k]) for k in range(count)]


def add_chain(world, rng, kind, count, mass, length, base=None, load=None):
    """Rods that hang below each other; on a free base of a mass, and with the last one as heavy as `load`."""
    root = JointType.FIXED if base is None else JointType.FLOATING
    heavy = base or 1.0
    bodies = [make_body(0, -1, root, rng, mass=heavy, com=np.zeros(3), inertia=0.01 * heavy * np.eye(3))]
    for k, (joint, axis) in enumerate(joints_of(kind, count, rng)):
        own = load if load is not None and k == count - 1 else mass
        inertia = own * (0.01 * np.eye(3) if own is load else np.diag([length**2 / 12 + 1e-5] * 2 + [1e-4]))
        bodies.append(
            make_body(k + 1, k, joint, rng, mass=own, com=np.array([0, 0, -length / 2]), inertia=inertia,
                      axis=np.array(axis, float), joint_position=np.array([0, 0, -length if k else 0.0]),
                      joint_rotation=np.eye(3))
        )
    return world.add_articulated_system(tree_of(bodies))


def hang(world, robot, count, length, mass, wire):
    """A body on a stiff wire below the last link of a straight chain."""
    load = world.add_box(0.3, 0.3, 0.3, mass, collision_mask=0)
    load.set_position(0, 0, -count * length - wire)
    world.add_stiff_wire(robot, count, (0, 0, -length), load, 0, (0, 0, 0), wire)
    return load


def make_world(dt, gravity=(0, 0, -G)):
    world = World()
    world.set_time_step(dt)
    world.set_sleeping_enabled(False)
    world.set_gravity(gravity)
    return world


def energy_of(robot, load, gravity):
    energy = robot.get_kinetic_energy() + robot.get_potential_energy(gravity)
    if load is not None:
        energy += load.get_kinetic_energy() - load.get_mass() * float(np.dot(gravity, load.get_position()))
    return energy


@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
@pytest.mark.parametrize("kind", KINDS)
def test_a_pushed_load_stays_on_its_chain(kind, dt):
    """A thousand to one: transversal oscillations of the links take less than two steps."""
    world = make_world(dt)
    robot = add_chain(world, np.random.default_rng(1), kind, 20, 0.1, LENGTH)
    load = hang(world, robot, 20, LENGTH, 100.0, 0.1)
    load.set_linear_velocity((0.1, 0, 0))
    for _ in range(round(3.0 / dt)):
        world.integrate()
        assert np.linalg.norm(load.get_linear_velocity()) < 0.11
    assert load.get_position()[2] == pytest.approx(-2.1, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_swinging_chains_hold_and_gain_nothing(seed):
    """Random chains that are let go at an angle, with the load as their last link or on a wire."""
    rng = np.random.default_rng(seed)
    kind, count = KINDS[seed % 5], int(rng.integers(4, 24))
    mass, ratio, dt = 10 ** rng.uniform(-2, 0), 10 ** rng.uniform(2.5, 4), rng.choice([0.002, 0.005, 0.01])
    length, angle = rng.uniform(0.1, 0.4), rng.uniform(0.2, 0.7)
    gravity = G * np.array([np.sin(angle), 0, -np.cos(angle)])  # chains with any axes can stand at an angle to it
    world = make_world(dt, gravity)
    own = seed % 2 == 0
    robot = add_chain(world, rng, kind, count, mass, length, load=ratio * mass if own else None)
    load = None if own else hang(world, robot, count, length, ratio * mass, length)
    swing = ratio * mass * G * count * length * (1 - np.cos(angle))
    first = before = energy_of(robot, load, gravity)
    for _ in range(round(2 * np.pi * np.sqrt(count * length / G) / dt)):
        world.integrate()
        now = energy_of(robot, load, gravity)
        assert now - before < 1e-3 * swing
        if load is not None:
            assert world.get_wires()[0].get_stretch() < 0.01 * length
        before = now
    assert abs(before - first) < 0.05 * swing


@pytest.mark.parametrize("dt", [0.004, 0.002])
def test_what_the_step_resolves_is_of_second_order(dt):
    """Light links under tension get inertia within the step; what swings slowly must not feel it."""

    def end(step):
        world = make_world(step, (G * np.sin(0.4), 0, -G * np.cos(0.4)))
        robot = add_chain(world, np.random.default_rng(3), "hinge", 5, 0.1, LENGTH, load=10.0)
        world.integrate(round(0.64 / step))
        return np.array(robot.get_com())

    assert np.linalg.norm(end(dt) - end(0.0001)) < 1e-5 * (dt / 0.004) ** 2


@pytest.mark.parametrize("seed", range(6))
def test_free_chains_between_heavy_ends_keep_momentum_and_energy(seed):
    rng = np.random.default_rng(seed)
    world = make_world(0.005, (0, 0, 0))
    mass = 10 ** rng.uniform(-2, 0)
    heavy = mass * 10 ** rng.uniform(2.5, 3.5)
    robot = add_chain(world, rng, KINDS[seed % 5], int(rng.integers(3, 15)), mass, LENGTH, base=heavy, load=heavy)
    spin = rng.normal(size=3)
    spin *= rng.uniform(2, 6) / np.linalg.norm(spin[:2])
    robot.set_generalized_velocity([*rng.normal(size=3), spin[0], spin[1], 0.1 * spin[2], *np.zeros(robot.get_dof() - 6)])

    def momenta():
        return np.array([robot.get_linear_momentum(), robot.get_angular_momentum((0, 0, 0))])

    first, energy = momenta(), robot.get_kinetic_energy()
    world.integrate(400)
    assert momenta() == pytest.approx(first, abs=1e-10 * np.abs(first).max())
    assert robot.get_kinetic_energy() == pytest.approx(energy, rel=1e-4)
