"""Robots that are put into the viewer stand on the ground, where there is room, and hold themselves."""

from __future__ import annotations

import contextlib
import io
import tarfile
import warnings
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from raisim_ros import TerrainProperties, World
from raisim_ros.cli.open_file import open_world
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.resources import resource
from raisim_ros.viewer.placing import free_place
from raisim_ros.viewer.scene import FIXED, FLOATING, NewObject, Wanted, boxes_of
from raisim_ros.viewer.stance import find_stance
from raisim_ros.viewer.uploads import Uploads, short_names
from raisim_ros.viewer.world_feed import WorldFeed

# Zero is outside of the limits of its knees, and with straight thighs it falls on its back.
CROUCHING = """<robot name="crouching">
  <link name="trunk"><inertial><mass value="6"/><inertia ixx="0.05" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>
  {legs}
</robot>"""
LEG = """<link name="thigh_{k}"><inertial><mass value="0.5"/><origin xyz="0 0 -0.1"/>
      <inertia ixx="0.002" iyy="0.002" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="hip_{k}" type="revolute"><parent link="trunk"/><child link="thigh_{k}"/><origin xyz="{x} {y} 0"/>
      <axis xyz="0 1 0"/><limit lower="-1" upper="4" effort="40" velocity="20"/></joint>
    <link name="calf_{k}"><inertial><mass value="0.2"/><origin xyz="0 0 -0.1"/>
      <inertia ixx="0.001" iyy="0.001" izz="0.0005" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="0 0 -0.2"/><geometry><sphere radius="0.02"/></geometry></collision></link>
    <joint name="knee_{k}" type="revolute"><parent link="thigh_{k}"/><child link="calf_{k}"/><origin xyz="0 0 -0.2"/>
      <axis xyz="0 1 0"/><limit lower="-2.7" upper="-1.4" effort="40" velocity="20"/></joint>"""


def crouching(folder):
    places = [(x, y) for x in (-0.18, 0.18) for y in (-0.13, 0.13)]
    legs = "".join(LEG.format(k=k, x=x, y=y) for k, (x, y) in enumerate(places))
    file = folder / "crouching.urdf"
    file.write_text(CROUCHING.format(legs=legs))
    return file


def example_robots():
    """Robots of the package example_robot_data, where it is installed."""
    import site

    folders = (Path(s) / "cmeel.prefix/share/example-robot-data/robots" for s in site.getsitepackages())
    folder = next((one for one in folders if one.is_dir()), None)
    if folder is None:
        pytest.skip("example_robot_data is not installed")
    return folder


def upright(world, robot, seconds=3.0):
    """How far it fell [m] and leaned [rad] after a while."""
    height, start = robot.get_com()[2], robot.get_orientation(0)
    world.integrate(round(seconds / world.get_time_step()))
    turn = start.T @ robot.get_orientation(0)
    return height - robot.get_com()[2], float(np.arccos(np.clip(turn[2, 2], -1.0, 1.0)))


@pytest.mark.parametrize("name", ["quadruped", "rover", "scout", "wheeled_base", "arm", "cartpole"])
def test_robots_of_the_package_stand(name):
    world, _ = open_world(str(resource(f"robots/{name}.urdf")), hold=True)
    robot = world.get_object(name)
    fell, leaned = upright(world, robot)
    assert abs(fell) < 0.05
    assert leaned < 0.1


def test_a_robot_that_would_fall_on_its_back_bends_its_legs(tmp_path):
    file = crouching(tmp_path)
    stance = find_stance(file)
    assert stance.base == FLOATING
    assert abs(stance.low[2]) < 1e-9
    q = stance.coordinates[7:]
    assert (q[1::2] <= -1.4 + 1e-9).all()  # knees inside their limits, hips compensate
    assert (q[::2] > 0.3).all()
    world, _ = open_world(str(file), hold=True)
    robot = world.get_object("crouching")
    fell, leaned = upright(world, robot)
    assert abs(fell) < 0.02
    assert leaned < 0.05
    limp, _ = open_world(str(file))
    assert upright(limp, limp.get_object("crouching"))[0] > 0.05


