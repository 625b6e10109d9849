"""Starts several worlds side by side, each in a namespace with frames of its own; the first one makes /clock.

ros2 launch raisim_ros worlds.launch.py worlds:="left=a.xml right=b.xml"
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, GroupAction, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchContext, LaunchDescription

SHARE = Path(get_package_share_directory("raisim_ros"))


def start_worlds(context: LaunchContext) -> list[GroupAction]:
    """A world for each `namespace=file`; an empty file is the default world."""
    source = PythonLaunchDescriptionSource(str(SHARE / "launch" / "world.launch.py"))
    groups = []
    for number, word in enumerate(LaunchConfiguration("worlds").perform(context).split()):
        namespace, separator, file = word.partition("=")
        if not separator or not namespace:
            raise ValueError(f"worlds has '{word}'; expected namespace=file")
        arguments = {
            "namespace": namespace,
            "world": file,
            "publish_clock": "true" if number == 0 else "false",
            "real_time_factor": LaunchConfiguration("real_time_factor").perform(context),
            "paused": LaunchConfiguration("paused").perform(context),
        }
        groups.append(GroupAction([IncludeLaunchDescription(source, launch_arguments=arguments.items())]))
    return groups


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` runs."""
    arguments = {
        "worlds": ("left= right=", "Namespaces and world files: 'left=a.xml right=b.xml'"),
        "real_time_factor": ("", "Simulated seconds per wall second of all worlds; 0 = as fast as possible"),
        "paused": ("", "Start paused: 'true' or 'false'"),
    }
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, default_value=default, description=description)
                for name, (default, description) in arguments.items()
            ),
            OpaqueFunction(function=start_worlds),
        ]
    )
