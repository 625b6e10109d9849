"""The launch file, run by the real `launch`: arguments reach the node, and its end is clean."""

import runpy
from pathlib import Path

import pytest

pytest.importorskip("launch_pytest", reason="needs launch_pytest, which PyPI does not have")
pytest.importorskip("launch_ros", reason="needs launch_ros, which PyPI does not have")

import launch_pytest
from launch.actions import IncludeLaunchDescription, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

import launch
from raisim_ros.msg import ResultCode, WorldState
from raisim_ros.ros import qos
from raisim_ros.srv import GetObjectInfo, ListObjects, RemoveObject, SpawnObject

LAUNCH_FILE = Path(__file__).parents[2] / "launch" / "world.launch.py"
WORLD = Path(__file__).with_name("node_world.xml")
EXITS = []  # exit codes of the processes that launch started


@launch_pytest.fixture
def launched_world(ros_environment):
    arguments = {"world": str(WORLD), "namespace": "arena", "real_time_factor": "2.0", "paused": "false"}
    source = PythonLaunchDescriptionSource(str(LAUNCH_FILE))
    world = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    exits = RegisterEventHandler(OnProcessExit(on_exit=lambda event, _: EXITS.append(event.returncode)))
    return launch.LaunchDescription([exits, world, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=launched_world)
def test_launch_arguments_reach_the_node_and_it_ends_cleanly(probe):
    with probe.subscribed(WorldState, "/arena/world/state") as worlds:
        probe.spin_until(lambda: worlds and worlds[-1].sim_step > 0, "the world to run")
    assert worlds[-1].target_real_time_factor == 2.0
    assert not worlds[-1].paused
    with probe.subscribed(Clock, "/clock", qos.CLOCK) as clocks:
        probe.spin_until(lambda: len(clocks) > 10, "/clock")
    fields = {"name": "ball", "shape": "sphere", "radius": 0.1}
    assert probe.call(SpawnObject, "/arena/spawn_object", **fields).result == ResultCode.OK
    info = probe.call(GetObjectInfo, "/arena/get_object_info", name="ball").info
    assert (info.frame_id, info.state_topic) == ("arena/ball", "/arena/ball/state")
    assert probe.call(RemoveObject, "/arena/remove_object", name="ball").result == ResultCode.OK
    assert len(probe.call(ListObjects, "/arena/list_objects").names) == probe.OBJECTS

    yield  # launch ends everything here

    assert EXITS[-1:] == [0]


@launch_pytest.fixture(params=["/**", "/**/world_node", "/by_file/world_node", "/by_file/**"])
def world_of_a_parameter_file(request, ros_environment, tmp_path):
    """Whatever nodes the file is for: arguments that are given win."""
    file = tmp_path / "my.yaml"
    own = {"world": str(WORLD), "real_time_factor": 0.5, "paused": True, "publish_clock": False}
    file.write_text(f"{request.param}:\n  ros__parameters:\n" + "".join(f"    {name}: {value}\n" for name, value in own.items()))
    source = PythonLaunchDescriptionSource(str(LAUNCH_FILE))
    arguments = {"params_file": str(file), "namespace": "by_file", "real_time_factor": "3.0"}
    world = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return launch.LaunchDescription([world, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=world_of_a_parameter_file)
def test_the_parameter_file_counts_where_no_argument_is_given(probe):
    with probe.subscribed(WorldState, "/by_file/world/state") as worlds:
        probe.spin_until(lambda: worlds, "the world")
    assert worlds[-1].paused
    assert worlds[-1].target_real_time_factor == 3.0
    assert worlds[-1].num_objects == probe.OBJECTS
    assert probe.node.count_publishers("/clock") == 0
    info = probe.call(GetObjectInfo, "/by_file/get_object_info", name="ground").info
    assert info.frame_id == "by_file/ground"
    yield


def included(file, /, **arguments):
    source = PythonLaunchDescriptionSource(str(LAUNCH_FILE.with_name(file)))
    action = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return launch.LaunchDescription([action, launch_pytest.actions.ReadyToTest()])


@launch_pytest.fixture
def one_robot(ros_environment):
    file = "package://raisim_ros/rsc/robots/arm.urdf"
    return included("robot.launch.py", robot=file, name="robot_a/arm", position="1 2 0", p_gain="400", d_gain="40", namespace="lab")


@pytest.mark.launch(fixture=one_robot)
def test_a_robot_is_launched_with_its_joints_and_frames(probe):
    with probe.subscribed(JointState, "/lab/robot_a/arm/joint_states") as joints:
        probe.spin_until(lambda: joints, "joint states")
    assert "elbow" in joints[-1].name
    info = probe.call(GetObjectInfo, "/lab/get_object_info", name="robot_a/arm")
    assert (info.info.frame_id, info.state.pose.position.y) == ("lab/robot_a/arm", 2.0)
    yield


ELSEWHERE = """<robot name="one"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  <visual><geometry><mesh filename="../meshes/part.obj"/></geometry></visual></link></robot>"""


@launch_pytest.fixture
def robot_elsewhere(ros_environment, tmp_path):
    """A package that is not installed, with meshes beside the robot's folder."""
    for folder in ("urdf", "meshes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "package.xml").write_text("<package/>")
    (tmp_path / "meshes" / "part.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n")
    (tmp_path / "urdf" / "one.urdf").write_text(ELSEWHERE)
    return included("robot.launch.py", robot=str(tmp_path / "urdf" / "one.urdf"), name="one", namespace="elsewhere")


@pytest.mark.launch(fixture=robot_elsewhere)
def test_a_robot_may_lie_anywhere(probe):
    def names():
        return probe.call(ListObjects, "/elsewhere/list_objects").names

    probe.spin_until(lambda: "one" in names(), "the robot")
    yield


def test_arguments_that_nobody_declares_are_told(monkeypatch):
    module = runpy.run_path(str(LAUNCH_FILE))
    told = []
    monkeypatch.setattr(module["get_logger"]("world.launch.py"), "warning", told.append)
    command = ["ros2", "launch", "raisim_ros", "world.launch.py"]
    module["warn_of_misspelt"]([*command, "paussed:=true", "world:=a.xml", "real_time_factor:=2", "xyz:=1"])
    assert [text.partition(";")[0] for text in told] == ["no argument named 'paussed'", "no argument named 'xyz'"]
    assert "did you mean 'paused'" in told[0]
    module["warn_of_misspelt"](["ros2", "launch", "mine", "mine.launch.py", "worlds:=3"])
    assert len(told) == 2


@pytest.mark.parametrize(("name", "text"), [("paused", "tru"), ("real_time_factor", "fast"), ("viewer_port", "x")])
def test_an_argument_that_cannot_be_read_is_named(name, text):
    module = runpy.run_path(str(LAUNCH_FILE))
    read = {one: kind for one, (kind, _) in module["PARAMETERS"].items()} | {"viewer_port": int}
    with pytest.raises(ValueError, match=f"argument {name} is '{text}': "):
        module["read_argument"](name, text, read[name])


@launch_pytest.fixture
def two_worlds(ros_environment):
    return included("worlds.launch.py", worlds=f"left={WORLD} right=materials.xml", paused="true")


@pytest.mark.launch(fixture=two_worlds)
def test_two_worlds_run_side_by_side_with_one_clock(probe):
    assert len(probe.call(ListObjects, "/left/list_objects").names) == probe.OBJECTS
    assert len(probe.call(ListObjects, "/right/list_objects").names) > 5
    assert probe.node.count_publishers("/clock") == 1
    yield


@launch_pytest.fixture
def world_of_a_package(ros_environment):
    source = PythonLaunchDescriptionSource(str(LAUNCH_FILE))
    arguments = {"world": "package://raisim_ros/rsc/worlds/materials.xml", "namespace": "packed"}
    world = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return launch.LaunchDescription([world, launch_pytest.actions.ReadyToTest()])


@pytest.mark.launch(fixture=world_of_a_package)
def test_a_world_may_be_named_by_its_package(probe):
    assert len(probe.call(ListObjects, "/packed/list_objects").names) > 5
    yield
