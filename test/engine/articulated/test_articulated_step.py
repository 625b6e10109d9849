"""Articulated systems in motion: conservation laws, order of convergence, control."""

from pathlib import Path

import numpy as np
import pytest
from random_tree import make_body, random_inertia, random_state, random_tree, tree_of

from raisim_ros import ControlMode, IntegrationScheme, InvalidValueError, JointSpring, World, WrongStateError
from raisim_ros.description.robot.kinematic_tree import JointType

SCHEMES = list(IntegrationScheme)


def robot_in(world, seed=3, count=8, floating=True, speed=1.0, rotor=False):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, count, floating, rotor)
    robot = world.add_articulated_system(tree)
    q, u = random_state(rng, tree)
    robot.set_state(q, speed * u)
    return robot


def pendulum(world, length=0.5, **changes):
    """A point mass of 2 kg on a massless rod that turns about y; hangs along -z at 0."""
    rng = np.random.default_rng(0)
    base = make_body(0, -1, JointType.FIXED, rng)
    values = {
        "joint_position": np.zeros(3),
        "joint_rotation": np.eye(3),
        "axis": np.array([0.0, 1.0, 0.0]),
        "mass": 2.0,
        "com": np.array([0.0, 0.0, -length]),
        "inertia": np.zeros((3, 3)),
    }
    return world.add_articulated_system(tree_of([base, make_body(1, 0, JointType.REVOLUTE, rng, **values, **changes)]))


@pytest.mark.parametrize("scheme", [IntegrationScheme.TRAPEZOID, IntegrationScheme.MIDPOINT], ids=lambda s: s.name)
def test_free_flight_keeps_momentum_and_energy(weightless, scheme):
    robot = robot_in(weightless)
    robot.set_integration_scheme(scheme)
    energy, linear = robot.get_kinetic_energy(), robot.get_linear_momentum()
    angular = robot.get_angular_momentum((0, 0, 0))
    weightless.integrate(1000)
    assert robot.get_linear_momentum() == pytest.approx(linear, abs=1e-4 * np.linalg.norm(linear))
    assert robot.get_angular_momentum((0, 0, 0)) == pytest.approx(angular, abs=1e-4 * np.linalg.norm(angular))
    assert robot.get_kinetic_energy() == pytest.approx(energy, rel=1e-3)


@pytest.mark.parametrize("setter", ["set_state", "set_generalized_coordinate", "set_generalized_velocity"])
def test_a_set_state_forgets_the_motion_before(setter):
    """What the default scheme knows of the step before must not reach beyond a new state."""
    worlds = [World(), World()]
    robots = [robot_in(world) for world in worlds]
    worlds[0].integrate(20)
    q, u = robots[0].get_state()
    robots[1].set_state(q, u)
    arguments = {"set_state": (q, u), "set_generalized_coordinate": (q,), "set_generalized_velocity": (u,)}[setter]
    getattr(robots[0], setter)(*arguments)
    for world in worlds:
        world.integrate(20)
    assert np.array_equal(np.concatenate(robots[0].get_state()), np.concatenate(robots[1].get_state()))


def test_a_snapshot_remembers_the_motion_before(weightless):
    robot = robot_in(weightless)
    weightless.integrate(20)
    snapshot = weightless.save_snapshot()
    weightless.integrate(20)
    after = np.concatenate(robot.get_state())
    weightless.restore_snapshot(snapshot)
    weightless.integrate(20)
    assert np.array_equal(np.concatenate(robot.get_state()), after)


def test_falling_keeps_energy(world):
    robot = robot_in(world, speed=0.3)
    energy = robot.get_energy()
    kinetic = robot.get_kinetic_energy()
    world.integrate(500)
    assert robot.get_kinetic_energy() > 10 * kinetic
    assert robot.get_energy() == pytest.approx(energy, rel=1e-3, abs=1e-3 * robot.get_kinetic_energy())


def _state_after(scheme, dt, time=0.2):
    world = World()
    world.set_time_step(dt)
    robot = robot_in(world, seed=5, count=5, speed=0.7)
    robot.set_integration_scheme(scheme)
    world.integrate(round(time / dt))
    q, u = robot.get_state()
    return np.concatenate([q, u])


