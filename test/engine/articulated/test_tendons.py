"""Tendons over joints, and weights that something else carries: against MuJoCo, and by what must hold."""

import numpy as np
import pytest

from raisim_ros import InvalidValueError, World

mujoco = pytest.importorskip("mujoco")
from mujoco_model import MujocoRobot, MujocoWorld, random_state  # noqa: E402
from world_promises import goes_on_to_the_same_bits  # noqa: E402

MODEL = """<mujoco><compiler angle="radian"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
  <body name="top" pos="0 0 1">{base}
    <geom type="box" size="0.2 0.1 0.1"/>
    <body name="a" pos="0.2 0 0" gravcomp="{lift}"><joint name="a1" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <body name="b" pos="0.3 0 0"><joint name="a2" axis="0 0 1"/><joint name="a3" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0.2 0.1 0" size="0.03"/>
        <body name="tip" pos="0.2 0 0" gravcomp="1.5"><geom size="0.05"/></body></body></body>
    <body name="c" pos="-0.2 0 0"><joint name="b1" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -0.3 0 0" size="0.03"/>
      <body name="d" pos="-0.3 0 0"><joint name="b2" type="slide" axis="1 0 1"/><geom size="0.08" pos="0 0.1 0"/></body></body>
  </body></worldbody>
  <tendon><fixed name="three" {three}><joint joint="a1" coef="0.7"/><joint joint="a3" coef="-1.3"/><joint joint="b2" coef="2"/></fixed>
    <fixed name="two" {two}><joint joint="a2" coef="1"/><joint joint="b1" coef="-1"/></fixed></tendon>
  <actuator>{actuators}</actuator></mujoco>"""


def model(folder, base="", lift=0.0, three="", two="", actuators=""):
    file = folder / "model.xml"
    file.write_text(MODEL.format(base=base, lift=lift, three=three, two=two, actuators=actuators))
    return file


def check_accelerations(file, dt):
    """The change of velocity in a very short step, per time, beside MuJoCo's acceleration, at random states."""
    rng = np.random.default_rng(5)
    world, twin = World(file), MujocoWorld(file)
    world.set_time_step(dt)
    robot = world.get_object("top")
    reference = MujocoRobot(twin, robot._tree)
    for _ in range(5):
        q, u = random_state(robot._tree, rng, 0.3)
        robot.set_state(q, u)
        reference.set_state(q, u)
        control = rng.normal(size=len(robot.get_actuators()))
        robot.set_actuation(control)
        twin.data.ctrl[:] = control
        mujoco.mj_forward(twin.model, twin.data)
        expected = reference.turn() @ twin.data.qacc[reference._rows()]
        world.integrate()
        found = (robot.get_generalized_velocity() - u) / dt
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("base", ["", "<freejoint/>"])
@pytest.mark.parametrize(
    "things",
    [
        {"three": 'stiffness="30" damping="2"', "two": 'stiffness="5" springlength="-0.1 0.4"'},
        {"actuators": '<motor tendon="three" gear="2" ctrlrange="-0.5 0.5"/><motor tendon="two" forcerange="-0.2 0.2"/>'},
        {"actuators": '<position tendon="three" kp="80" kv="3" gear="-1.5"/><velocity tendon="two" kv="4"/>'},
        {"actuators": '<position tendon="two" kp="200" forcerange="-3 1"/><motor joint="a1"/>', "two": 'damping="1"'},
        {"lift": 0.8},
        {"lift": -1.0, "actuators": '<general tendon="three" gainprm="3" biastype="affine" biasprm="2 -10 -1"/>'},
    ],
)
def test_accelerations_are_those_of_mujoco(tmp_path, base, things):
    bounded = "forcerange" in things.get("actuators", "") and "position" in things["actuators"]
    # What is stiff needs short steps, what is bounded ends at the tolerance of the solver [m/s].
    check_accelerations(model(tmp_path, base, **things), dt=1e-8 if bounded else 1e-10)


