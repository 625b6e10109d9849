"""Every robot of example-robot-data: dynamics against Pinocchio at 100 random states, and a fall with all shapes."""

from dataclasses import replace

import numpy as np
import pytest
from example_robots import example_robots
from pinocchio_model import PinocchioRobot, pin
from random_tree import random_state

from raisim_ros import UrdfError, World
from raisim_ros.description.urdf.file import load_urdf

STATES = 100
RELATIVE = 1e-9


def check(actual, expected):
    scale = max(1e-6, float(np.abs(expected).max(initial=0.0)))
    assert float(np.abs(np.asarray(actual) - expected).max(initial=0.0)) <= RELATIVE * scale


@pytest.mark.parametrize("path", example_robots())
def test_dynamics(path):
    try:
        tree = load_urdf(path)
    except UrdfError as error:
        pytest.skip(f"not a robot: {error}")  # the tests of the reader say which and why
    bare = replace(tree, bodies=[replace(body, collisions=[], visuals=[]) for body in tree.bodies], pins=[])
    robot, peer = World().add_articulated_system(bare), PinocchioRobot(bare)
    rng = np.random.default_rng(1)
    last = robot.get_number_of_joints() - 1
    for _ in range(STATES):
        q, u = random_state(rng, bare)
        robot.set_state(q, u)
        peer.set_state(q, u)
        inertia, forces = peer.mass_matrix(), peer.nonlinearities()
        check(robot.get_mass_matrix(), inertia)
        check(robot.get_nonlinearities(), forces)
        udot = rng.normal(size=robot.get_dof())
        # Forward dynamics is judged by the force that its answer needs: light links make M badly conditioned.
        tau = inertia @ udot + forces
        check(inertia @ robot.articulated_body_algorithm(tau) + forces, tau)
        point = robot.get_body_position(last) + 0.1
        check(robot.get_dense_jacobian(last, point), peer.jacobian(last, point)[:3])
        momentum = pin.computeCentroidalMomentum(peer.model, peer.data, peer.q, peer.v)
        check(robot.get_linear_momentum(), momentum.linear)
        centre = pin.centerOfMass(peer.model, peer.data, peer.q, peer.v)
        check(robot.get_angular_momentum(centre), momentum.angular)


@pytest.mark.parametrize("path", example_robots())
def test_falls_with_all_its_shapes(path):
    """Shapes of many of these robots overlap for ever, and joints start beyond their limits: no speed comes of it."""
    world = World()
    world.set_time_step(0.002)
    try:
        robot = world.add_articulated_system(path)
    except UrdfError as error:
        pytest.skip(f"not a robot: {error}")
    if robot.get_movable_joint_names()[:1] == ["ROOT"]:
        robot.set_base_pos((0, 0, 1.5))
    world.integrate(3)
    fall = 0.5 * robot.get_total_mass() * (0.006 * 9.81) ** 2
    assert robot.get_kinetic_energy() < 1.01 * fall
