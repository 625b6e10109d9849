"""Closed loops: pins hold under motors, gravity and contact, move as geometry says, and give no energy."""

import numpy as np
import pytest
from robot_scenes import ROBOTS, force_on

from raisim_ros import IntegrationScheme, World

GROUND, CRANK, COUPLER, ROCKER = 0.4, 0.1, 0.5, 0.4
NOMINAL = [0.0, 0.9272952180016122, 1.5707963267948966]


def four_bar(dt, scheme=IntegrationScheme.TRAPEZOID, gravity=(0, 0, -9.81)):
    world = World()
    world.set_time_step(dt)
    world.set_gravity(gravity)
    world.set_sleeping_enabled(False)
    robot = world.add_articulated_system(ROBOTS / "four_bar.urdf")
    robot.set_integration_scheme(scheme)
    robot.set_generalized_coordinate(NOMINAL)
    robot.set_joint_damping(np.zeros(3))
    return world, robot


def gap(robot):
    """Distance of the coupler's end from the rocker's, in the plane in which they move [m]."""
    apart = robot.get_position(robot.get_body_idx("coupler"), (COUPLER, 0, 0)) - robot.get_position(
        robot.get_body_idx("rocker"), (ROCKER, 0, 0)
    )
    return np.hypot(apart[0], apart[2])


def loop_angles(crank):
    """Angles of coupler (from the crank) and rocker (from x) of the open four-bar, by two circles that meet."""
    pin_a = CRANK * np.array([np.cos(crank), np.sin(crank)])
    reach = np.array([GROUND, 0.0]) - pin_a
    distance = np.linalg.norm(reach)
    along = (distance**2 + COUPLER**2 - ROCKER**2) / (2 * distance)
    aside = np.sqrt(COUPLER**2 - along**2)
    pin_b = pin_a + (along * reach + aside * np.array([-reach[1], reach[0]])) / distance
    coupler = np.arctan2(*(pin_b - pin_a)[::-1]) - crank
    rocker = np.arctan2(pin_b[1], pin_b[0] - GROUND)
    return coupler, rocker


@pytest.mark.parametrize("scheme", [IntegrationScheme.TRAPEZOID, IntegrationScheme.MIDPOINT], ids=lambda s: s.name)
@pytest.mark.parametrize(("dt", "largest"), [(0.001, 1e-4), (0.005, 1e-3)])
def test_driven_loop_stays_closed(dt, largest, scheme):
    world, robot = four_bar(dt, scheme)
    robot.set_pd_gains([0, 0, 0], [5.0, 0, 0])
    robot.set_d_target([6.0, 0, 0])
    for _ in range(round(5.0 / dt)):
        world.integrate()
        assert gap(robot) < largest
    assert robot.get_generalized_coordinate()[0] > 4 * np.pi  # it turned all around


@pytest.mark.parametrize("start", [[0.0, 0.0, 0.0], [0.01, 0.3, 0.2], [3.0, -2.0, 0.5]], ids=str)
@pytest.mark.parametrize("dt", [0.0005, 0.0025])
def test_an_open_loop_closes_without_whirling(dt, start):
    """Also from where all links are in line: there joints would have to turn by radians to close it at once."""
    world, robot = four_bar(dt)
    robot.set_generalized_coordinate(start)
    before = robot.get_generalized_coordinate().copy()
    for _ in range(round(2.0 / dt)):
        world.integrate()
        now = robot.get_generalized_coordinate().copy()
        assert np.abs(now - before).max() < 0.35
        before = now
    assert gap(robot) < 1e-4


def test_fast_loop_stays_closed():
    world, robot = four_bar(0.001)
    robot.set_pd_gains([0, 0, 0], [5.0, 0, 0])
    robot.set_d_target([30.0, 0, 0])
    for _ in range(2000):
        world.integrate()
        assert gap(robot) < 1e-4
    assert robot.get_generalized_coordinate()[0] > 40.0


def test_loop_moves_as_its_geometry_says():
    world, robot = four_bar(0.001)
    robot.set_pd_gains([0, 0, 0], [50.0, 0, 0])
    robot.set_d_target([3.0, 0, 0])
    for _ in range(40):
        world.integrate(100)
        crank, coupler, rocker = robot.get_generalized_coordinate()
        assert np.exp(1j * np.array([coupler, rocker])) == pytest.approx(np.exp(1j * np.array(loop_angles(crank))), abs=1e-4)


def coasting_energies(dt, scheme):
    """Energy over what it was, in 5 s without motor or gravity."""
    world, robot = four_bar(dt, scheme, gravity=(0, 0, 0))
    robot.set_pd_gains([0, 0, 0], [50.0, 0, 0])
    robot.set_d_target([6.0, 0, 0])
    world.integrate(round(1.0 / dt))
    robot.set_pd_gains([0, 0, 0], [0, 0, 0])
    first, energies = robot.get_energy(), []
    for _ in range(round(5.0 / dt)):
        world.integrate()
        energies.append(robot.get_energy() / first)
    return np.array(energies)


