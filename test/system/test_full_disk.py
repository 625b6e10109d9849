"""Every kind of file that is written, when the disk is full: an error of ours that names it, and the old file as it was."""

from __future__ import annotations

import ast
import re
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from raisim_ros import Recording, World, load_mesh
from raisim_ros.description.errors import FileWriteError
from raisim_ros.description.mesh.convex_decomposition import CoacdOptions, decompose
from raisim_ros.description.resources import resource as package_file
from raisim_ros.viewer.export import write_film, write_page
from raisim_ros.viewer.mcap_export import write_mcap

MOST = 100  # bytes that a file may have


def make_world() -> World:
    world = World()
    world.add_articulated_system(package_file("robots/arm.urdf")).set_name("arm")
    world.add_mesh(package_file("meshes/unit_sphere.obj"), 1.0)
    world.add_granular_particles(np.array([(3.0, 0.1 * k, 0.2) for k in range(20)]), 0.04).set_name("grains")
    return world


def pictures():
    rng = np.random.default_rng(5)
    for _ in range(8):
        yield rng.integers(0, 255, (64, 64, 3), dtype=np.uint8)


WRITERS = {
    "world.xml": lambda path, world, _: world.export_to_xml(path),
    "stored.raisim": lambda path, world, _: world.save(path),
    "snapshot.raisim": lambda path, world, _: world.save_snapshot().save(path),
    "model.xml": lambda path, world, _: world.export_to_mjcf(path),
    "robot.urdf": lambda path, world, _: world.get_object("arm").export_robot_description_to_urdf(path),
    "grains.npz": lambda path, world, _: world.get_object("grains").save_granular_state(path),
    "run.raisim": lambda path, world, _: world.start_recording(path),
    "film.gif": lambda path, _, __: write_film(path, pictures(), 10.0),
    "film.mp4": lambda path, _, __: write_film(path, pictures(), 10.0),
    "page.html": lambda path, _, recording: write_page(recording, path),
    "log.mcap": lambda path, _, recording: write_mcap(recording, path),
}


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    file = tmp_path_factory.mktemp("recording") / "run.raisim"
    world = make_world()
    world.start_recording(file)
    world.integrate(20)
    world.stop_recording()
    made = Recording(file)
    made.world(0)  # for which files are laid out, too
    return made


@pytest.fixture
def full_disk():
    """Files cannot grow, of this process and of those that it starts."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill():
        resource.setrlimit(resource.RLIMIT_FSIZE, (MOST, before[1]))

    yield fill
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("name", WRITERS)
def test_the_old_file_stays(tmp_path, recording, full_disk, name):
    world, path = make_world(), tmp_path / name
    path.write_bytes(b"old")
    full_disk()
    with pytest.raises(FileWriteError) as refused:
        WRITERS[name](path, world, recording)
    assert str(tmp_path) in str(refused.value)  # of a world also files beside it
    assert path.read_bytes() == b"old"
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_what_needs_a_temporary_file_says_so(recording, full_disk):
    again = Recording(recording.path)
    full_disk()
    with pytest.raises(FileWriteError, match="raisim_ros_"):
        again.world(0)


def test_convex_parts_are_not_made(full_disk, monkeypatch, tmp_path):
    pytest.importorskip("coacd", reason="CoACD is not installed")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    mesh = load_mesh(package_file("meshes/unit_sphere.obj"))
    full_disk()
    with pytest.warns(RuntimeWarning, match="no room for its files"):
        assert decompose(mesh, CoacdOptions(threshold=0.1234)) == ()


def test_there_is_no_temporary_folder(recording, monkeypatch):
    again = Recording(recording.path)
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    with pytest.raises(FileWriteError, match="a temporary folder"):
        again.world(0)


# Writers in folders of their own that are gone soon, and records in /dev/shm, which nobody reads after a power cut.
TEMPORARY = {
    "description/atomic_file.py",
    "description/recording_file.py",
    "description/mesh/convex_decomposition.py",
    "description/mesh/coacd_worker.py",
    "viewer/uploads.py",
    "viewer/unpack.py",
    "client/shared_memory.py",
    "ros/rviz_config.py",
}


def writes(tree: ast.AST) -> bool:
    """Whether a module opens a file for writing by itself."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        modes = [one.value for one in [*call.args, *(k.value for k in call.keywords)] if isinstance(one, ast.Constant)]
        if name in ("write_text", "write_bytes", "NamedTemporaryFile"):
            return True
        if name == "open" and any(isinstance(mode, str) and re.fullmatch("[rb+t]*[wxa][b+t]*", mode) for mode in modes):
            return True
    return False


def test_only_one_module_writes_files():
    root = Path(__file__).resolve().parents[2] / "raisim_ros"
    found = {str(path.relative_to(root)) for path in root.rglob("*.py") if writes(ast.parse(path.read_text()))}
    assert found - TEMPORARY == {"viewer/mcap_export.py"}  # to a name that atomic_file.writing() gave