@pytest.mark.parametrize(
    ("scheme", "order"),
    [
        (IntegrationScheme.EULER, 1),
        (IntegrationScheme.SEMI_IMPLICIT, 1),
        (IntegrationScheme.TRAPEZOID, 2),
        (IntegrationScheme.MIDPOINT, 2),
        (IntegrationScheme.RUNGE_KUTTA_4, 4),
    ],
)
def test_order_of_convergence(scheme, order):
    truth = _state_after(IntegrationScheme.RUNGE_KUTTA_4, 1e-4)
    steps = (4e-3, 2e-3) if order == 4 else (1e-3, 5e-4)
    coarse, fine = (np.abs(_state_after(scheme, dt) - truth).max() for dt in steps)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.25)


def test_pendulum_converges_with_second_order():

    def angle_after(dt):
        world = World()
        world.set_time_step(dt)
        robot = pendulum(world)
        robot.set_state([0.8], [0.0])
        world.integrate(round(1.0 / dt))
        return robot.get_generalized_coordinate()[0]

    truth = angle_after(2e-5)
    assert np.log2(abs(angle_after(4e-3) - truth) / abs(angle_after(2e-3) - truth)) == pytest.approx(2, abs=0.1)


def test_pendulum_swings_for_ever(world):
    robot = pendulum(world)
    robot.set_state([2.5], [0.0])
    energy = robot.get_energy()
    lowest = highest = energy
    for _ in range(200):
        world.integrate(100)
        lowest, highest = min(lowest, robot.get_energy()), max(highest, robot.get_energy())
    assert highest - lowest < 1e-4 * abs(energy)


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda scheme: scheme.name)
def test_schemes_agree_when_slow(weightless, scheme):
    robot = robot_in(weightless, speed=1e-3)
    robot.set_integration_scheme(scheme)
    robot.set_generalized_force(np.full(robot.get_dof(), 1e-4))
    peer = robot_in(weightless, speed=1e-3)
    peer.set_generalized_force(np.full(peer.get_dof(), 1e-4))
    weightless.integrate(50)
    assert robot.get_generalized_velocity() == pytest.approx(peer.get_generalized_velocity(), abs=1e-6)


def test_step_solves_the_equation_of_motion(world):
    """du/dt of one tiny step is forward dynamics with command, damping, springs and loads."""
    world.set_time_step(1e-7)
    robot = robot_in(world, rotor=True)
    n, rng = robot.get_dof(), np.random.default_rng(1)
    u = robot.get_generalized_velocity()
    feed_forward, damping = rng.normal(size=n), rng.uniform(0, 1, n)
    robot.set_generalized_force(feed_forward)
    robot.set_joint_damping(damping)
    force, torque, local_torque, point = rng.normal(size=(4, 3))
    body = robot.get_number_of_joints() - 1
    robot.set_external_force(body, point, force)
    robot.set_external_torque(body, torque)
    robot.set_external_torque_in_body_frame(body, local_torque)
    at = robot.get_position(body, point)
    tau = feed_forward - damping * u + robot.get_dense_jacobian(body, at).T @ force
    tau += robot.get_dense_rotational_jacobian(body).T @ (torque + robot.get_orientation(body) @ local_torque)
    expected = robot.articulated_body_algorithm(tau)
    world.integrate()
    assert robot.get_generalized_acceleration() == pytest.approx(expected, rel=1e-4, abs=1e-4)
    world.integrate()  # loads last one step
    without = robot.articulated_body_algorithm(feed_forward - damping * robot.get_generalized_velocity())
    assert robot.get_generalized_acceleration() == pytest.approx(without, rel=1e-4, abs=1e-4)


def test_stiff_pd_is_stable(world):
    world.set_time_step(0.005)
    robot = robot_in(world, floating=False, speed=1.0)
    q0 = robot.get_generalized_coordinate()
    robot.set_pd_gains(np.full(robot.get_dof(), 1e5), np.full(robot.get_dof(), 100.0))
    robot.set_p_target(q0)
    world.integrate(4000)
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-6
    sag = np.abs(robot.get_generalized_force() - robot.get_nonlinearities()).max()
    assert sag < 1e-3 * np.abs(robot.get_nonlinearities()).max() + 1e-6


def test_saturated_motor_delivers_its_limit(weightless):
    weightless.set_time_step(0.005)
    robot = pendulum(weightless, effort_limit=0.25)
    robot.set_pd_gains([1e5], [100.0])
    robot.set_p_target([3.0])
    weightless.integrate(20)
    assert robot.get_generalized_force() == pytest.approx([0.25])
    inertia = 2.0 * 0.5**2
    assert robot.get_generalized_velocity() == pytest.approx([0.25 / inertia * 0.1])


