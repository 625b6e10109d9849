"""Actuators of every law on joints, tendons, sites and frames, and tendons that are led by sites: beside MuJoCo."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from mjcf_models import FIXED, LAWS, ROUTES, drives_model

from raisim_ros import InvalidValueError, World

mujoco = pytest.importorskip("mujoco")
from mujoco_model import MujocoRobot, MujocoWorld, random_state  # noqa: E402


class Twins:
    """A file here and in MuJoCo."""

    def __init__(self, file, dt=None):
        self.world, self.mujoco = World(file), MujocoWorld(file)
        if dt is not None:
            self.world.set_time_step(dt)
            self.mujoco.model.opt.timestep = dt
        self.robot = self.world.get_object("top")
        self.reference = MujocoRobot(self.mujoco, self.robot._tree)

    def set_random(self, rng, speed=0.3):
        q, u = random_state(self.robot._tree, rng, speed)
        self.robot.set_state(q, u)
        self.reference.set_state(q, u)
        control = rng.normal(size=len(self.robot.get_actuators()))
        self.robot.set_actuation(control)
        self.mujoco.data.ctrl[:] = control
        activation = np.zeros(len(control))
        for k, first in enumerate(self.mujoco.model.actuator_actadr):
            if first >= 0:
                activation[k] = self.mujoco.data.act[first] = rng.uniform(0, 1)
        self.robot.set_activations(activation)
        mujoco.mj_forward(self.mujoco.model, self.mujoco.data)
        return u

    def expected(self, values):
        return self.reference.turn() @ values[self.reference._rows()]


def check_accelerations(file, dt=1e-9, count=8):
    rng = np.random.default_rng(5)
    twins = Twins(file, dt)
    for _ in range(count):
        u = twins.set_random(rng)
        expected = twins.expected(twins.mujoco.data.qacc)
        twins.world.integrate()
        found = (twins.robot.get_generalized_velocity() - u) / dt
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * max(1.0, np.abs(expected).max()))


TARGETS = {
    "hinge": ('joint="hinge"', "-2", ""),
    "slide in parent": ('jointinparent="slide"', "3", ""),
    "ball": ('joint="ball"', "1 -2 0.5", ""),
    "ball in parent": ('jointinparent="ball"', "1 -2 0.5", ""),
    "site": ('site="s4"', "1 2 -1 0.5 0.2 -0.3", ""),
    "site against another": ('site="s4" refsite="t1"', "1 2 -1 0.5 0.2 -0.3", ""),
    "fixed tendon": ('tendon="w"', "1.5", FIXED),
    "led tendon": ('tendon="w"', "-1.5", ROUTES["cylinder"]),
}


@pytest.mark.parametrize("base", ["", "<freejoint/>"])
@pytest.mark.parametrize("law", LAWS)
def test_accelerations_are_those_of_mujoco(tmp_path, base, law):
    """The change of velocity in a very short step, per time, at random states, controls and activations."""
    for target, gear, tendons in TARGETS.values():
        if "muscle" in law and "site" in target:
            continue  # MuJoCo has none
        check_accelerations(drives_model(tmp_path, base, tendons, LAWS[law].format(target, gear)), count=3)


@pytest.mark.parametrize("kind", ["joint", "jointinparent"])
def test_a_free_joint_is_pushed_as_in_mujoco(tmp_path, kind):
    actuators = f'<motor {kind}="base" gear="1 2 3 4 -5 6"/><velocity {kind}="base" kv="3" gear="0 0 1 2 0 0"/>'
    check_accelerations(drives_model(tmp_path, '<freejoint name="base"/>', actuators=actuators))


def test_a_body_with_thrusters_flies_as_in_mujoco(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text("""<mujoco><worldbody><body name="top"><freejoint/><geom type="box" size="0.1 0.2 0.3" contype="0"/>
      <geom size="0.1" pos="0.3 0 0" contype="0"/><site name="s1" pos="0.3 0.2 0" euler="20 30 40"/><site name="s2" pos="0 0.3 0"/>
      </body></worldbody><actuator><motor site="s1" gear="0 0 1 0 0 0.2"/><motor site="s2" gear="0 3 1 0 0 -0.2"/>
      <velocity site="s2" gear="1 0 0 0 1 0" kv="2"/></actuator></mujoco>""")
    check_accelerations(file)


def test_servos_that_share_a_joint_have_bounds_of_their_own(tmp_path):
    actuators = '<position joint="hinge" kp="90" forcerange="-2 2"/><velocity joint="hinge" kv="5" forcerange="-1 1"/>'
    # What is bounded ends at the tolerance of the solver [m/s].
    check_accelerations(drives_model(tmp_path, "", "", actuators + '<motor joint="hinge" gear="3"/>'), dt=1e-8)


@pytest.mark.parametrize("route", ROUTES)
def test_led_tendons_are_as_long_as_in_mujoco(tmp_path, route):
    twins = Twins(drives_model(tmp_path, "<freejoint/>", ROUTES[route]))
    rng = np.random.default_rng(4)
    for _ in range(40):
        q, u = random_state(twins.robot._tree, rng)
        q[:3] *= 0.3
        q[-2:] *= 0.3  # slides and turns by so much that the tendon wraps now and then
        twins.robot.set_state(q, u)
        twins.reference.set_state(q, u)
        mujoco.mj_forward(twins.mujoco.model, twins.mujoco.data)
        state = twins.robot.get_tendon_state("w")
        assert state.length == pytest.approx(twins.mujoco.data.ten_length[0], rel=1e-9)
        assert state.speed == pytest.approx(twins.mujoco.data.ten_velocity[0], rel=1e-6, abs=1e-7)
        arms = twins.robot.get_tendon_arms("w")
        assert arms @ u == pytest.approx(state.speed, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("base", ["", "<freejoint/>"])
def test_springs_and_dampers_of_led_tendons(tmp_path, base, route):
    springs = 'name="w" stiffness="40" damping="2" springlength="0.3 0.5"'
    check_accelerations(drives_model(tmp_path, base, ROUTES[route].replace('name="w"', springs)), count=4)


@pytest.mark.parametrize("route", ["straight", "sphere", "pulleys"])
def test_a_led_tendon_keeps_its_limits(tmp_path, route):
    file = drives_model(tmp_path, "", ROUTES[route].replace('name="w"', 'name="w" limited="true" range="0 {}"'))
    length = Twins(drives_model(tmp_path, "", ROUTES[route])).robot.get_tendon_state("w").length
    file = drives_model(tmp_path, "", ROUTES[route].replace('name="w"', f'name="w" limited="true" range="0 {1.05 * length}"'))
    world = World(file)
    robot = world.get_object("top")
    most = 0.0
    for _ in range(500):
        world.integrate()
        state = robot.get_tendon_state("w")
        most = max(most, state.length)
        assert state.length < 1.05 * length + 3e-3
        assert state.limit_force <= 1e-9
    assert most > 1.04 * length


def test_activations_follow_their_controls(tmp_path):
    """Filters, integrators and muscles over 300 steps, without the joints being moved by them."""
    actuators = "".join(LAWS[law].format('joint="hinge"', 0) for law in LAWS)
    twins = Twins(drives_model(tmp_path, "", "", actuators), dt=0.002)
    twins.mujoco.model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    rng = np.random.default_rng(3)
    twins.set_random(rng)
    has = twins.mujoco.model.actuator_actadr >= 0
    for step in range(300):
        if step % 50 == 0:
            control = rng.normal(size=len(has))
            twins.robot.set_actuation(control)
            twins.mujoco.data.ctrl[:] = control
        twins.world.integrate()
        mujoco.mj_step(twins.mujoco.model, twins.mujoco.data)
        np.testing.assert_allclose(twins.robot.get_activations()[has], twins.mujoco.data.act, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_drives_of_any_gain_are_stable(tmp_path, dt):
    actuators = '<position tendon="w" kp="1e7" kv="1e3"/><position joint="ball" kp="1e6" kv="1e4" gear="0 0 1"/>'
    world = World(drives_model(tmp_path, "", ROUTES["straight"], actuators))
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = world.get_object("top")
    length = robot.get_tendon_state("w").length
    steps = round(4.0 / dt)
    for step in range(steps):
        share = min(1.0, 2.0 * step / steps)
        robot.set_actuation([(1.0 - 0.05 * share) * length, 0.2 * share])
        world.integrate()
    assert robot.get_tendon_state("w").length == pytest.approx(0.95 * length, abs=1e-3)
    assert np.abs(robot.get_generalized_velocity()).max() < 5.0


def test_drives_are_exported_and_kept_in_snapshots(tmp_path):
    actuators = LAWS["muscle"].format('tendon="w"', 1) + LAWS["position with a filter"].format('joint="hinge"', 1)
    actuators += LAWS["motor"].format('site="s4"', "0 1 2 0 0 1") + LAWS["velocity"].format('joint="slide"', 1)
    world = World(drives_model(tmp_path, "<freejoint/>", ROUTES["sphere beside a site"], actuators))
    robot = world.get_object("top")
    robot.set_actuation([0.4, 0.3, 0.2, 0.1])
    world.integrate(20)
    snapshot = world.save_snapshot()
    world.export_to_xml(tmp_path / "again" / "world.xml")
    again = World(tmp_path / "again" / "world.xml")
    other = again.get_object("top")
    assert other.get_actuators() == robot.get_actuators()
    assert other.get_tendons() == robot.get_tendons()
    np.testing.assert_array_equal(other.get_activations(), robot.get_activations())
    for one in (world, again):
        one.integrate(100)
    found = robot.get_generalized_coordinate()
    np.testing.assert_allclose(other.get_generalized_coordinate(), found, atol=1e-6)  # without its history, it starts anew
    world.restore_snapshot(snapshot)
    world.integrate(100)
    np.testing.assert_array_equal(robot.get_generalized_coordinate(), found)


_IN_ANOTHER_PROCESS = """
import sys
from raisim_ros import World
for path in sys.argv[1:]:
    world = World.from_saved(path)
    world.integrate(200)
    print(world.get_state_hash())
