"""Where meshes, modules and sensor files are looked for."""

from pathlib import Path

import pytest

from raisim_ros.description.resource_paths import (
    MODULE_FOLDERS,
    SENSOR_FOLDERS,
    candidates_in_folders,
    first_file,
    portable_address,
    resource_candidates,
)


@pytest.fixture(autouse=True)
def no_ament(monkeypatch):
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)


def make(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def find(address, directory, res_path=""):
    return first_file(resource_candidates(address, directory, res_path))


def test_relative_path_beside_the_file_then_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    in_working_directory = make(tmp_path / "m.obj")
    assert find("m.obj", tmp_path / "robot") == in_working_directory
    beside = make(tmp_path / "robot/m.obj")
    assert find("m.obj", tmp_path / "robot") == beside
    in_resources = make(tmp_path / "res/m.obj")
    assert find("m.obj", tmp_path / "robot", tmp_path / "res") == in_resources


def test_backslashes_and_surrounding_blanks(tmp_path):
    mesh = make(tmp_path / "meshes/m.obj")
    assert find(" meshes\\m.obj ", tmp_path) == mesh


def test_absolute_and_file_address(tmp_path):
    mesh = make(tmp_path / "a b.obj")
    assert find(str(mesh), Path("/nowhere")) == mesh
    assert find(f"file://{mesh}".replace(" ", "%20"), Path("/nowhere")) == mesh
    assert find(f"file://localhost{mesh}", Path("/nowhere")) == mesh


def test_package_in_the_ament_prefixes_comes_first(tmp_path, monkeypatch):
    installed = make(tmp_path / "prefix2/share/my_robot/meshes/m.obj")
    near = make(tmp_path / "src/my_robot/meshes/m.obj")
    directory = tmp_path / "src/my_robot/urdf"
    assert find("package://my_robot/meshes/m.obj", directory) == near
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path}/prefix1:{tmp_path}/prefix2")
    assert find("package://my_robot/meshes/m.obj", directory) == installed


@pytest.mark.parametrize("scheme", ["package://", "model://", "package:///"])
def test_package_and_model_under_the_resource_folder(tmp_path, scheme):
    with_name = make(tmp_path / "res/my_robot/m.obj")
    assert find(f"{scheme}my_robot/m.obj", tmp_path / "x", tmp_path / "res") == with_name
    without_name = make(tmp_path / "res/n.obj")
    assert find(f"{scheme}my_robot/n.obj", tmp_path / "x", tmp_path / "res") == without_name


def test_a_folder_that_is_all_there_is_of_a_package(tmp_path):
    mesh = make(tmp_path / "dropped/spot_description/meshes/m.obj")
    directory = tmp_path / "dropped/spot_description/urdf"
    assert find("package://many_robots/robots/spot_description/meshes/m.obj", directory) == mesh
    make(tmp_path / "dropped/spot_description/m.obj")
    assert find("package://many_robots/robots/other_description/m.obj", directory) is None  # a name alone is too little


def test_package_beside_an_ancestor(tmp_path):
    mesh = make(tmp_path / "other_robot/m.obj")
    assert find("package://other_robot/m.obj", tmp_path / "my_robot/urdf") == mesh


def test_nothing_found(tmp_path):
    assert find("m.obj", tmp_path) is None
    assert find("x" * 5000, tmp_path) is None
    assert find("a\0b", tmp_path) is None


@pytest.mark.parametrize("folder", SENSOR_FOLDERS)
def test_sensor_folders(tmp_path, folder):
    directory = tmp_path / "robot"
    directory.mkdir()
    file = make((directory / folder / "s.xml").resolve())
    assert first_file(candidates_in_folders("s.xml", directory, SENSOR_FOLDERS)) == file


@pytest.mark.parametrize("folder", MODULE_FOLDERS)
def test_module_folders(tmp_path, folder):
    directory = tmp_path / "robot"
    directory.mkdir()
    file = make((directory / folder / "m.urdf").resolve())
    assert first_file(candidates_in_folders("m.urdf", directory, MODULE_FOLDERS)) == file
    assert candidates_in_folders(str(file), directory, MODULE_FOLDERS) == [file]


def test_portable_addresses(tmp_path, monkeypatch):
    installed = make(tmp_path / "prefix/share/my_robot/m n.obj")
    address = "package://my_robot/m n.obj"
    assert portable_address(address, installed) == installed.as_uri()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    assert portable_address(address, installed) == address
    other = make(tmp_path / "m n.obj")
    assert portable_address(address, other) == other.as_uri()
    assert find(portable_address("m n.obj", other), Path("/nowhere")) == other


def test_what_is_found_has_a_full_path(tmp_path, monkeypatch):
    make(tmp_path / "res/m.obj")
    monkeypatch.chdir(tmp_path)
    assert find("m.obj", Path("nowhere"), "res/../res") == tmp_path / "res/m.obj"


def test_a_relative_path_may_start_at_a_folder_above_the_file(tmp_path):
    mesh = make(tmp_path / "robot/meshes/m.obj")
    (tmp_path / "robot/urdf/arms").mkdir(parents=True)
    assert find("meshes/m.obj", tmp_path / "robot/urdf") == mesh
    assert find("meshes/m.obj", tmp_path / "robot/urdf/arms") == mesh
    assert find("../meshes/m.obj", tmp_path / "robot/urdf") == mesh
    beside = make(tmp_path / "robot/urdf/meshes/m.obj")
    assert find("meshes/m.obj", tmp_path / "robot/urdf") == beside


def test_the_folder_of_a_package_may_have_another_name(tmp_path):
    mesh = make(tmp_path / "my_robot-main/meshes/m.obj")
    assert find("package://my_robot/meshes/m.obj", tmp_path / "my_robot-main/urdf") == mesh
    assert find("model://my_robot/meshes/m.obj", tmp_path / "my_robot-main/urdf") == mesh
    named = make(tmp_path / "my_robot/meshes/m.obj")
    assert find("package://my_robot/meshes/m.obj", tmp_path / "my_robot-main/urdf") == named