@pytest.mark.parametrize("name", ["anymal_b_simple_description/robots/anymal", "a1_description/urdf/a1",
                                  "talos_data/robots/talos_reduced", "g1_description/urdf/g1_29dof_rev_1_0",
                                  "icub_description/robots/icub_reduced", "laikago_description/urdf/laikago"])
def test_real_robots_stand(name):
    file = example_robots() / f"{name}.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        world, _ = open_world(str(file), hold=True)
    robot = world.get_object(file.stem)
    world.integrate(1)
    height, contacts = robot.get_com()[2], robot.get_contacts()
    assert contacts, "it stands on the ground from the beginning"
    assert max(contact.get_depth() for contact in contacts) < 0.003
    fell, leaned = upright(world, robot)
    assert abs(fell) < 0.05 * height
    assert leaned < 0.05


def test_an_arm_on_its_foot_is_fixed_there():
    file = example_robots() / "panda_description/urdf/panda.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert find_stance(file).base == FIXED
        assert find_stance(file, FLOATING).base == FLOATING
        with pytest.raises(InvalidValueError, match="base is 'flying'; expected one of auto"):
            find_stance(file, "flying")


@pytest.mark.parametrize("name", ["kinova_description/robots/kinova", "panda_description/urdf/panda_collision",
                                  "finger_edu_description/robots/finger_edu", "alex_description/urdf/alex_nub_hands",
                                  "double_pendulum_description/urdf/double_pendulum"])
