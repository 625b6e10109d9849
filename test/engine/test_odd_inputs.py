"""Paths, files and objects that nobody should give: an error of ours that names them, and the world as it was."""

import errno
import io
import math
import os
import subprocess
import sys

import pytest

from raisim_ros import RaisimError, Recording, World, WorldSnapshot, load_mesh, load_sensor_set
from raisim_ros.description.mjcf import compiler
from raisim_ros.description.terrain import height_map_from_png

LONG, HALF, ZERO = "x" * 5000, "half\ud800", "zero\0byte"
READERS = {
    "world": World,
    "robot": lambda path: World().add_articulated_system(path),
    "mesh": load_mesh,
    "sensors": load_sensor_set,
    "heights": lambda path: World().add_height_map(path),
    "image": lambda path: height_map_from_png(path, 1.0, 1.0, 1.0, 0.0),
    "stored world": World.from_saved,
    "snapshot": WorldSnapshot.from_saved,
    "recording": Recording,
}
WRITERS = {
    "world": lambda world, path: world.export_to_xml(path),
    "stored world": lambda world, path: world.save(path),
    "snapshot": lambda world, path: world.save_snapshot().save(path),
    "model": lambda world, path: world.export_to_mjcf(path),
    "recording": lambda world, path: world.start_recording(path),
    "meshes": lambda world, path: world.export_mesh_assets_to_obj(path),
}


@pytest.fixture
def scene() -> World:
    world = World()
    world.add_ground()
    world.add_box(0.2, 0.3, 0.4, 2.0).set_position(0.0, 0.0, 0.2)
    world.add_mesh(load_mesh_file(), 1.0).set_position(3.0, 0.0, 3.0)
    world.integrate(3)
    return world


def load_mesh_file():
    from raisim_ros.description.resources import resource

    return resource("meshes/unit_sphere.obj")


def refused(world: World, call) -> str:
    """What was said; the world has not changed."""
    before = world.get_state_hash(), world.get_configuration_number(), world.get_obj_list()
    with pytest.raises(RaisimError) as error:
        call()
    assert before == (world.get_state_hash(), world.get_configuration_number(), world.get_obj_list())
    return str(error.value)


@pytest.mark.parametrize("path", [LONG, HALF, ZERO, "/", "", "~nobody_of_that_name/x"],
                         ids=["long", "half a pair", "zero", "folder", "empty", "somebody unknown"])
@pytest.mark.parametrize("kind", READERS)
def test_paths_that_are_read(kind, path):
    with pytest.raises(RaisimError) as error:
        READERS[kind](path)
    assert len(str(error.value)) < 2000


@pytest.mark.parametrize("path", [LONG, HALF, ZERO, "/proc/no/such/place"], ids=["long", "half a pair", "zero", "nowhere"])
@pytest.mark.parametrize("kind", WRITERS)
def test_paths_that_are_written(scene, kind, path):
    assert len(refused(scene, lambda: WRITERS[kind](scene, path))) < 2000


@pytest.mark.parametrize("kind", [kind for kind in WRITERS if kind != "meshes"])
def test_a_folder_is_no_file(scene, kind, tmp_path):
    assert str(tmp_path) in refused(scene, lambda: WRITERS[kind](scene, tmp_path))
    assert list(tmp_path.iterdir()) == []


FILES = {
    "world": "a.xml", "robot": "a.urdf", "mesh": "a.stl", "sensors": "a.xml", "heights": "a.txt", "image": "a.png", "stored world": "a.raisim",
    "snapshot": "a.raisim", "recording": "a.raisim",
}  # fmt: skip


@pytest.mark.parametrize("kind", READERS)
def test_files_that_may_not_be_read(kind, tmp_path, monkeypatch):
    path, usual = tmp_path / FILES[kind], io.open
    path.write_bytes(b"content")

    def denied(file, *arguments, **options):
        if str(file) == str(path):
            raise PermissionError(errno.EACCES, "Permission denied")
        return usual(file, *arguments, **options)

    monkeypatch.setattr(io, "open", denied)
    with pytest.raises(RaisimError, match="cannot read"):
        READERS[kind](path)


