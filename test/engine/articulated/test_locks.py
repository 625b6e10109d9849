"""Equalities of MJCF: what they hold is held, and moves otherwise as in MuJoCo."""

import numpy as np
import pytest

from raisim_ros import World

mujoco = pytest.importorskip("mujoco")
from mujoco_model import MujocoRobot, MujocoWorld  # noqa: E402

MODEL = """<mujoco><compiler angle="radian"/><option timestep="{dt}"/>
  <default><geom contype="0" conaffinity="0"/><joint armature="0.02" damping="0.05"/>
    <equality solref="0.004 1" solimp="0.999 0.9999 0.001"/></default><worldbody>
  <site name="anchor" pos="0.1 -0.5 1.4"/>
  <body name="top" pos="0 0 1">{base}<geom type="box" size="0.2 0.1 0.1"/><site name="t1" pos="0.1 0.1 0.1"/>
    <body name="a" pos="0.2 0 0"><joint name="a1" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
      <body name="b" pos="0.3 0 0"><joint name="a2" axis="0 0 1"/><joint name="a3" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0.2 0.1 0" size="0.03"/><site name="s1" pos="0.2 0.1 0"/></body></body>
    <body name="c" pos="-0.2 0 0"><joint name="c1" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -0.3 0 0" size="0.03"/>
      <body name="d" pos="-0.3 0 0"><joint name="c2" type="ball"/><geom size="0.08" pos="0 0.1 0"/><site name="s2" pos="0 0.1 0.1"/>
      </body></body></body></worldbody>
  <tendon><spatial name="one"><site site="t1"/><site site="s1"/></spatial>
    <spatial name="two"><site site="t1"/><site site="s2"/></spatial>
    <fixed name="three"><joint joint="a1" coef="1"/><joint joint="c1" coef="-1"/></fixed></tendon>
  <equality>{locks}</equality></mujoco>"""


def model(folder, locks, base="", dt=0.001):
    file = folder / "model.xml"
    file.write_text(MODEL.format(locks=locks, base=base, dt=dt))
    return file


LOCKS = {
    "joints along a curve": '<joint joint1="a1" joint2="c1" polycoef="0 0.5 0.8 -0.3 0.2"/>',
    "two leaders": '<joint joint1="a1" joint2="c1" polycoef="0 0.5 0 0 0"/><joint joint1="a1" joint2="a2" polycoef="0 1 0 0 0"/>',
    "tendons": '<tendon tendon1="one" tendon2="two" polycoef="0 -0.7 0.5 0 0"/>',
    "a tendon": '<tendon tendon1="one"/><tendon tendon1="three"/>',
    "a point of the world": '<connect body1="b" anchor="0.2 0.1 0"/>',
    "a point of two links": '<connect body1="b" body2="d" anchor="0.1 0 0"/>',
    "a weld to the world": '<weld body1="d"/>',
    "a weld of two links": '<weld body1="b" body2="d"/>',
    "a weld in another pose": '<weld body1="c" body2="d" relpose="-0.3 0 0 0.97 0.1 0.05 0.08"/>',
}


@pytest.mark.parametrize("base", ["", "<freejoint/>"])
@pytest.mark.parametrize("name", [name for name in LOCKS if name != "a weld in another pose"])
def test_a_robot_with_locks_swings_as_in_mujoco(tmp_path, base, name):
    """MuJoCo's equalities give way a little; over a quarter of a second that is little, too."""
    file = model(tmp_path, LOCKS[name], base, dt=0.0005)
    world, twin = World(file), MujocoWorld(file)
    robot = world.get_object("top")
    reference = MujocoRobot(twin, robot._tree)
    for _ in range(500):
        world.integrate()
        mujoco.mj_step(twin.model, twin.data)
    q, _ = robot.get_state()
    expected, _ = reference.get_state()
    start = World(file).get_object("top").get_generalized_coordinate()
    assert np.abs(expected - start).max() > 0.05
    np.testing.assert_allclose(q, expected, atol=0.025)


@pytest.mark.parametrize("name", LOCKS)
def test_locks_hold(tmp_path, name):
    """MuJoCo finds no equality violated in the states of ours, and energy only falls."""
    file = model(tmp_path, LOCKS[name], "<freejoint/>" if "world" in name else "", dt=0.002)
    world, twin = World(file), MujocoWorld(file)
    robot = world.get_object("top")
    reference = MujocoRobot(twin, robot._tree)
    settled = 400 if "pose" in name else 0  # those that are apart at first are drawn together
    before = np.inf
    for step in range(600):
        world.integrate()
        if step >= settled and step % 20 == 0:
            reference.set_state(*robot.get_state())
            mujoco.mj_forward(twin.model, twin.data)
            rows = twin.data.efc_type[: twin.data.nefc] == mujoco.mjtConstraint.mjCNSTR_EQUALITY
            assert rows.any()
            assert np.abs(twin.data.efc_pos[: twin.data.nefc][rows]).max() < 4e-3
            energy = robot.get_kinetic_energy() + robot.get_potential_energy(world.get_gravity())
            assert energy < before + 0.02
            before = energy


def test_locks_are_exported(tmp_path):
    world = World(model(tmp_path, LOCKS["tendons"] + LOCKS["joints along a curve"] + LOCKS["a weld to the world"]))
    world.export_to_xml(tmp_path / "again" / "world.xml")
    again = World(tmp_path / "again" / "world.xml")
    for one in (world, again):
        one.integrate(100)
    found, expected = (one.get_object("top").get_generalized_coordinate() for one in (again, world))
    np.testing.assert_allclose(found, expected, atol=1e-9)
