"""Stops of joints: reached exactly, kept quietly, paid for in energy; speed and effort limits."""

import numpy as np
import pytest
from random_tree import make_body, tree_of

from raisim_ros import IntegrationScheme, World
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.robot.model import Child, Joint, Link

STOPPING_SCHEMES = [IntegrationScheme.TRAPEZOID, IntegrationScheme.MIDPOINT, IntegrationScheme.SEMI_IMPLICIT]


def one_joint(world, kind, **changes):
    """A body of 2 kg on a joint along (about) x for prismatic (y for revolute) joints; its mass 0.5 m below it."""
    rng = np.random.default_rng(0)
    values = {
        "joint_position": np.zeros(3),
        "joint_rotation": np.eye(3),
        "axis": np.array([1.0, 0.0, 0.0]) if kind is JointType.PRISMATIC else np.array([0.0, 1.0, 0.0]),
        "mass": 2.0,
        "com": np.array([0.0, 0.0, -0.5]),
        "inertia": np.diag([0.1, 0.1, 0.05]),
        **changes,
    }
    base = make_body(0, -1, JointType.FIXED, rng)
    return world.add_articulated_system(tree_of([base, make_body(1, 0, kind, rng, **values)]))


INERTIA = 2.0 * 0.25 + 0.1  # of the revolute body about its joint


@pytest.mark.parametrize("scheme", STOPPING_SCHEMES, ids=lambda scheme: scheme.name)
@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC], ids=lambda kind: kind.value)
def test_driven_into_its_stop_a_joint_stays_there(kind, dt, scheme):
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = one_joint(world, kind, lower=-0.4, upper=0.7)
    robot.set_integration_scheme(scheme)
    for force, stop in [(9.0, 0.7), (-9.0, -0.4)]:
        robot.set_generalized_force([force])
        world.integrate(round(2.0 / dt))
        for _ in range(100):  # no buzzing
            world.integrate()
            (q,), (u,) = robot.get_state()
            assert q == pytest.approx(stop, abs=1e-9)
            assert abs(u) < 1e-9


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC], ids=lambda kind: kind.value)
def test_a_stop_is_reached_and_hardly_overrun(kind, dt):
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = one_joint(world, kind, lower=-0.4, upper=0.7)
    robot.set_generalized_velocity([5.0])
    farthest = 0.0
    for _ in range(round(0.5 / dt)):
        world.integrate()
        farthest = max(farthest, robot.get_generalized_coordinate()[0])
    assert farthest == pytest.approx(0.7, abs=0.5 * dt * 5.0)  # half a step's way: the midpoint obeys
    assert robot.get_generalized_velocity() == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_a_pendulum_at_its_stop_gains_no_energy(dt):
    world = World()
    world.set_time_step(dt)
    robot = one_joint(world, JointType.REVOLUTE, lower=-0.3, upper=2.5)
    lowest = robot.get_energy()
    robot.set_generalized_coordinate([2.0])
    energy = swing = robot.get_energy() - lowest
    for _ in range(round(20.0 / dt)):
        world.integrate()
        assert robot.get_energy() - lowest < energy + 5e-4 * swing
        energy = min(energy, robot.get_energy() - lowest)
        assert robot.get_generalized_coordinate()[0] > -0.3 - 1e-6
    # every swing against the stop loses what it had there, until the stop is only just reached
    assert energy == pytest.approx(2.0 * 9.81 * 0.5 * (1 - np.cos(0.3)), abs=0.01 * swing)


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("speed", [30.0, 300.0, 1000.0])
@pytest.mark.parametrize("start", [0.0, 0.9, 1.0])
@pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC], ids=lambda kind: kind.value)
def test_no_joint_is_too_fast_for_its_stop(kind, start, speed, dt):
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = one_joint(world, kind, lower=-1.0, upper=1.0)
    for sign in (1.0, -1.0):
        robot.set_state([sign * start], [sign * speed])
        for _ in range(50):
            world.integrate()
            assert abs(robot.get_generalized_coordinate()[0]) < 1.0 + 1e-5
        assert robot.get_generalized_velocity() == pytest.approx([0.0], abs=1e-9)


@pytest.mark.parametrize("half", [0.0, 1e-4, 0.01])
@pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC], ids=lambda kind: kind.value)
def test_a_narrow_range_holds_on_both_sides(kind, half):
    """Shaken with gravity that turns over, and released with speed; a range of zero locks the joint."""
    world = World()
    world.set_time_step(0.005)
    robot = one_joint(world, kind, lower=0.3 - half, upper=0.3 + half)
    robot.set_state([0.3], [3.0])
    for k in range(600):
        world.set_gravity((40 * np.cos(0.3 * k), 0, 40 * np.sin(0.7 * k)))
        world.integrate()
        assert abs(robot.get_generalized_coordinate()[0] - 0.3) < half + 1.1e-5
    if half == 0.0:
        assert robot.get_generalized_velocity() == pytest.approx([0.0], abs=1e-9)