"""


@pytest.mark.parametrize("base", ["", "<freejoint/>"])
def test_stored_worlds_keep_tendons_and_drives(tmp_path, base):
    rng = np.random.default_rng(5)
    actuators = "".join(law.format('tendon="w"', 1.2) for law in LAWS.values())
    actuators += '<position site="s4" refsite="t1" gear="1 2 -1 0.5 0.2 -0.3" kp="5"/><motor joint="hinge"/>'
    worlds = []
    for route in ROUTES.values():
        springs = route.replace('name="w"', 'name="w" stiffness="30" damping="0.5" frictionloss="0.1"')
        worlds.append(World(drives_model(tmp_path, base, springs + FIXED.replace('"w"', '"sum"'), actuators)))
        robot = worlds[-1].get_object("top")
        robot.set_actuation(rng.uniform(0.0, 0.5, len(robot.get_actuators())))
        worlds[-1].integrate(40)
        worlds[-1].save(tmp_path / f"saved {len(worlds)}")
    files = [str(tmp_path / f"saved {number + 1}") for number in range(len(worlds))]
    command = [sys.executable, "-W", "ignore", "-c", _IN_ANOTHER_PROCESS, *files]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    for world, file, expected in zip(worlds, files, answer, strict=True):
        twins = [world, World.from_saved(file), pickle.loads(pickle.dumps(world))]
        for one in twins:
            one.integrate(200)
            robot = one.get_object("top")
            assert str(one.get_state_hash()) == expected
            np.testing.assert_array_equal(robot.get_activations(), world.get_object("top").get_activations())
            assert robot.get_tendon_state("w") == world.get_object("top").get_tendon_state("w")
        assert np.any(robot.get_activations() != 0.0)


def test_wrong_numbers_are_refused(tmp_path):
    world = World(drives_model(tmp_path, "", FIXED, '<motor tendon="w"/>'))
    robot = world.get_object("top")
    with pytest.raises(InvalidValueError, match="control"):
        robot.set_actuation([np.nan])
    with pytest.raises(InvalidValueError, match="activations"):
        robot.set_activations([0.0, 1.0])
    with pytest.raises(InvalidValueError, match="no tendon named 'x'"):
        robot.get_tendon_arms("x")