def test_damped_joint_slows_down_exponentially(weightless):
    robot = pendulum(weightless, damping=0.2)
    robot.set_generalized_velocity([3.0])
    weightless.integrate(1000)
    assert robot.get_generalized_velocity()[0] == pytest.approx(3.0 * np.exp(-0.2 / 0.5), rel=1e-6)


def test_rotor_inertia_slows_the_swing(world):
    robot = pendulum(world)
    robot.set_rotor_inertia([0.3])
    robot.set_generalized_coordinate([0.001])
    omega = np.sqrt(2.0 * 9.81 * 0.5 / (0.5 + 0.3))
    world.integrate(1000)
    assert robot.get_generalized_coordinate()[0] == pytest.approx(0.001 * np.cos(omega), abs=2e-7)


def test_spherical_spring_keeps_energy(weightless):
    rng = np.random.default_rng(2)
    base = make_body(0, -1, JointType.FIXED, rng)
    ball = make_body(1, 0, JointType.SPHERICAL, rng, inertia=random_inertia(rng, 1.0))
    robot = weightless.add_articulated_system(tree_of([base, ball]))
    robot.set_integration_scheme(IntegrationScheme.MIDPOINT)
    half = np.sqrt(0.5)
    robot.add_spring(JointSpring(1, 0.5, (half, half, 0.0, 0.0)))
    assert robot.get_spring_energy() == pytest.approx(0.5 * 0.5 * (np.pi / 2) ** 2)
    total = robot.get_spring_energy()
    weightless.integrate(3000)
    assert robot.get_spring_energy() + robot.get_kinetic_energy() == pytest.approx(total, rel=2e-3)
    (spring,) = robot.get_springs()
    assert spring.stiffness == 0.5
    assert spring.mount == pytest.approx([half, half, 0.0, 0.0])


def test_single_floating_body_falls_like_a_single_body(world):
    rng = np.random.default_rng(4)
    robot = world.add_articulated_system(tree_of([make_body(0, -1, JointType.FLOATING, rng)]))
    robot.set_base_velocity((1.0, 0.0, 2.0))
    com = robot.get_com()
    world.integrate(500)
    expected = com + np.array([0.5, 0.0, 1.0 - 0.5 * 9.81 * 0.25])
    assert robot.get_com() == pytest.approx(expected, abs=1e-9)


def test_fixed_base_can_be_moved(world):
    robot = pendulum(world)
    robot.set_base_pos((1.0, 2.0, 3.0))
    robot.set_base_orientation((0.0, 1.0, 0.0, 0.0))  # upside down
    assert robot.get_com()[2] > 3.0
    assert robot.get_base_position() == pytest.approx([1.0, 2.0, 3.0])
    assert world.read_states().poses[0, :3] == pytest.approx([1.0, 2.0, 3.0])


def test_wrong_values_leave_the_system_unchanged(world):
    robot = robot_in(world)
    q, u = robot.get_state()
    with pytest.raises(InvalidValueError, match="generalized coordinate"):
        robot.set_generalized_coordinate(q[:-1])
    with pytest.raises(InvalidValueError, match="velocity"):
        robot.set_state(q + 0.1, [*u[:-1], np.nan])
    with pytest.raises(InvalidValueError, match="joint damping"):
        robot.set_joint_damping(np.full(robot.get_dof(), -1.0))
    assert np.array_equal(robot.get_generalized_coordinate(), q)
    assert np.array_equal(robot.get_generalized_velocity(), u)


def test_massless_tip_is_refused_by_name(world):
    rng = np.random.default_rng(0)
    massless = {"mass": 0.0, "inertia": np.zeros((3, 3)), "rotor_inertia": 0.0}
    bodies = [make_body(0, -1, JointType.FIXED, rng), make_body(1, 0, JointType.REVOLUTE, rng, **massless)]
    with pytest.raises(InvalidValueError, match="link1"):
        world.add_articulated_system(tree_of(bodies))
    assert world.get_obj_list() == []


def test_massless_link_between_joints_is_fine(world):
    rng = np.random.default_rng(0)
    massless = {"mass": 0.0, "inertia": np.zeros((3, 3))}
    bodies = [
        make_body(0, -1, JointType.FIXED, rng),
        make_body(1, 0, JointType.REVOLUTE, rng, **massless),
        make_body(2, 1, JointType.REVOLUTE, rng),
    ]
    robot = world.add_articulated_system(tree_of(bodies))
    energy = robot.get_energy()
    world.integrate(300)
    assert robot.get_energy() == pytest.approx(energy, abs=1e-3 * robot.get_kinetic_energy())


