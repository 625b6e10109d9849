"""Joints that follow others: geared by the solve, loaded from both sides, put together again without energy."""

import mujoco
import numpy as np
import pytest
from random_tree import random_state, random_tree

from raisim_ros import World
from raisim_ros.description.robot.kinematic_tree import JointType
from raisim_ros.description.urdf.file import load_urdf

BODY = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def two_slides(multiplier=-1.0, offset=0.0, more=""):
    """Two bodies of 2 kg on rails along x; the second follows the first."""
    return f"""<robot name="r"><link name="world"/><link name="a">{BODY}</link><link name="b">{BODY}</link>
        <joint name="j" type="prismatic"><parent link="world"/><child link="a"/>{more}</joint>
        <joint name="k" type="prismatic"><parent link="world"/><child link="b"/>
        <mimic joint="j" multiplier="{multiplier}" offset="{offset}"/></joint></robot>"""


@pytest.mark.parametrize("multiplier", [-1.0, 1.0, 0.3, 20.0])
@pytest.mark.parametrize("pushed", [0, 1])
def test_a_force_on_either_joint_moves_both(weightless, multiplier, pushed):
    """As one mass m1 + n^2 m2, seen from the leader."""
    robot = weightless.add_articulated_system(two_slides(multiplier))
    force = np.zeros(2)
    force[pushed] = 3.0
    robot.set_generalized_force(force)
    weightless.integrate(500)
    effective = 3.0 * (multiplier if pushed else 1.0)
    q, u = robot.get_state()
    assert u == pytest.approx(effective / (2 + 2 * multiplier**2) * 0.5 * np.array([1, multiplier]), rel=1e-9)
    assert q[1] == pytest.approx(multiplier * q[0], abs=1e-12)


def test_a_stop_of_the_leader_stops_the_follower(weightless):
    limit = '<limit lower="-1" upper="0.2" effort="100" velocity="100"/>'
    robot = weightless.add_articulated_system(two_slides(-2.0, more=limit))
    robot.set_generalized_force([0.0, -5.0])
    weightless.integrate(3000)
    assert robot.get_generalized_coordinate() == pytest.approx([0.2, -0.4], abs=1e-8)
    assert robot.get_generalized_velocity() == pytest.approx([0, 0], abs=1e-9)


def test_a_gripper_squeezes_from_both_sides(world):
    """Only the leader has a motor; both fingers press, and hold the box against its weight."""
    finger = """<collision><geometry><box size="0.02 0.1 0.1"/></geometry></collision>"""
    robot = world.add_articulated_system(two_slides().replace("</inertial>", "</inertial>" + finger).replace(
        '<child link="a"/>', '<child link="a"/><origin xyz="-0.2 0 1"/>').replace(
        '<child link="b"/>', '<child link="b"/><origin xyz="0.2 0 1"/>'))
    box = world.add_box(0.1, 0.05, 0.05, 0.5)
    box.set_position(0.01, 0, 1)
    robot.set_generalized_force([60.0, 0.0])
    world.set_gravity((0, 0, 0))
    world.integrate(500)
    world.set_gravity((0, 0, -9.81))
    world.integrate(1000)
    assert box.get_position() == pytest.approx([0, 0, 1], abs=2e-3)
    assert robot.get_generalized_coordinate() == pytest.approx([0.14, -0.14], abs=2e-3)
    normal = {c.get_pair_object_index(): abs(c.get_impulse()[2]) for c in box.get_contacts()}
    total = sum(abs(c.get_impulse()[2]) for c in box.get_contacts()) / world.get_time_step()
    assert normal
    assert total == pytest.approx(60.0, rel=1e-3)


def test_joints_apart_come_together_without_speed(weightless):
    robot = weightless.add_articulated_system(two_slides(-1.0, 0.1))
    energy = 0.0
    for _ in range(1000):
        weightless.integrate()
        energy = max(energy, robot.get_kinetic_energy())
    q, u = robot.get_state()
    assert q[0] + q[1] == pytest.approx(0.1, abs=2e-5)
    assert energy < 1e-12
    assert np.abs(u).max() < 1e-9


def coupled_tree(rng, floating):
    """A random tree with two couplings between joints of one degree of freedom, anywhere in it."""
    while True:
        tree = random_tree(rng, 9, floating)
        plain = [b for b in tree.bodies if b.joint_type in (JointType.REVOLUTE, JointType.PRISMATIC)]
        if len(plain) >= 4:
            break
    chosen = [plain[k] for k in rng.permutation(len(plain))[:4]]
    chosen[0].mimic = (chosen[1].joint_name, float(rng.uniform(-2, 2)), 0.0)
    chosen[2].mimic = (chosen[3].joint_name, float(rng.uniform(-2, 2)), 0.0)
    return tree