@pytest.mark.parametrize("kind", READERS)
def test_pipes_and_links_that_lead_nowhere(kind, tmp_path):
    """Nobody waits for what will be written to a pipe."""
    pipe, circle = tmp_path / FILES[kind], tmp_path / f"circle_{FILES[kind]}"
    os.mkfifo(pipe)
    circle.symlink_to(circle)
    for path in (pipe, circle):
        with pytest.raises(RaisimError):
            READERS[kind](path)


@pytest.mark.parametrize("inside", ['<mesh file="pipe"/>', '<hfield file="pipe" size="1 1 1 1"/>', '<texture file="pipe" type="2d"/>'])
def test_pipes_in_mujoco_models(inside, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "model.xml").write_text(f"<mujoco><asset>{inside}</asset></mujoco>")
    with pytest.raises(RaisimError, match="not a regular file"):
        World(tmp_path / "model.xml")


def test_mujocos_compiler_cannot_be_started(monkeypatch):
    """Where there are no more processes, for example."""
    compiler._end_worker()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(RaisimError, match="cannot be started"):
        World().add_articulated_system('<mujoco><worldbody><geom size="1"/></worldbody></mujoco>')


@pytest.mark.parametrize("heights", [math.inf, math.nan, None, [], [[math.inf]], [[0.0, "high"], [0.0, 0.0]], [[0.0], [0.0, 1.0]]])
def test_heights_that_are_none(scene, heights):
    refused(scene, lambda: scene.add_height_map(heights, x_size=1.0, y_size=1.0))


@pytest.mark.parametrize("snapshot", [None, 3, "snapshot", b"", World(), object()])
def test_snapshots_that_are_none(scene, snapshot):
    assert "snapshot" in refused(scene, lambda: scene.restore_snapshot(snapshot))


def test_a_contact_that_was_kept(scene):
    """It tells what it was; who asks it about the present gets an error of ours."""
    box = scene.get_obj_list()[1]
    contact = box.get_contacts()[0]
    before = contact.get_position().tolist(), contact.get_impulse().tolist()
    scene.integrate(20)
    box.set_position(0.0, 0.0, 5.0)
    scene.integrate()
    assert "earlier step" in refused(scene, contact.get_pair_contact_index_in_pair_object)
    scene.remove_object(box)
    assert "earlier step" in refused(scene, contact.get_pair_contact_index_in_pair_object)
    assert (contact.get_position().tolist(), contact.get_impulse().tolist()) == before


REMOVED = """
import os, sys, tempfile
from raisim_ros import RaisimError, World
from raisim_ros.description.resources import resource
text = resource("robots/arm.urdf").read_text()
robot = sys.argv[1]
folder = tempfile.mkdtemp()
os.chdir(folder)
os.rmdir(folder)
world = World()
world.add_articulated_system(robot)
before = world.get_state_hash()
for call in (
    lambda: World("world.xml"),
    lambda: world.add_articulated_system("robot.urdf"),
    lambda: world.add_articulated_system("robot.xacro"),
    lambda: world.add_articulated_system("model.xml"),
    lambda: world.add_articulated_system(text),
    lambda: world.add_mesh("mesh.obj", 1.0),
    lambda: world.export_to_xml("world.xml"),
    lambda: world.export_to_mjcf("model.xml"),
    lambda: world.save("world.raisim"),
    lambda: world.start_recording("run.raisim"),
):
    try:
        call()
        print("accepted", end=" ")
    except RaisimError:
        print("refused", end=" ")
    assert world.get_state_hash() == before
"""


def test_the_working_directory_is_gone(tmp_path):
    """A robot with a mesh beside it, named in full, is loaded; what is named from the working directory is refused."""
    (tmp_path / "ball.obj").write_bytes(load_mesh_file().read_bytes())
    link = '<link name="world"><collision><geometry><mesh filename="ball.obj"/></geometry></collision></link>'
    (tmp_path / "robot.urdf").write_text(f'<robot name="robot">{link}</robot>')
    done = subprocess.run([sys.executable, "-c", REMOVED, tmp_path / "robot.urdf"], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["refused"] * 10, done.stderr