def test_floating_base_has_no_gains(world):
    robot = robot_in(world)
    robot.set_pd_gains(np.ones(robot.get_dof()), np.ones(robot.get_dof()))
    p, d = robot.get_pd_gains()
    assert not np.concatenate([p[:6], d[:6]]).any()
    assert np.concatenate([p[6:], d[6:]]).all()
    assert robot.get_control_mode() == ControlMode.PD_PLUS_FEEDFORWARD_TORQUE


def test_snapshot_continues_to_the_same_bits(world):
    robot = robot_in(world)
    world.integrate(50)
    snapshot = world.save_snapshot()
    world.integrate(50)
    hashed, state = world.get_state_hash(), robot.get_state()
    world.restore_snapshot(snapshot)
    assert world.get_state_hash() != hashed
    world.integrate(50)
    assert world.get_state_hash() == hashed
    assert np.array_equal(robot.get_state()[0], state[0])


def test_removed_robot_comes_back_with_a_snapshot(world):
    robot = robot_in(world)
    state = robot.get_state()
    snapshot = world.save_snapshot()
    world.remove_object(robot)
    assert world.get_obj_list() == []
    world.restore_snapshot(snapshot)
    assert np.array_equal(robot.get_state()[0], state[0])


def test_bulk_state_shows_the_base(world):
    robot = robot_in(world)
    world.integrate(10)
    q, u = robot.get_state()
    states = world.read_states()
    assert states.poses[0] == pytest.approx(q[:7])
    assert states.twists[0] == pytest.approx(u[:6])


def test_divergence_stops_only_that_object(world):
    robot = robot_in(world)
    ball = world.add_sphere(0.1, 1.0)
    robot.set_generalized_force(np.full(robot.get_dof(), 1e50))
    with pytest.raises(ArithmeticError):
        world.integrate(5)
    assert np.isfinite(robot.get_generalized_coordinate()).all()
    assert not robot.get_generalized_velocity().any()
    time = world.get_world_time()
    world.integrate(1)
    assert world.get_world_time() > time
    assert ball.get_position()[2] < 0


def test_edits_of_masses_take_effect_together(world):
    robot = pendulum(world)
    robot.get_masses()[1] = 5.0
    robot.get_body_com_b()[1] = (0.0, 0.0, -0.2)
    assert robot.get_mass_matrix()[0, 0] == pytest.approx(2.0 * 0.25)
    robot.update_mass_info()
    assert robot.get_mass_matrix()[0, 0] == pytest.approx(5.0 * 0.04)
    robot.get_masses()[1] = -1.0
    with pytest.raises(InvalidValueError, match="mass"):
        robot.update_mass_info()
    assert robot.get_mass(1) == 5.0
    assert robot.get_masses()[1] == 5.0


def test_joint_of_a_resting_pendulum_carries_its_weight(world):
    robot = pendulum(world)
    with pytest.raises(WrongStateError):
        robot.get_force_at_joint_in_world_frame(1)
    robot.set_compute_inverse_dynamics(True)
    world.integrate(3)
    assert robot.get_force_at_joint_in_world_frame(1) == pytest.approx([0, 0, 2.0 * 9.81])
    assert robot.get_torque_at_joint_in_world_frame(1) == pytest.approx([0, 0, 0], abs=1e-9)


def test_swinging_pendulum_pulls_harder(world):
    robot = pendulum(world)
    robot.set_compute_inverse_dynamics(True)
    robot.set_generalized_velocity([2.0])
    world.integrate()
    assert robot.get_force_at_joint_in_world_frame(1)[2] == pytest.approx(2.0 * (9.81 + 2.0**2 * 0.5), rel=1e-3)


def test_floating_base_feels_nothing_but_contacts_and_loads(world):
    """All that acts on a free robot enters the balance: what is left for its root joint is nothing."""
    world.add_ground()
    robot = world.add_articulated_system(Path(__file__).parents[3] / "rsc" / "robots" / "quadruped.urdf")
    robot.set_base_pos((0.0, 0.0, 0.45))
    robot.set_compute_inverse_dynamics(True)
    landed = False
    for _ in range(600):
        robot.set_external_force(0, (0.1, 0.2, 0.3), (3.0, -2.0, 1.0))
        world.integrate()
        landed = landed or len(robot.get_contacts()) > 0
        assert np.abs(robot._joint_wrenches()[0]).max() < 1e-6 * robot.get_total_mass() * 9.81
    assert landed
