"""Robots that turn fast: what a spinning body keeps, a spinning robot keeps."""

import numpy as np
import pytest
from random_tree import make_body, random_inertia, random_state, random_tree, tree_of

from raisim_ros import World
from raisim_ros.description.robot.kinematic_tree import JointType


def weightless_world(dt):
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    return world


def momenta(robot):
    return np.array([robot.get_linear_momentum(), robot.get_angular_momentum((0, 0, 0))])


@pytest.mark.parametrize("turn", [0.1, 0.5, 1.5], ids=lambda turn: f"{turn} rad per step")
@pytest.mark.parametrize("seed", range(4))
def test_a_free_link_keeps_energy_and_momentum(seed, turn):
    rng = np.random.default_rng(seed)
    world = weightless_world(0.005)
    robot = world.add_articulated_system(tree_of([make_body(0, -1, JointType.FLOATING, rng)]))
    spin = rng.normal(size=3)
    robot.set_generalized_velocity([*rng.normal(size=3), *(turn / 0.005 / np.linalg.norm(spin) * spin)])
    energy, first = robot.get_kinetic_energy(), momenta(robot)
    for _ in range(400):
        world.integrate()
        assert robot.get_kinetic_energy() == pytest.approx(energy, rel=1e-9)
        assert momenta(robot)[0] == pytest.approx(first[0], abs=1e-9 * np.abs(first).max())
    assert momenta(robot)[1] == pytest.approx(first[1], abs=1e-8 * np.abs(first).max())


def test_a_free_link_moves_as_the_body():
    rng = np.random.default_rng(5)
    world = weightless_world(0.004)
    inertia = random_inertia(rng, 2.0)
    robot = world.add_articulated_system(tree_of([make_body(0, -1, JointType.FLOATING, rng, mass=2.0, com=np.zeros(3),
                                                            inertia=inertia)]))
    body = world.add_box(1, 1, 1, 2.0)
    body.set_inertia(inertia)
    robot.set_generalized_coordinate([5, 0, 0, 1, 0, 0, 0])
    robot.set_generalized_velocity([0, 0, 1, 30, -20, 10])
    body.set_linear_velocity((0, 0, 1))
    body.set_angular_velocity((30, -20, 10))
    world.integrate(500)
    assert robot.get_generalized_coordinate()[3:] == pytest.approx(body.get_quaternion(), abs=1e-9)
    assert robot.get_generalized_velocity()[3:] == pytest.approx(body.get_angular_velocity(), abs=1e-7)


@pytest.mark.parametrize("damping", [0.0, 3.0])
def test_what_acts_on_a_free_link_acts_as_on_one_with_a_speck_on_a_hinge(damping):
    """Generalised forces and damping of the base: a robot of one link did not feel them."""
    moved = []
    for specks in range(2):
        world, rng = weightless_world(0.002), np.random.default_rng(2)
        bodies = [make_body(0, -1, JointType.FLOATING, rng, mass=2.0)]
        bodies += [make_body(1, 0, JointType.REVOLUTE, rng, mass=1e-9, inertia=1e-12 * np.eye(3))] * specks
        robot = world.add_articulated_system(tree_of(bodies))
        robot.set_generalized_force([2, 0, -1, 0, 0.02, 0.1] + [0.0] * specks)
        robot.set_joint_damping([damping] * 3 + [0.01 * damping] * 3 + [0.0] * specks)
        world.integrate(200)
        moved.append(robot.get_generalized_velocity()[:6])
    assert np.abs(moved[0]).max() > 0.1
    assert moved[0] == pytest.approx(moved[1], rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("speed", [30.0, 100.0, 300.0])
def test_a_spherical_link_keeps_its_energy(speed, dt):
    rng = np.random.default_rng(1)
    world = weightless_world(dt)
    robot = world.add_articulated_system(tree_of([make_body(0, -1, JointType.FIXED, rng),
                                                  make_body(1, 0, JointType.SPHERICAL, rng)]))
    axis = rng.normal(size=3)
    robot.set_generalized_velocity(speed / np.linalg.norm(axis) * axis)
    energy = robot.get_kinetic_energy()
    for _ in range(round(1.0 / dt)):
        world.integrate()
        assert robot.get_kinetic_energy() == pytest.approx(energy, rel=1e-6)


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("speed", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("seed", range(4))
def test_trees_flung_through_space_gain_nothing(seed, speed, dt):
    rng = np.random.default_rng(seed)
    world = weightless_world(dt)
    tree = random_tree(rng, 6, True)
    robot = world.add_articulated_system(tree)
    q, u = random_state(rng, tree)
    robot.set_state(q, speed * u)
    energy, first = robot.get_kinetic_energy(), momenta(robot)
    for _ in range(round(1.0 / dt)):
        world.integrate()
    assert robot.get_kinetic_energy() == pytest.approx(energy, rel=1e-4)
    assert momenta(robot)[0] == pytest.approx(first[0], abs=1e-9 * np.abs(first).max())
    assert momenta(robot)[1] == pytest.approx(first[1], abs=1e-5 * np.abs(first).max())


def test_no_speed_is_too_much():
    """Links that turn by several radians in a step: not exact any more, but bounded."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        world = weightless_world(0.005)
        tree = random_tree(rng, 6, seed % 2 == 0)
        robot = world.add_articulated_system(tree)
        q, u = random_state(rng, tree)
        robot.set_state(q, 100.0 * u)
        energy = robot.get_kinetic_energy()
        for _ in range(200):
            world.integrate()
            assert robot.get_kinetic_energy() < 1.01 * energy


LINK = """<inertial><origin xyz="0 0 -.1"/><mass value="0.25"/>
    <inertia ixx="9e-4" iyy="9e-4" izz="5e-5" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -.1"/><geometry><capsule radius="0.02" length="0.16"/></geometry></collision>"""


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("kind", ["spherical", "continuous"])
@pytest.mark.parametrize("seed", range(6))
def test_a_chain_without_damping_falls_down_and_lies(seed, kind, dt):
    joints = "".join(f"""<link name="l{k}">{LINK}</link><joint name="j{k}" type="{kind}"><parent link="l{k - 1}"/>
        <child link="l{k}"/><origin xyz="0 0 -.2"/><axis xyz="{k % 2} {1 - k % 2} 0"/></joint>""" for k in range(1, 10))
    world = World()
    world.set_time_step(dt)
    world.set_default_material(0.8, 0, 0)
    world.add_ground()
    robot = world.add_articulated_system(f'<robot name="chain"><link name="l0">{LINK}</link>{joints}</robot>')
    q = np.array(robot.get_generalized_coordinate())
    turn = np.random.default_rng(seed).normal(size=4)
    q[2], q[3:7] = 3.0, turn / np.linalg.norm(turn)
    robot.set_generalized_coordinate(q)
    energy = robot.get_energy()
    highest = energy
    for _ in range(round(2.0 / dt)):
        world.integrate()
        highest = max(highest, robot.get_energy())
    assert highest < energy + 1.0
    assert robot.get_energy() < energy - 20.0