def test_what_hangs_on_one_joint_of_a_root_that_does_not_stand_is_fixed(name):
    file = example_robots() / f"{name}.urdf"
    if not file.is_file():
        pytest.skip(f"this example_robot_data has no {name}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert find_stance(file).base == FIXED


def snake(tip=""):
    """Links in a row; `tip`: what else the first one has."""
    link = """<link name="l{k}"><inertial><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
        </inertial><collision><geometry><box size="0.2 0.1 0.1"/></geometry></collision>{tip}</link>"""
    joint = """<joint name="j{k}" type="revolute"><parent link="l{a}"/><child link="l{k}"/><origin xyz="0.22 0 0"/>
        <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="9"/></joint>"""
    parts = [link.format(k=k, tip="" if k else tip) for k in range(5)] + [joint.format(k=k, a=k - 1) for k in range(1, 5)]
    return f'<robot name="snake">{"".join(parts)}</robot>'


def test_a_snake_lies_on_its_root_and_stays_free(tmp_path):
    (tmp_path / "snake.urdf").write_text(snake())
    assert find_stance(tmp_path / "snake.urdf").base == FLOATING


def test_room_is_sought_for_what_is_seen_too(tmp_path):
    mast = '<visual><origin xyz="0 0 0.5"/><geometry><box size="2 0.1 1"/></geometry></visual>'
    (tmp_path / "snake.urdf").write_text(snake(mast))
    stance = find_stance(tmp_path / "snake.urdf")
    assert stance.low[0] == pytest.approx(-1.0)
    assert stance.high[2] == pytest.approx(1.05)
    assert stance.height == pytest.approx(0.05)


# ---- MJCF ----

HOPPER = """<mujoco>{include}<option timestep="0.004"/><worldbody><body name="{name}" pos="0 0 1"><freejoint/>
    <geom type="sphere" size="0.1" mass="1"/>
    <body pos="0 0 -0.3"><joint name="hip" axis="0 1 0" range="-90 90"/><geom type="box" size="0.2 0.2 0.05" mass="2"/></body>
  </body>{more}</worldbody>
  <actuator>{motor}</actuator>
  <keyframe><key name="stand" qpos="0 0 1 1 0 0 0 0.0"/></keyframe></mujoco>"""


def hopper(motor='<motor joint="hip"/>', more="", include="", name="hopper"):
    return HOPPER.format(motor=motor, more=more, include=include, name=name)


def test_mjcf_tells_whether_its_base_is_free(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "hopper.xml").write_text(hopper())  # by one joint of a root that does not stand
    assert find_stance(tmp_path / "hopper.xml").base == FLOATING


@pytest.mark.parametrize(("motor", "held"), [('<motor joint="hip"/>', True), ('<position joint="hip" kp="50"/>', False)])
def test_robots_whose_motors_hold_nothing_get_gains(tmp_path, motor, held):
    pytest.importorskip("mujoco")
    (tmp_path / "hopper.xml").write_text(hopper(motor))
    stance = find_stance(tmp_path / "hopper.xml")
    assert stance.state == "stand"
    assert (stance.p_gains.max() > 0.0) == held


def test_a_lone_robot_of_mjcf_gets_a_ground(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "hopper.xml").write_text(hopper())
    world, _ = open_world(str(tmp_path / "hopper.xml"), hold=True)
    assert world.get_time_step() == 0.004
    fell, leaned = upright(world, world.get_object("hopper"))
    assert abs(fell) < 0.01
    assert leaned < 0.05
    as_it_is, _ = open_world(str(tmp_path / "hopper.xml"))
    assert len(as_it_is.get_obj_list()) == 1
    (tmp_path / "scene.xml").write_text(hopper(more='<geom type="plane" size="1 1 1" pos="0 0 -2"/>'))
    assert len(open_world(str(tmp_path / "scene.xml"), hold=True)[0].get_obj_list()) == 2


def test_parts_of_mjcf_are_not_taken_for_robots():
    motors = '<mujoco><actuator><motor joint="hip"/></actuator><equality><joint joint1="hip"/></equality></mujoco>'
    part = '<mujoco><body name="leg"><joint name="knee"/></body></mujoco>'
    scene = '<mujoco><include file="robot.xml"/><worldbody><geom type="plane" size="1 1 1"/></worldbody></mujoco>'
    files = {"r/robot.xml": hopper(), "r/scene.xml": scene, "r/parts/motors.xml": motors, "r/parts/leg.xml": part,
             "r/parts/robot.xml": "<mujoco><worldbody><body><geom size='1'/></body></worldbody></mujoco>",
             "r/all.xml": '<mujoco><worldbody><include file="parts/leg.xml"/></worldbody></mujoco>',
             "r/loop.xml": '<mujoco><include file="loop.xml"/></mujoco>'}
    uploads = Uploads()
    assert [file.name for file in uploads.keep("r.tar", tar_of(files))] == ["all.xml", "robot.xml", "scene.xml"]
    found = uploads.keep("r.tar", tar_of({"a/robot.xml": hopper(), "b/robot.xml": hopper(), "b/one.xml": hopper()}))
    assert short_names(found) == ["a/robot.xml", "b/one.xml", "b/robot.xml"]
    assert short_names(found[1:]) == ["one.xml", "robot.xml"]
    assert [file.name for file in uploads.keep("r.tar", tar_of({"r/leg.xml": part}))] == ["leg.xml"]
    uploads.close()


def test_parts_that_include_each_other_twice_over_are_looked_at_once():
    files = {f"r/{k}.xml": f'<mujoco><include file="{k + 1}.xml"/><include file="./x/../{k + 1}.xml"/></mujoco>' for k in range(40)}
    uploads = Uploads()
    assert len(uploads.keep("r.tar", tar_of({**files, "r/40.xml": hopper().replace("worldbody", "body")}))) == 40
    uploads.close()


def test_dropped_things_find_room_on_the_ground(tmp_path):
    feed = WorldFeed(World())
    feed.world.add_ground(-0.3)
    file = crouching(tmp_path)
    stance = find_stance(file)
    for _ in range(4):
        place = free_place(feed.model(), feed.moment(Wanted()).poses, stance.low, stance.high, np.zeros(3))
        assert place[2] == -0.3
        feed.add(NewObject("crouching", "", position=place, file=str(file), stance=stance))
    model, poses = feed.model(), feed.moment(Wanted()).poses
    boxes = boxes_of([one for one in model.items if one.ground_height is None], poses)
    for k, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:k]:
            assert ((low > other_high) | (other_low > high))[:2].any()
    feed.step(1)
    contacts = feed.moment(Wanted(contacts=True)).contacts
    assert len(contacts) == 16
    assert contacts[:, 2] == pytest.approx(-0.3, abs=0.002)
    feed.step(500)
    assert np.abs(feed.moment(Wanted()).poses[:, 2] - poses[:, 2]).max() < 0.02
    feed.close()