@pytest.mark.parametrize("scheme", [IntegrationScheme.TRAPEZOID, IntegrationScheme.MIDPOINT], ids=lambda s: s.name)
def test_coasting_loop_keeps_its_energy(scheme):
    coarse, fine = (coasting_energies(dt, scheme) for dt in (0.002, 0.001))
    assert np.abs(fine - 1).max() < 3e-3
    assert fine.max() < 1 + 1e-6
    assert np.log2(np.abs(coarse - 1).max() / np.abs(fine - 1).max()) > 1.6


def test_motor_does_the_work_that_the_loop_gains():
    """A slow lift against gravity: power of the crank is the change of energy."""
    world, robot = four_bar(0.001)
    robot.set_generalized_force([0.5, 0, 0])
    energy, work = robot.get_energy(), 0.0
    for _ in range(250):
        before = robot.get_generalized_coordinate()[0]
        world.integrate()
        work += 0.5 * (robot.get_generalized_coordinate()[0] - before)
    assert work > 0.1
    assert robot.get_energy() - energy == pytest.approx(work, rel=2e-2)


def test_held_loop_is_in_equilibrium():
    """Virtual work: the moment that holds the crank is the derivative of the potential energy along the loop."""
    world, robot = four_bar(0.001)
    robot.set_pd_gains([1000.0, 0, 0], [50.0, 0, 0])
    robot.set_p_target([0.8, 0, 0])
    robot.set_joint_damping([0, 0.5, 0.5])
    world.integrate(8000)
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-5
    moment, (crank, _, _) = robot.get_generalized_force()[0], robot.get_generalized_coordinate()
    energies = []
    for angle in (crank - 1e-4, crank + 1e-4):
        robot.set_generalized_coordinate([angle, *loop_angles(angle)])
        energies.append(robot.get_potential_energy())
    assert moment == pytest.approx((energies[1] - energies[0]) / 2e-4, rel=1e-4)


def test_open_loop_closes_gently():
    """A loop that was put together wrongly is pulled together and comes to rest."""
    world, robot = four_bar(0.001, gravity=(0, 0, 0))
    robot.set_joint_damping(np.full(3, 0.05))
    robot.set_generalized_coordinate([0.0, NOMINAL[1] + 0.01, NOMINAL[2]])
    assert gap(robot) > 4e-3
    world.integrate(5000)
    assert gap(robot) < 1e-4
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-2


def test_loop_and_contact_share_their_load():
    """The crank lies on a box: the box's contact carries what the loop presses it with."""
    world, robot = four_bar(0.001)
    box = world.add_box(0.1, 0.1, 0.1, 5.0)
    world.add_ground(0.85)
    box.set_position(0.06, 0.0, 0.9001)
    robot.set_generalized_coordinate([0.55, *loop_angles(0.55)])
    robot.set_joint_damping(np.full(3, 0.05))
    world.integrate(4000)
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-3
    assert gap(robot) < 1e-5
    press = force_on(robot, 0.001)
    assert press[2] > 1.0
    assert force_on(box, 0.001) == pytest.approx([0, 0, 5.0 * 9.81], abs=0.05)
    tau = np.zeros(3)
    for contact in robot.get_contacts():
        sign = 1.0 if contact.is_object_a() else -1.0
        force = sign * contact.get_contact_frame().T @ contact.get_impulse() / 0.001
        tau += robot.get_dense_jacobian(contact.get_local_body_index(), contact.get_position()).T @ force
    # Virtual work along the loop: the contact's moments balance gravity's.
    crank = robot.get_generalized_coordinate()[0]
    ahead, behind = (np.array([crank + d, *loop_angles(crank + d)]) for d in (1e-5, -1e-5))
    along = (ahead - behind) / 2e-5
    assert along @ tau == pytest.approx(along @ robot.get_nonlinearities(), rel=2e-2)


def test_joints_of_a_loop_carry_what_statics_says():
    """Weightless, pushed at the rocker: the coupler carries force along itself only, so that the moments about the
    rocker's foot give its size, and the forces on the rocker what its foot carries. The pin's share counts in every
    joint."""
    world, robot = four_bar(0.001, gravity=(0, 0, 0))
    robot.set_compute_inverse_dynamics(True)
    robot.set_joint_damping([0, 0.5, 0.5])
    robot.set_pd_gains([2000.0, 0, 0], [50.0, 0, 0])
    robot.set_p_target([0.8, 0, 0])
    robot.set_generalized_coordinate([0.8, *loop_angles(0.8)])
    rocker_body, push, lever = robot.get_body_idx("rocker"), np.array([7.0, 0.0, -3.0]), 0.25
    for _ in range(6000):
        robot.set_external_force(rocker_body, (lever, 0, 0), push)
        world.integrate()
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-7
    crank, coupler, rocker = robot.get_generalized_coordinate()
    along_crank, along_coupler, along_rocker = (
        np.array([np.cos(angle), 0.0, np.sin(angle)]) for angle in (crank, crank + coupler, rocker)
    )

    def moment(arm, force):
        return np.cross(arm, force)[1]

    size = -moment(lever * along_rocker, push) / moment(ROCKER * along_rocker, along_coupler)
    thrust = size * along_coupler  # of the coupler on the rocker
    joints = {name: robot.get_body_idx(name) for name in ("crank", "coupler", "rocker")}
    assert robot.get_force_at_joint_in_world_frame(joints["coupler"]) == pytest.approx(thrust, abs=1e-4)
    assert robot.get_force_at_joint_in_world_frame(joints["crank"]) == pytest.approx(thrust, abs=1e-4)
    assert robot.get_force_at_joint_in_world_frame(joints["rocker"]) == pytest.approx(-thrust - push, abs=1e-4)
    held = robot.get_torque_at_joint_in_world_frame(joints["crank"])[1]
    assert held == pytest.approx(moment(CRANK * along_crank, thrust), abs=1e-4)
    assert held == pytest.approx(-robot.get_generalized_force()[0], abs=1e-4)  # the axis is -y
    for name in ("coupler", "rocker"):
        assert robot.get_torque_at_joint_in_world_frame(joints[name])[1] == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("dt", [0.0005, 0.004])
