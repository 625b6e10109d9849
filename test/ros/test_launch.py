"""The launch file, run by the real `launch`: arguments reach the node, and its end is clean."""

from pathlib import Path

import pytest

pytest.importorskip("launch_pytest", reason="needs launch_pytest, which PyPI does not have")
pytest.importorskip("launch_ros", reason="needs launch_ros, which PyPI does not have")

import launch_pytest
from launch.actions import IncludeLaunchDescription, RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.launch_description_sources import PythonLaunchDescriptionSource
from rosgraph_msgs.msg import Clock

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

    assert EXITS == [0]