def coupling_rows(tree):
    """Constraint Jacobian of the couplings."""
    first = dict(zip([b.joint_name for b in tree.bodies], np.cumsum([0] + [b.joint_type.velocity_dim for b in tree.bodies]),
                     strict=False))
    rows = []
    for body in tree.bodies:
        if body.mimic is not None:
            row = np.zeros(sum(b.joint_type.velocity_dim for b in tree.bodies))
            row[first[body.joint_name]], row[first[body.mimic[0]]] = 1.0, -body.mimic[1]
            rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("seed", range(8))
def test_accelerations_are_those_of_the_constrained_tree(seed, floating):
    """Against the multipliers of the dense equations M udot + h = tau + J' lambda, J udot = 0."""
    rng = np.random.default_rng(seed)
    tree = coupled_tree(rng, floating)
    world = World()
    world.set_time_step(1e-5)
    robot = world.add_articulated_system(tree)
    rows = coupling_rows(tree)
    q, _ = random_state(rng, tree)
    robot.set_generalized_coordinate(q)
    force = rng.normal(size=rows.shape[1])
    force[: 6 if floating else 0] = 0.0
    robot.set_generalized_force(force)
    mass, h = robot.get_mass_matrix(), robot.get_nonlinearities((0, 0, -9.81))
    kkt = np.block([[mass, -rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    expected = np.linalg.solve(kkt, np.concatenate([force - h, np.zeros(len(rows))]))[: len(force)]
    world.integrate()
    found = robot.get_generalized_velocity() / 1e-5
    assert found == pytest.approx(expected, abs=1e-3 * np.abs(expected).max())
    assert rows @ robot.get_generalized_velocity() == pytest.approx(np.zeros(len(rows)), abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_couplings_keep_energy_and_drift_nowhere(seed):
    rng = np.random.default_rng(seed)
    tree = coupled_tree(rng, False)
    world = World()
    world.set_time_step(0.001)
    robot = world.add_articulated_system(tree)
    energy, size = robot.get_energy(), 0.0
    rows = coupling_rows(tree)
    for _ in range(1000):
        world.integrate()
        size = max(size, robot.get_kinetic_energy())
    assert robot.get_energy() == pytest.approx(energy, abs=3e-3 * size)
    assert rows @ robot.get_generalized_velocity() == pytest.approx(np.zeros(len(rows)), abs=1e-8)


MJCF = """<mujoco><compiler angle="radian"/><option timestep="0.001"/><worldbody><body name="p"><joint name="x" type="slide" axis="1 0 0"/>
    <geom size="0.1" mass="1"/><body name="c" pos="0 0 -0.5"><joint name="y" type="hinge" axis="0 1 0" ref="0.2"/>
    <geom size="0.1" mass="2" pos="0 0 -0.5"/></body></body></worldbody>
    <equality><joint joint1="y" joint2="x" polycoef="0.1 1.5 0 0 0"/></equality></mujoco>"""


def test_mjcf_joint_equality_moves_as_in_mujoco(tmp_path):
    """Started where the equality holds; MuJoCo's is a stiff spring."""
    file = tmp_path / "coupled.xml"
    file.write_text(MJCF)
    world = World(str(file))
    (robot,) = world.get_obj_list()
    stiff = MJCF.replace("polycoef", 'solref="0.002 1" solimp="0.9999 0.9999 1e-6" polycoef')
    model = mujoco.MjModel.from_xml_string(stiff)
    data = mujoco.MjData(model)
    start = [0.0, 0.2 + 0.1]
    robot.set_generalized_coordinate(start)
    data.qpos[:] = start
    for _ in range(1000):
        world.integrate()
        mujoco.mj_step(model, data)
    q = robot.get_generalized_coordinate()
    assert q[1] == pytest.approx(0.3 + 1.5 * q[0], abs=1e-9)
    assert q == pytest.approx(data.qpos, abs=5e-3)
    assert abs(q[0]) > 0.05


def test_chains_of_couplings_are_read():
    tree = load_urdf(two_slides().replace("</robot>", f"""<link name="c">{BODY}</link><joint name="l" type="prismatic">
        <parent link="world"/><child link="c"/><mimic joint="k" multiplier="2"/></joint></robot>"""))
    world = World()
    world.set_gravity((0, 0, 0))
    robot = world.add_articulated_system(tree)
    robot.set_generalized_force([0.0, 0.0, 1.0])
    world.integrate(100)
    q = robot.get_generalized_coordinate()
    assert q == pytest.approx(q[0] * np.array([1, -1, -2]), abs=1e-12)
    assert q[2] > 1e-4


def test_couplings_survive_a_world_file(tmp_path):
    world = World()
    world.set_gravity((0, 0, 0))
    world.add_articulated_system(two_slides(-0.5))
    world.export_to_xml(tmp_path / "saved.xml")
    loaded = World(str(tmp_path / "saved.xml"))
    (robot,) = loaded.get_obj_list()
    robot.set_generalized_force([1.0, 0.0])
    loaded.integrate(100)
    q = robot.get_generalized_coordinate()
    assert q[0] > 1e-4
    assert q[1] == pytest.approx(-0.5 * q[0], abs=1e-12)
