"""Kinematics and dynamics of articulated systems against Pinocchio, at random states of random trees."""

import numpy as np
import pytest
from pinocchio_model import PinocchioRobot
from random_tree import random_state, random_tree

from raisim_ros import World

RELATIVE = 1e-11


def close(actual, expected):
    scale = max(1e-3, float(np.abs(expected).max(initial=0.0)))
    return float(np.abs(np.asarray(actual) - expected).max(initial=0.0)) <= RELATIVE * scale


@pytest.fixture(params=[(seed, floating) for seed in range(12) for floating in (False, True)], ids=str)
def case(request):
    """A world with a random robot in a random state, and the same robot in Pinocchio."""
    seed, floating = request.param
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, int(rng.integers(2, 14)), floating)
    world = World()
    robot = world.add_articulated_system(tree)
    peer = PinocchioRobot(tree)
    q, u = random_state(rng, tree)
    robot.set_state(q, u)
    peer.set_state(q, u)
    return world, robot, peer, rng


def test_poses(case):
    _, robot, peer, _ = case
    for index in range(1, robot.get_number_of_joints()):
        position, rotation = peer.body_pose(index)
        assert close(robot.get_body_position(index), position)
        assert close(robot.get_body_orientation(index), rotation)


def test_mass_matrix(case):
    _, robot, peer, rng = case
    expected = peer.mass_matrix()
    assert close(robot.get_mass_matrix(), expected)
    x = rng.normal(size=robot.get_dof())
    assert close(robot.mass_matrix_vec_mul(x), expected @ x)
    assert close(robot.get_generalized_momentum(), expected @ robot.get_generalized_velocity())


def test_nonlinearities(case):
    _, robot, peer, _ = case
    assert close(robot.get_nonlinearities(), peer.nonlinearities())


def test_forward_dynamics(case):
    _, robot, peer, rng = case
    tau = rng.normal(size=robot.get_dof())
    expected = np.linalg.solve(peer.mass_matrix(), tau - peer.nonlinearities())
    assert np.abs(robot.articulated_body_algorithm(tau) - expected).max() <= 1e-9 * np.abs(expected).max()


def test_inverse_dynamics(case):
    _, robot, peer, rng = case
    acceleration = rng.normal(size=robot.get_dof())
    expected = peer.mass_matrix() @ acceleration + peer.nonlinearities()
    assert close(robot.get_inverse_dynamics(acceleration), expected)


def test_damped_inverse(case):
    world, robot, peer, rng = case
    n = robot.get_dof()
    damping, kp, kd = rng.uniform(0, 5, n), rng.uniform(0, 500, n), rng.uniform(0, 20, n)
    base = 0 if robot._tree.fixed_base else 6
    kp[:base] = kd[:base] = 0.0
    robot.set_joint_damping(damping)
    robot.set_pd_gains(kp, kd)
    dt = world.get_time_step()
    weight = dt / 2 * (damping + kd) + dt**2 / 4 * kp
    expected = np.linalg.inv(peer.mass_matrix() + np.diag(weight))
    assert np.abs(robot.get_inverse_mass_matrix() - expected).max() <= 1e-9 * np.abs(expected).max()


def test_jacobians(case):
    _, robot, peer, rng = case
    for index in range(1, robot.get_number_of_joints()):
        point = robot.get_body_position(index) + rng.normal(size=3)
        expected = peer.jacobian(index, point)
        assert close(robot.get_dense_jacobian(index, point), expected[:3])
        assert close(robot.get_dense_rotational_jacobian(index), expected[3:])


def test_velocities_follow_from_jacobians(case):
    _, robot, _, rng = case
    u = robot.get_generalized_velocity()
    for index in range(robot.get_number_of_joints()):
        local = rng.normal(size=3)
        point = robot.get_position(index, local)
        assert close(robot.get_velocity(index, local), robot.get_dense_jacobian(index, point) @ u)
        assert close(robot.get_angular_velocity(index), robot.get_dense_rotational_jacobian(index) @ u)


def test_derivatives_of_jacobians(case):
    _, robot, peer, rng = case
    u = robot.get_generalized_velocity()
    for index in range(1, robot.get_number_of_joints()):
        point = robot.get_body_position(index) + rng.normal(size=3)
        linear, angular = peer.velocity_products(index, point)
        rate = robot.get_time_derivative_of_sparse_jacobian(index, point)
        turn = robot.get_time_derivative_of_sparse_rotational_jacobian(index)
        assert close(rate.v @ u[rate.idx], linear)
        assert close(turn.v @ u[turn.idx], angular)


def test_centroidal_quantities(case):
    import pinocchio as pin

    _, robot, peer, _ = case
    base_mass = robot.get_mass(0) if robot._tree.fixed_base else 0.0
    com = pin.centerOfMass(peer.model, peer.data, peer.q, peer.v).copy()
    whole_mass = robot.get_total_mass()
    if robot._tree.fixed_base:  # Pinocchio leaves the links fixed to the universe out
        com = (com * (whole_mass - base_mass) + robot.get_body_com_w()[0] * base_mass) / whole_mass
    assert close(robot.get_com(), com)
    momentum = pin.computeCentroidalMomentum(peer.model, peer.data, peer.q, peer.v)
    assert close(robot.get_linear_momentum(), momentum.linear)
    own_com = pin.centerOfMass(peer.model, peer.data, peer.q, peer.v)
    assert close(robot.get_angular_momentum(own_com), momentum.angular)
    kinetic = pin.computeKineticEnergy(peer.model, peer.data, peer.q, peer.v)
    rotor = 0.5 * float(peer.rotor @ robot.get_generalized_velocity() ** 2)
    assert robot.get_kinetic_energy() == pytest.approx(kinetic + rotor, rel=1e-11)


def test_composites_add_up(case):
    _, robot, _, _ = case
    bodies, parents = robot.get_number_of_joints(), robot.get_parent_vector()
    mass, com = np.array(robot.get_masses()), robot.get_body_com_w()
    rotations = [robot.get_body_orientation(k) for k in range(bodies)]
    for root in range(bodies):
        members = [k for k in range(bodies) if _descends(k, root, parents)]
        total = mass[members].sum()
        centre = (mass[members, None] * com[members]).sum(axis=0) / total
        inertia = np.zeros((3, 3))
        for k in members:
            arm = com[k] - centre
            inertia += rotations[k] @ robot.get_inertia()[k] @ rotations[k].T
            inertia += mass[k] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        assert robot.get_composite_mass()[root] == pytest.approx(total)
        assert close(robot.get_composite_com()[root], centre)
        assert close(robot.get_composite_inertia()[root], inertia)


def _descends(body, root, parents):
    while body > root:
        body = parents[body]
    return body == root
