"""Robots that are put into the viewer stand on the ground, where there is room, and hold themselves."""

from __future__ import annotations

import contextlib
import io
import tarfile
import warnings
import zipfile
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
from raisim_ros.viewer.uploads import Uploads
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


def tar_of(files):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
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


@pytest.mark.parametrize(("name", "pack"), [("r.tar", tar_of), ("r.zip", zip_of)])
def test_archives_are_unpacked_and_their_robots_found(name, pack):
    uploads = Uploads()
    files = {"r/urdf/one.urdf": ROBOT, "r/urdf/two.urdf": ROBOT, "r/src/one.xacro": ROBOT, "r/package.xml": "<package/>"}
    assert [file.name for file in uploads.keep(name, pack(files))] == ["one.urdf", "two.urdf"]
    assert [file.name for file in uploads.keep(name, pack({"r/one.xacro": ROBOT}))] == ["one.xacro"]
    with pytest.raises(InvalidValueError, match="neither a robot"):
        uploads.keep(name, pack({"readme.txt": "x"}))
    with pytest.raises(InvalidValueError, match="cannot be unpacked"):
        uploads.keep(name, b"\x01" * 2000)
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
