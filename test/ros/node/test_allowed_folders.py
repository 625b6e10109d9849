"""What the parameter allowed_folders means, and what a node does with requests that name other files."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

from raisim_ros.description import file_access
from raisim_ros.description.errors import FileMissingError, InvalidValueError
from raisim_ros.description.resources import resource_dir
from raisim_ros.msg import ResultCode
from raisim_ros.ros.file_address import resolve_world
from raisim_ros.ros.node import preparation
from raisim_ros.ros.node.allowed_folders import allowed_folders
from raisim_ros.srv import LoadWorld, SaveWorld, SpawnArticulatedSystem, SpawnHeightMap, SpawnObject, SpawnSensorSet


def test_everything():
    assert allowed_folders("*", "") is None
    assert allowed_folders(["default", "*"], "") is None


@pytest.mark.parametrize("nothing", ["", [""], [], "default", ["default"]])
def test_defaults(nothing, tmp_path, monkeypatch):
    share = tmp_path / "prefix" / "share"
    source = tmp_path / "source"
    (share / "linked").mkdir(parents=True)
    source.mkdir()
    (source / "package.xml").write_text("<package/>")
    (share / "linked" / "package.xml").symlink_to(source / "package.xml")
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tmp_path / "prefix"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = allowed_folders(nothing, str(tmp_path / "worlds" / "world.xml"))
    assert {share, source, tmp_path / "worlds", Path.cwd(), tmp_path / "cache/raisim_ros", resource_dir()} <= set(folders)


def test_folders_of_ones_own(tmp_path):
    (tmp_path / "b").mkdir()
    assert allowed_folders(f"{tmp_path}:{tmp_path}/b", "") == [tmp_path, tmp_path / "b"]
    assert allowed_folders([str(tmp_path)], "") == [tmp_path]
    with pytest.raises(InvalidValueError, match="allowed_folders has '/no/such'"):
        allowed_folders(["/no/such"], "")
    with pytest.raises(InvalidValueError, match="allowed_folders has '~nobody_of_that_name'"):
        allowed_folders(["~nobody_of_that_name"], "~nobody_of_that_name/world.xml")
    for wrong in (5, [1.0], None):
        with pytest.raises(InvalidValueError, match="expected a text or a list of texts"):
            allowed_folders(wrong, "")


@pytest.fixture(scope="module")
def inside(tmp_path_factory):
    return tmp_path_factory.mktemp("inside")


@pytest.fixture(scope="module")
def node(start_node, inside):
    return start_node(paused=True, allowed_folders=f"default:{inside}")


def test_requests_that_name_files_elsewhere(node, probe, inside, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("2 2 1 1 0 0 0 passwd")
    (inside / "link.txt").symlink_to(secret)
    for path in (secret, f"file://{secret}", inside / "link.txt", inside / ".." / tmp_path.name / "secret.txt", tmp_path / "none"):
        answers = [
            probe.call(SpawnHeightMap, "spawn_height_map", name="h", source="text", file=str(path)),
            probe.call(SpawnObject, "spawn_object", name="m", shape="mesh", mesh_file=str(path), mass=1.0),
            probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="r", file=str(path)),
            probe.call(SpawnSensorSet, "spawn_sensor_set", object="ball_0", file=str(path)),
            probe.call(LoadWorld, "load_world_file", file=str(path)),
        ]
        assert all(answer.result != ResultCode.OK for answer in answers)
        assert all("allowed folders" in answer.message for answer in answers[:1] + answers[1:3] + answers[4:])
        assert not any("passwd" in answer.message for answer in answers)


def test_worlds_of_the_package_that_are_out_of_reach_are_not_said_to_be_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(file_access, "_folders", (tmp_path,))
    with pytest.raises(FileMissingError, match=f"looked for in {tmp_path}; not in .*worlds, outside the allowed folders"):
        resolve_world("shapes.xml", "file")


def test_a_process_that_reads_for_the_node_is_held_to_the_same_folders(node, probe, inside, tmp_path):
    """It knew nothing of them: a world or model in them could include every file of the machine."""
    (tmp_path / "world.xml").write_text(TEXTS["world"])
    (tmp_path / "part.xml").write_text(TEXTS["mjcf"])
    (inside / "includes.xml").write_text(f'<raisim version="1.0"><include value="{tmp_path}/world.xml"/></raisim>')
    (inside / "model.xml").write_text(f'<mujoco><include file="{tmp_path}/part.xml"/></mujoco>')
    for name in ("includes.xml", "model.xml"):
        assert preparation.world_is_long((inside / name, {}))  # a process of its own reads it
        answer = probe.call(LoadWorld, "load_world_file", file=str(inside / name))
        assert answer.result in (ResultCode.MISSING_FILE, ResultCode.PARSE_ERROR), answer
    answer = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="r", file=str(inside / "model.xml"))
    assert answer.result in (ResultCode.MISSING_FILE, ResultCode.PARSE_ERROR), answer


def test_packages_cannot_be_left(node, probe):
    for address in ("package://raisim_ros/../../../../etc/passwd", "package://raisim_ros//etc/passwd"):
        answer = probe.call(SpawnHeightMap, "spawn_height_map", name="h", source="text", file=address)
        assert answer.result == ResultCode.INVALID_VALUE
        assert "inside the package" in answer.message
    answer = probe.call(SpawnArticulatedSystem, "spawn_articulated_system", name="arm", file="package://raisim_ros/rsc/robots/arm.urdf")
    assert answer.result == ResultCode.OK, answer.message


def test_saving_elsewhere_or_over_links(node, probe, inside, tmp_path):
    target = tmp_path / "target.xml"
    target.write_text("precious")
    (inside / "link.xml").symlink_to(inside / "other.xml")
    (inside / "out.xml").symlink_to(target)
    for path in (target, inside / "link.xml", inside / "out.xml", inside / "robot.xacro", tmp_path / "new.xml"):
        answer = probe.call(SaveWorld, "save_world", file=str(path), overwrite=True)
        assert answer.result in (ResultCode.INVALID_VALUE, ResultCode.MISSING_FILE), path
    assert target.read_text() == "precious"
    assert not (inside / "other.xml").exists()
    assert probe.call(SaveWorld, "save_world", file=str(inside / "saved.xml")).result == ResultCode.OK
    assert probe.call(LoadWorld, "load_world_file", file=str(inside / "saved.xml")).result == ResultCode.OK


BOX = '<box mass="1"><dim x="0.1" y="0.1" z="0.1"/></box>'
TEXTS = {
    "entry": BOX,
    "world": f'<raisim version="1.0"><objects>{BOX}</objects></raisim>',
    "urdf": '<robot name="one"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link></robot>',
    "mjcf": '<mujoco><worldbody><body name="b"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody></mujoco>',
}


def test_texts_are_no_files_of_somebody_else(start_node, probe, inside):
    """Texts are read from a file in between, wherever that lies."""
    srv = pytest.importorskip("simulation_interfaces.srv", reason="needs simulation_interfaces")
    start_node(namespace="/texts", paused=True, allowed_folders=str(inside))
    names = {}
    for kind, text in TEXTS.items():
        answer = probe.call(srv.SpawnEntity, "/texts/spawn_entity", name=f"from_{kind}", resource_string=text)
        assert answer.result.result == 1, (kind, answer.result.error_message)
        names[kind] = answer.entity_name
    assert set(names.values()) <= set(probe.call(srv.GetEntities, "/texts/get_entities").entities)
    assert preparation.world_text_is_long(TEXTS["mjcf"])  # a process of its own reads it
    for kind in ("world", "mjcf"):
        answer = probe.call(srv.LoadWorld, "/texts/load_world", resource_string=TEXTS[kind])
        assert answer.result.result == 1, answer.result.error_message
        assert len(probe.call(srv.GetEntities, "/texts/get_entities").entities) == 1