def test_on_a_terrain_they_stand_on_its_highest_point_below(tmp_path):
    world = World()
    world.add_height_map(TerrainProperties(x_size=10, y_size=10, x_samples=60, y_samples=60, z_scale=2.0, seed=3))
    feed = WorldFeed(world)
    box = np.array([-0.3, -0.3, 0.0]), np.array([0.3, 0.3, 0.5])
    x, y, z = free_place(feed.model(), feed.moment(Wanted()).poses, *box, np.array([1.0, 2.0, 0.0]))
    assert (x, y) == (1.0, 2.0)
    heights = [world.ray_test((x + dx, y + dy, 20.0), (0, 0, -1), 40.0)[0].position[2]
               for dx in np.linspace(-0.3, 0.3, 7) for dy in np.linspace(-0.3, 0.3, 7)]
    assert max(heights) <= z < max(heights) + 0.5
    feed.close()


# ---- what people give the page ----


def tar_of(files, mode="w"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return out.getvalue()


def zip_of(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


ROBOT = '<robot name="r"><link name="a"/></robot>'


PACKED = [("r.tar", tar_of), ("r.zip", zip_of), ("r.tar.gz", partial(tar_of, mode="w:gz")), ("r.TGZ", partial(tar_of, mode="w:gz")),
          ("r.tar.xz", partial(tar_of, mode="w:xz")), ("r.tar.bz2", partial(tar_of, mode="w:bz2"))]


@pytest.mark.parametrize(("name", "pack"), PACKED, ids=[name for name, _ in PACKED])
def test_archives_are_unpacked_and_their_robots_found(name, pack):
    uploads = Uploads()
    files = {"r/urdf/one.urdf": ROBOT, "r/urdf/two.urdf": ROBOT, "r/src/one.xacro": ROBOT, "r/package.xml": "<package/>"}
    assert [file.name for file in uploads.keep(name, pack(files))] == ["one.urdf", "two.urdf"]
    assert [file.name for file in uploads.keep(name, pack({"r/one.xacro": ROBOT}))] == ["one.xacro"]
    with pytest.raises(InvalidValueError, match="neither a robot"):
        uploads.keep(name, pack({"readme.txt": "x"}))
    for damaged in (b"\x01" * 2000, pack(files)[:-60] if name.endswith(("gz", "GZ", "xz", "bz2", "zip")) else b"", pack(files)[:100]):
        with pytest.raises(InvalidValueError, match="cannot be unpacked"):
            uploads.keep(name, damaged)
    uploads.close()


@pytest.mark.parametrize(("name", "pack"), [("r.tar", tar_of), ("r.zip", zip_of)])
def test_no_archive_writes_outside_of_its_folder(name, pack):
    uploads = Uploads()
    with contextlib.suppress(InvalidValueError):
        uploads.keep(name, pack({"../../escaped.urdf": ROBOT, "inside.urdf": ROBOT}))
    folder = Path(uploads._folder.name)
    assert not list(folder.parent.glob("escaped*"))
    assert not list(folder.parent.parent.glob("escaped*"))
    uploads.close()