def test_a_tendon_keeps_its_limits(tmp_path):
    world = World(model(tmp_path, three='range="-0.2 0.3"', two='range="-0.1 0.1"', actuators='<motor joint="a1"/>'))
    world.set_time_step(0.005)
    robot = world.get_object("top")
    rng = np.random.default_rng(2)
    reached = set()
    for step in range(600):
        if step % 60 == 0:
            robot.set_generalized_force(rng.normal(scale=20, size=robot.get_dof()))
        world.integrate()
        three, two = robot.get_tendon_state("three"), robot.get_tendon_state("two")
        assert -0.2 - 2e-3 < three.length < 0.3 + 2e-3
        assert -0.1 - 2e-3 < two.length < 0.1 + 2e-3
        reached |= {np.sign(three.limit_force), 2 * np.sign(two.limit_force)}
    assert reached >= {1.0, -1.0, 2.0, -2.0}


def test_friction_holds_a_tendon_until_it_slips(tmp_path):
    world = World(model(tmp_path, two='frictionloss="3"'))
    world.set_gravity((0, 0, 0))
    robot = world.get_object("top")
    at = robot.get_generalized_velocity_index("a2"), robot.get_generalized_velocity_index("b1")
    for force, slips in ((2.5, False), (4.0, True)):
        push = np.zeros(robot.get_dof())
        push[at[0]], push[at[1]] = 0.5 * force, -0.5 * force  # together as strong as the tendon's friction in this ratio
        push *= 2.0
        robot.set_state(np.zeros(robot.get_generalized_coordinate_dim()), np.zeros(robot.get_dof()))
        robot.set_generalized_force(push)
        world.integrate(50)
        state = robot.get_tendon_state("two")
        assert (abs(state.speed) > 1e-3) == slips
        assert abs(state.friction_force) <= 3.0 + 1e-9


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
def test_servos_of_any_stiffness_are_stable(tmp_path, dt):
    world = World(model(tmp_path, three='damping="0.1"', actuators='<position tendon="three" kp="1e7" kv="1e3"/>'))
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    robot = world.get_object("top")
    robot.set_actuation([0.4])
    world.integrate(round(6.0 / dt))
    assert robot.get_tendon_state("three").length == pytest.approx(0.4, abs=1e-3)
    assert np.abs(robot.get_generalized_velocity()).max() < 5.0


def test_what_is_lifted_whole_hangs_still(tmp_path):
    file = tmp_path / "model.xml"
    file.write_text("""<mujoco><worldbody><body name="top"><freejoint/><geom size="0.1"/>
      <body pos="0.2 0 0"><joint/><geom size="0.1" pos="0.1 0 0"/></body></body></worldbody></mujoco>""".replace(
        "<body ", '<body gravcomp="1" '
    ))  # fmt: skip
    world = World(file)
    robot = world.get_object("top")
    world.set_gravity((1, 2, -9.81))
    before = robot.get_generalized_coordinate()
    world.integrate(500)
    np.testing.assert_allclose(robot.get_generalized_coordinate(), before, atol=1e-9)


def test_tendons_and_lifted_weights_are_exported(tmp_path):
    actuators = '<position tendon="three" kp="80" kv="3" ctrlrange="0.1 1"/><motor tendon="two"/>'
    world = World(model(tmp_path, "<freejoint/>", 0.8, 'stiffness="3" range="-1 1"', 'frictionloss="1"', actuators))
    robot = world.get_object("top")
    robot.set_actuation([0.5, 0.25])
    world.export_to_xml(tmp_path / "again" / "world.xml")
    again = World(tmp_path / "again" / "world.xml")
    other = again.get_object("top")
    assert other.get_actuators() == robot.get_actuators()
    assert [tendon.name for tendon in other.get_tendons()] == ["three", "two"]
    for one in (world, again):
        one.integrate(200)
    np.testing.assert_allclose(other.get_generalized_coordinate(), robot.get_generalized_coordinate(), atol=1e-9)


def test_snapshots_and_clones_keep_tendons(tmp_path):
    world = World(model(tmp_path, actuators='<position tendon="three" kp="80" kv="3"/>'))
    robot = world.get_object("top")
    robot.set_actuation([0.5])
    assert goes_on_to_the_same_bits(world, 50)


def test_unknown_tendons_are_refused(tmp_path):
    world = World(model(tmp_path))
    robot = world.get_object("top")
    with pytest.raises(InvalidValueError, match="no tendon named 'x'; there are three, two"):
        robot.get_tendon_state("x")