def test_a_locked_spherical_joint_is_rigid(world):
    robot = one_joint(world, JointType.SPHERICAL, upper=0.0, com=np.array([0.3, 0.2, -0.1]))
    robot.set_generalized_velocity([1.0, 2.0, -3.0])
    world.integrate(1000)
    assert angle_of(robot.get_generalized_coordinate()) < 2e-5
    assert robot.get_generalized_velocity() == pytest.approx([0, 0, 0], abs=1e-9)


def test_a_weight_resting_on_its_stop_is_carried(world):
    """The motor can let go: the stop carries the moment of the weight, and the base feels it."""
    robot = one_joint(world, JointType.REVOLUTE, lower=0.5, upper=1.5)
    robot.set_generalized_coordinate([0.9])
    world.integrate(3000)
    assert robot.get_generalized_coordinate() == pytest.approx([0.5], abs=1e-6)
    assert robot.get_generalized_velocity() == pytest.approx([0.0], abs=1e-9)
    assert robot.get_generalized_acceleration() == pytest.approx([0.0], abs=1e-6)


def test_a_joint_beyond_its_stop_comes_back_without_a_kick(weightless):
    robot = one_joint(weightless, JointType.REVOLUTE, lower=-1.0, upper=0.2)
    robot.set_generalized_coordinate([0.25])
    weightless.integrate(500)
    assert robot.get_generalized_coordinate()[0] == pytest.approx(0.2, abs=2e-5)
    assert robot.get_generalized_velocity()[0] == pytest.approx(0.0, abs=1e-9)


def test_a_stop_leaves_momentum_to_the_rest(weightless):
    """Two bodies on a rail: the stop between them is a plastic collision, m1 v1 = (m1 + m2) v."""
    rng = np.random.default_rng(0)
    rail = {"joint_position": np.zeros(3), "joint_rotation": np.eye(3), "axis": np.array([1.0, 0.0, 0.0]),
            "com": np.zeros(3), "inertia": np.eye(3)}
    bodies = [
        make_body(0, -1, JointType.FIXED, rng),
        make_body(1, 0, JointType.PRISMATIC, rng, mass=3.0, **rail),
        make_body(2, 1, JointType.PRISMATIC, rng, mass=1.0, lower=-0.5, upper=0.5, **rail),
    ]
    robot = weightless.add_articulated_system(tree_of(bodies))
    robot.set_generalized_velocity([0.0, 2.0])
    weightless.integrate(1000)
    assert robot.get_generalized_velocity() == pytest.approx([0.5, 0.0], abs=1e-9)
    assert robot.get_generalized_coordinate()[1] == pytest.approx(0.5, abs=1e-3)


def angle_of(quaternion):
    return 2 * np.arccos(min(1.0, abs(quaternion[0])))


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_a_spherical_joint_stays_in_its_cone(dt):
    world = World()
    world.set_time_step(dt)
    robot = one_joint(world, JointType.SPHERICAL, upper=0.6)
    robot.set_integration_scheme(IntegrationScheme.MIDPOINT)
    robot.set_generalized_velocity([6.0, -2.0, 1.0])
    kinetic, energy, widest = robot.get_kinetic_energy(), robot.get_energy(), 0.0
    for _ in range(round(10.0 / dt)):
        world.integrate()
        widest = max(widest, angle_of(robot.get_generalized_coordinate()))
        assert robot.get_energy() < energy + 2e-3 * kinetic
        energy = min(energy, robot.get_energy())
    assert 0.6 < widest < 0.6 + 400 * dt**2


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_a_spherical_joint_slides_along_its_cone(dt):
    """Thrown along the edge, it keeps to the edge and, without friction there, keeps its energy."""
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = one_joint(world, JointType.SPHERICAL, upper=0.6)
    robot.set_integration_scheme(IntegrationScheme.MIDPOINT)
    robot.set_state([np.cos(0.3), np.sin(0.3), 0, 0], [0.0, 3.0, 0.0])
    world.integrate(round(0.5 / dt))
    energy = robot.get_energy()
    for _ in range(round(4.0 / dt)):
        world.integrate()
        assert angle_of(robot.get_generalized_coordinate()) == pytest.approx(0.6, abs=50 * dt**2)
    assert robot.get_energy() == pytest.approx(energy, rel=1e-3)


def test_a_spherical_joint_rests_at_the_edge_of_its_cone(world):
    """Gravity to the side: the pendulum leans against its cone, where the side's plane cuts it, and stays."""
    world.set_gravity((0, 9.81, -0.1))
    robot = one_joint(world, JointType.SPHERICAL, upper=0.6, damping=0.5)
    world.integrate(8000)
    q = robot.get_generalized_coordinate()
    assert angle_of(q) == pytest.approx(0.6, abs=1e-6)
    assert q == pytest.approx([np.cos(0.3), np.sin(0.3), 0, 0], abs=1e-3)
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-4


