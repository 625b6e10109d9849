"""Starts one simulated world, and on request the viewer for browsers and rviz2.

ros2 launch raisim_ros world.launch.py world:=my_world.xml real_time_factor:=0.5 viewer:=true
"""

import os
from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription

SHARE = Path(get_package_share_directory("raisim_ros"))
# FastDDS 2 (up to Jazzy) knows only the old name of the variable, FastDDS 3 warns about it.
FASTDDS_2 = os.environ.get("ROS_DISTRO") in ("humble", "jazzy")
PROFILE_VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE" if FASTDDS_2 else "FASTDDS_DEFAULT_PROFILES_FILE"

ARGUMENTS = {
    "world": ("", "World file to load; empty: the default world"),
    "world_params": ("", "Values of the world file's @@parameters: 'a:=1 b:=2'"),
    "namespace": ("", "Namespace of the node; also the prefix of its frames"),
    "real_time_factor": ("1.0", "Simulated seconds per wall second; 0 = as fast as possible"),
    "paused": ("false", "Start paused: 'true' or 'false'"),
    "publish_clock": ("true", "Publish /clock; with several worlds, one of them does"),
    "params_file": (str(SHARE / "config" / "world.yaml"), "Parameters of world_node"),
    "viewer": ("false", "Show the world in the browser as well: 'true' or 'false'"),
    "viewer_port": ("8080", "Port of the viewer's page"),
    "rviz": ("false", "Start rviz2 as well: 'true' or 'false'"),
    "rviz_config": (str(SHARE / "config" / "world.rviz"), "Configuration of rviz2"),
}


def is_true(text: str) -> bool:
    """The meaning of a yes-or-no argument."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"expected 'true' or 'false', got '{text}'")
    return text.lower() == "true"


def start_nodes(context: LaunchContext) -> list[Node]:
    """The world, whose arguments win over the parameter file, and what shows it if that is wanted."""
    value = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    namespace = value["namespace"].strip("/")
    parameters = {
        "world": value["world"],
        "world_params": value["world_params"],
        "real_time_factor": float(value["real_time_factor"]),
        "paused": is_true(value["paused"]),
        "publish_clock": is_true(value["publish_clock"]),
        # The node makes simulation time; it must never wait for it.
        "use_sim_time": False,
    }
    prefix = f"{namespace}/" if namespace else ""
    if prefix:
        parameters["frame_prefix"] = prefix
    world = Node(
        package="raisim_ros",
        executable="world_node",
        namespace=namespace,
        parameters=[value["params_file"], parameters],
        output="screen",
        emulate_tty=True,
        additional_env={"RAISIM_ROS_LAUNCHER_PID": str(os.getpid())},  # so that it ends with this process, however
    )
    nodes = [world]
    if is_true(value["viewer"]):
        port = {"port": int(value["viewer_port"])}
        nodes.append(Node(package="raisim_ros", executable="viewer_node", namespace=namespace, parameters=[port]))
    if not is_true(value["rviz"]):
        return nodes
    rviz = Node(
        package="rviz2",
        executable="rviz2",
        namespace=namespace,
        arguments=["-d", value["rviz_config"], "-f", f"{prefix}world"],
        parameters=[{"use_sim_time": True}],
    )
    return [*nodes, rviz]


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` runs."""
    arguments = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, (default, description) in ARGUMENTS.items()
    ]
    return LaunchDescription(
        [
            *arguments,
            SetEnvironmentVariable(PROFILE_VARIABLE, str(SHARE / "config" / "fastdds.xml")),
            OpaqueFunction(function=start_nodes),
        ]
    )
