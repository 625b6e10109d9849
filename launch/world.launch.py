"""Starts one simulated world, with a robot, the viewer for browsers and rviz2 on request.

ros2 launch raisim_ros world.launch.py world:=my_world.xml real_time_factor:=0.5 rviz:=true
"""

import os
import sys
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction, SetEnvironmentVariable
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription
from raisim_ros.description.errors import RaisimError
from raisim_ros.ros.file_address import resolve_world
from raisim_ros.ros.rviz_config import write_config

SHARE = Path(get_package_share_directory("raisim_ros"))
# FastDDS 2 (up to Jazzy) knows only the old name of the variable, FastDDS 3 warns about it.
FASTDDS_2 = os.environ.get("ROS_DISTRO") in ("humble", "jazzy")
PROFILE_VARIABLE = "FASTRTPS_DEFAULT_PROFILES_FILE" if FASTDDS_2 else "FASTDDS_DEFAULT_PROFILES_FILE"
# So that nodes end with this process, however that ends.
LAUNCHER = {"RAISIM_ROS_LAUNCHER_PID": str(os.getpid())}


def is_true(text: str) -> bool:
    """The meaning of a yes-or-no argument."""
    if text.lower() not in ("true", "false"):
        raise ValueError("expected 'true' or 'false'")
    return text.lower() == "true"


def read_argument(name: str, text: str, read: Callable[[str], Any]) -> Any:
    """The value of an argument; what cannot be read is told with its name."""
    try:
        return read(text)
    except ValueError as error:
        raise ValueError(f"argument {name} is '{text}': {error}") from None


# Arguments that are parameters of the node, and how they are read. One that is not given is not passed on: the
# parameter file decides.
PARAMETERS = {
    "world": (str, "World file: path, package:// or file:// address, or the name of one that comes with the package"),
    "world_params": (str, "Values of the world file's @@parameters: 'a:=1 b:=2'"),
    "real_time_factor": (float, "Simulated seconds per wall second; 0 = as fast as possible"),
    "paused": (is_true, "Start paused: 'true' or 'false'"),
    "publish_clock": (is_true, "Publish /clock: 'true' or 'false'; with several worlds, one of them does"),
    "record": (str, "File to record the run to, with its commands and requests"),
    "replay": (str, "Recording whose commands and requests are carried out again, in its own world"),
}
ARGUMENTS = {
    "namespace": ("", "Namespace of the node; also the prefix of its frames"),
    "params_file": ("", "Parameters of world_node; share/raisim_ros/config/world.yaml lists them all"),
    "robot": ("", "Robot to spawn: URDF, xacro or MJCF file, path, package:// or file:// address"),
    "robot_name": ("robot", "Its name"),
    "position": ("0 0 0", "Where its base link is: 'x y z' [m]"),
    "p_gain": ("0", "Position gain of all its joints; 0: none"),
    "d_gain": ("0", "Velocity gain of all its joints; 0: none"),
    "viewer": ("false", "Show the world in the browser as well: 'true' or 'false'"),
    "viewer_port": ("8080", "Port of the viewer's page"),
    "rviz": ("false", "Start rviz2 as well: 'true' or 'false'"),
    "rviz_config": (str(SHARE / "config" / "world.rviz"), "Configuration of rviz2"),
}


def start_nodes(context: LaunchContext) -> list[Node]:
    """The world, whose arguments win over the parameter file, and what shows it if that is wanted."""
    warn_of_misspelt(sys.argv)
    value = {name: LaunchConfiguration(name).perform(context) for name in (*PARAMETERS, *ARGUMENTS)}
    namespace = value["namespace"].strip("/")
    prefix = f"{namespace}/" if namespace else ""
    given = {name: read_argument(name, value[name], read) for name, (read, _) in PARAMETERS.items() if value[name]}
    given |= folder_of_robot(value)
    # The later ones win, and those for the node by its name over those for all nodes, wherever a parameter file has its
    # own: with the name they win. The node makes simulation time; it must never wait for it.
    parameters = [value["params_file"], {**given, "use_sim_time": False}]
    world = Node(
        package="raisim_ros",
        executable="world_node",
        name="world_node",
        namespace=namespace,
        parameters=[one for one in parameters if one],
        ros_arguments=["-p", f"frame_prefix:={prefix}"] if prefix else [],
        output="screen",
        emulate_tty=True,
        additional_env=LAUNCHER,
    )
    nodes = [world]
    if value["robot"]:
        nodes.append(spawner(value, namespace))
    if read_argument("viewer", value["viewer"], is_true):
        port = {"port": read_argument("viewer_port", value["viewer_port"], int)}
        page = {"package": "raisim_ros", "executable": "viewer_node", "namespace": namespace}
        nodes.append(Node(parameters=[port], additional_env=LAUNCHER, **page))
    if read_argument("rviz", value["rviz"], is_true):
        nodes.append(rviz(value, namespace, prefix))
    return nodes


def warn_of_misspelt(command: list[str]) -> None:
    """`ros2 launch` ignores arguments that no file declares. What a file that includes this one takes is not known."""
    if not any(Path(word).name == Path(__file__).name for word in command):
        return
    known = (*PARAMETERS, *ARGUMENTS)
    for name in (word.partition(":=")[0] for word in command if ":=" in word):
        if name not in known:
            near = get_close_matches(name, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(known)}"
            get_logger(Path(__file__).name).warning(f"no argument named '{name}'; {hint}")


def folder_of_robot(value: dict[str, str]) -> dict[str, str]:
    """What is named here may lie anywhere, with its meshes; the request that adds it may name no other folders."""
    robot = Path(value["robot"].removeprefix("file://")).expanduser().absolute()
    decided = value["params_file"] and "allowed_folders" in Path(value["params_file"]).read_text(encoding="utf-8")
    if decided or not robot.is_file():
        return {}
    packages = [folder for folder in robot.parents if (folder / "package.xml").is_file()]
    return {"allowed_folders": f"default:{packages[0] if packages else robot.parent}"}


def spawner(value: dict[str, str], namespace: str) -> Node:
    """Adds the robot as soon as the world is there, and ends."""
    arguments = ["--file", value["robot"], "--name", value["robot_name"], "--world", namespace]
    arguments += ["--position", *value["position"].split(), "--p-gain", value["p_gain"], "--d-gain", value["d_gain"]]
    spawn = {"package": "raisim_ros", "executable": "spawn_robot", "arguments": arguments}
    return Node(output="screen", additional_env=LAUNCHER, **spawn)


def rviz(value: dict[str, str], namespace: str, prefix: str) -> Node:
    """rviz2 with a display for every robot and sensor that is known beforehand."""
    try:
        world = resolve_world(value["world"], "world")
    except RaisimError:
        world = None  # the node tells what is wrong
    robots = {value["robot_name"]: value["robot"]} if value["robot"] else {}
    config = write_config(Path(value["rviz_config"]), world, prefix, robots)
    return Node(
        package="rviz2",
        executable="rviz2",
        namespace=namespace,
        arguments=["-d", str(config), "-f", f"{prefix}world"],
        parameters=[{"use_sim_time": True}],
    )


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` runs."""
    arguments = {name: ("", description) for name, (_, description) in PARAMETERS.items()} | ARGUMENTS
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=description)
                for name, (default, description) in arguments.items()
            ),
            SetEnvironmentVariable(PROFILE_VARIABLE, str(SHARE / "config" / "fastdds.xml")),
            OpaqueFunction(function=start_nodes),
        ]
    )