@pytest.mark.parametrize("kind", [JointType.REVOLUTE, JointType.PRISMATIC], ids=lambda kind: kind.value)
def test_speed_limit_is_kept(weightless, kind):
    robot = one_joint(weightless, kind, velocity_limit=1.5)
    robot.set_generalized_force([4.0])
    weightless.integrate(2000)
    assert robot.get_generalized_velocity() == pytest.approx([1.5], abs=1e-9)
    robot.set_generalized_force([-4.0])
    weightless.integrate(2000)
    assert robot.get_generalized_velocity() == pytest.approx([-1.5], abs=1e-9)
    robot.set_generalized_force([4.0])
    before = robot.get_generalized_velocity()[0]
    weightless.integrate(100)  # and it lets go at once
    inertia = INERTIA if kind is JointType.REVOLUTE else 2.0
    assert robot.get_generalized_velocity()[0] == pytest.approx(before + 4.0 / inertia * 0.1, rel=1e-6)


def test_effort_limits_bound_the_command(weightless):
    robot = one_joint(weightless, JointType.REVOLUTE)
    robot.set_actuation_limits([3.0], [-1.0])
    for wanted, given in [(10.0, 3.0), (-10.0, -1.0), (2.0, 2.0)]:
        robot.set_state([0.0], [0.0])
        robot.set_generalized_force([wanted])
        weightless.integrate(100)
        assert robot.get_generalized_velocity() == pytest.approx([given / INERTIA * 0.1], rel=1e-9)
        assert robot.get_generalized_force() == pytest.approx([given])


@pytest.mark.parametrize("p_gain", [1e5, 1e7])
def test_stiff_motor_is_stable_against_a_stop(p_gain):
    """A target beyond the stop, pulled with all might: the joint lies still at the stop."""
    world = World()
    world.set_time_step(0.005)
    robot = one_joint(world, JointType.REVOLUTE, lower=-1.0, upper=0.4)
    robot.set_pd_gains([p_gain], [100.0])
    robot.set_p_target([1.0])
    world.integrate(1000)
    for _ in range(50):
        world.integrate()
        assert robot.get_generalized_coordinate() == pytest.approx([0.4], abs=1e-6)
        assert robot.get_generalized_velocity() == pytest.approx([0.0], abs=1e-6)


@pytest.mark.parametrize("name", ["lower", "upper"])
def test_a_spherical_joint_built_in_code_takes_its_angle(world, name):
    joint = Joint("ball", "spherical", **{name: 0.5})
    inertia = ((0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
    tip = Child(Link("tip", 1.0, (0.0, 0.3, 0.0), inertia), joint)
    robot = world.add_articulated_system(Child(Link("base", 1.0, (0, 0, 0), inertia), None, [tip]))
    assert np.asarray(robot.get_joint_limits())[-3, 0] == 0.5


def dropped_chain(cone, links=8, length=0.15, mass=0.3):
    inertia = mass * length**2 / 12
    text = '<robot name="chain">'
    for k in range(links):
        text += f"""<link name="l{k}"><inertial><origin xyz="0 0 {-length / 2}"/><mass value="{mass}"/><inertia ixx="{inertia}"
        iyy="{inertia}" izz="{inertia / 20}" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 {-length / 2}"/>
        <geometry><capsule radius="0.02" length="{0.6 * length}"/></geometry></collision></link>"""
        if k > 0:
            text += f"""<joint name="j{k}" type="spherical"><parent link="l{k - 1}"/><child link="l{k}"/>
            <origin xyz="0 0 {-length}"/><limit lower="{cone}" upper="0" effort="100" velocity="100"/></joint>"""
    return text + "</robot>"


@pytest.mark.parametrize(("dt", "widest"), [(0.001, 0.44), (0.002, 0.46), (0.005, 0.48), (0.01, 0.6)])
def test_cones_hold_under_hard_blows(dt, widest):
    """A chain that hits the ground at 10 m/s: contacts turn joints by several times their cone within a step."""
    for seed in range(4):
        world = World()
        world.set_time_step(dt)
        world.add_ground()
        robot = world.add_articulated_system(dropped_chain(0.4))
        q = np.array(robot.get_generalized_coordinate())
        q[2], q[3:7] = 2.5, np.random.default_rng(seed).normal(size=4)
        q[3:7] /= np.linalg.norm(q[3:7])
        robot.set_state(q, [0, 0, -8, *np.zeros(robot.get_dof() - 3)])
        for _ in range(round(0.6 / dt)):
            world.integrate()
            assert max(map(angle_of, robot.get_generalized_coordinate()[7:].reshape(-1, 4))) < widest
