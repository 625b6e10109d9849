"""Starts a world with one robot in it; its frames and joint states come from the world, no other node is needed.

ros2 launch raisim_ros robot.launch.py robot:=my_robot.urdf name:=robot_a/arm p_gain:=400 d_gain:=40
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription

SHARE = Path(get_package_share_directory("raisim_ros"))
ARGUMENTS = {
    "robot": ("", "URDF, xacro or MJCF file: path, package:// or file:// address"),
    "name": ("robot", "Name of the robot, which is the namespace of its topics; it may have levels"),
    "position": ("0 0 0", "Where its base link is: 'x y z' [m]"),
    "p_gain": ("0", "Position gain of all joints; 0: none"),
    "d_gain": ("0", "Velocity gain of all joints; 0: none"),
    "world": ("empty.xml", "World file"),
    "namespace": ("", "Namespace of the world"),
    "rviz": ("false", "Start rviz2 as well: 'true' or 'false'"),
}


def generate_launch_description() -> LaunchDescription:
    """What `ros2 launch` runs."""
    passed = {name: LaunchConfiguration(name) for name in ARGUMENTS if name != "name"}
    source = PythonLaunchDescriptionSource(str(SHARE / "launch" / "world.launch.py"))
    arguments = {**passed, "robot_name": LaunchConfiguration("name")}
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(name, description=description)
                if name == "robot"
                else DeclareLaunchArgument(name, default_value=default, description=description)
                for name, (default, description) in ARGUMENTS.items()
            ),
            IncludeLaunchDescription(source, launch_arguments=arguments.items()),
        ]
    )