def test_a_loop_that_starts_open_is_closed_without_energy(dt):
    """Its links lie along each other, where the pin can hardly move them: pulled shut by velocities they would be flung."""
    world, robot = four_bar(dt)
    robot.set_generalized_coordinate([0.0, 0.0, 0.0])
    start = energy = robot.get_energy()
    for _ in range(round(2.0 / dt)):
        world.integrate()
        assert robot.get_energy() <= energy + 2e-2 * abs(start) + 1e-3
        energy = robot.get_energy()
    assert gap(robot) < 1e-3


def five_bars():
    """A trunk on four legs that are loops, as those of a minitaur: two chains of thigh and shank each, whose ends a pin joins.
    Both ends are balls, which overlap there."""
    spread, thigh, shank, lean = 0.03, 0.1, 0.2, 0.6
    fold = lean + np.arcsin((spread + thigh * np.sin(lean)) / shank)

    def link(name, length):
        moment = 0.1 * length**2 / 12
        return (f'<link name="{name}"><inertial><origin xyz="0 0 {-length / 2}"/><mass value="0.1"/><inertia ixx="{moment}" '
                f'iyy="{moment}" izz="{moment / 20}" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0 0 '
                f'{-0.97 * length}"/><geometry><sphere radius="0.02"/></geometry></collision></link>')  # fmt: skip

    def hinge(name, parent, child, place):
        return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link="{child}"/><origin xyz="{place}"/>'
                '<axis xyz="0 -1 0"/></joint>')  # fmt: skip

    text = """<robot name="five_bars"><link name="trunk"><inertial><mass value="3"/><inertia ixx="0.02" iyy="0.05" izz="0.05"
        ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><box size="0.5 0.2 0.08"/></geometry></collision></link>"""
    pins, legs = "", [(x, y) for x in (-0.2, 0.2) for y in (-0.15, 0.15)]
    for k, (x, y) in enumerate(legs):
        for side, name in ((1, f"{k}_front"), (-1, f"{k}_rear")):
            text += link(f"thigh{name}", thigh) + link(f"shank{name}", shank)
            text += hinge(f"hip{name}", "trunk", f"thigh{name}", f"{x + side * spread} {y} 0")
            text += hinge(f"knee{name}", f"thigh{name}", f"shank{name}", f"0 0 {-thigh}")
        pins += f'<pin body1="shank{k}_front" body2="shank{k}_rear" anchor="0 0 {-shank}"/>'
    closed = np.array([lean, -fold, -lean, fold] * len(legs))
    nominal = " ".join(map(str, [0, 0, 0, 1, 0, 0, 0, *closed]))
    return text + f'<constraints nominal_config="{nominal}">{pins}</constraints></robot>', closed


@pytest.mark.parametrize(("dt", "feet_collide"), [(0.001, False), (0.005, False), (0.01, False), (0.001, True)])
def test_legs_that_are_loops_give_no_energy_when_they_fall(dt, feet_collide):
    """Where the two feet of a leg collide with each other, contact and pin are in each other's way: then single steps may give a
    little back, but never more than there was."""
    text, closed = five_bars()
    for seed in range(2):
        rng = np.random.default_rng(seed)
        world = World()
        world.set_time_step(dt)
        world.set_sleeping_enabled(False)
        world.add_ground()
        robot = world.add_articulated_system(text)
        for k in range(4 if feet_collide else 0):
            pair = robot.get_body_idx(f"shank{k}_front"), robot.get_body_idx(f"shank{k}_rear")
            robot.set_allowed_number_of_internal_contacts_between_two_bodies(*pair, 1)
        turn = rng.normal(0.0, 0.25, 3)
        robot.set_generalized_coordinate([0, 0, rng.uniform(0.6, 1.1), np.sqrt(1 - turn @ turn), *turn, *closed])
        start = energy = robot.get_energy()
        for _ in range(round(1.2 / dt)):
            world.integrate()
            assert robot.get_energy() <= (start if feet_collide else energy) + 0.02 * start
            energy = robot.get_energy()
