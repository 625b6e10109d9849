"""Parameters of the node: described, with ranges, read once into one value."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.ros.node.allowed_folders import DEFAULT
from raisim_ros.ros.objects.commands import StaleAction

_MAX_RATE = 100_000.0
DEPTH_ENCODINGS = ("32FC1", "16UC1")


@dataclass(frozen=True)
class Parameters:
    """Values at the start of the node; rates, watchdogs and the real-time factor can be changed later."""

    world: str
    world_params: str
    allowed_folders: str | list[str]
    real_time_factor: float
    paused: bool
    publish_clock: bool
    clock_rate_hz: float
    state_min_rate_hz: float
    state_max_rate_hz: float
    state_best_effort: bool
    states_rate_hz: float
    joint_states_rate_hz: float
    world_state_rate_hz: float
    contacts_rate_hz: float
    publish_tf: bool
    tf_rate_hz: float
    publish_markers: bool
    marker_rate_hz: float
    world_frame: str
    frame_prefix: str
    command_watchdog_s: float
    command_watchdog_action: str
    world_watchdog_s: float
    lidar_ring_and_time: bool
    lidar_sweep: bool
    depth_encoding: str
    long_work_limit_s: float
    odom_rate_hz: float
    cmd_vel_stamped: bool
    joint_trajectory_action: bool
    record: str
    record_rate_hz: float
    record_sensors: bool
    replay: str


# name: default, description, range (low, high) or None, changeable while the node runs
_DECLARATIONS: dict[str, tuple[Any, str, tuple[float, float] | None, bool]] = {
    "world": ("", "World file to load; empty: the default world.", None, False),
    "world_params": ("", "Values of the world file's @@parameters: 'a:=1 b:=2'.", None, False),
    "allowed_folders": (
        [DEFAULT],
        "Folders whose files requests may name, for reading and writing; 'default': installed packages, the folder of "
        "the world file, the working directory and the cache; '*': everything.",
        None,
        False,
    ),
    "real_time_factor": (
        1.0,
        "Simulated seconds per wall second; 0 = as fast as possible.",
        (0.0, 1000.0),
        True,
    ),
    "paused": (False, "Start paused.", None, False),
    "publish_clock": (True, "Publish /clock. With several worlds, one of them does.", None, False),
    "clock_rate_hz": (100.0, "Rate of /clock [Hz of simulation time].", (0.1, _MAX_RATE), True),
    "state_min_rate_hz": (
        50.0,
        "Rate of <object>/state while the object is not commanded [Hz of simulation time].",
        (0.01, _MAX_RATE),
        True,
    ),
    "state_max_rate_hz": (
        1000.0,
        "Rate of <object>/state while the object is commanded [Hz of simulation time].",
        (0.01, _MAX_RATE),
        True,
    ),
    "state_best_effort": (
        False,
        "Publish <object>/state with best-effort instead of reliable quality of service.",
        None,
        False,
    ),
    "states_rate_hz": (50.0, "Rate of states [Hz of simulation time].", (0.01, _MAX_RATE), True),
    "joint_states_rate_hz": (
        100.0,
        "Rate of <robot>/joint_states [Hz of simulation time].",
        (0.01, _MAX_RATE),
        True,
    ),
    "world_state_rate_hz": (20.0, "Rate of world/state [Hz of wall time].", (0.01, 1000.0), True),
    "contacts_rate_hz": (50.0, "Rate of contacts [Hz of simulation time].", (0.01, _MAX_RATE), True),
    "publish_tf": (True, "Publish the frames of all objects on /tf and /tf_static.", None, False),
    "tf_rate_hz": (50.0, "Rate of /tf [Hz of simulation time].", (0.01, _MAX_RATE), True),
    "publish_markers": (True, "Publish markers for rviz2.", None, False),
    "marker_rate_hz": (30.0, "Rate of markers [Hz of wall time].", (0.01, 1000.0), True),
    "world_frame": ("world", "Name of the frame that everything is given in.", None, False),
    "frame_prefix": ("", "Put before the name of every frame, for several worlds side by side.", None, False),
    "command_watchdog_s": (
        0.5,
        "A command to an object that is not renewed for this long is stale [s of simulation time]; 0: never.",
        (0.0, 1e6),
        True,
    ),
    "command_watchdog_action": (
        "release",
        "What happens to a stale command: 'release' drops it, 'hold' keeps it acting.",
        None,
        True,
    ),
    "world_watchdog_s": (
        2.0,
        "A world with step throttling pauses when no world/cmd comes for this long [s of wall time]; 0: no.",
        (0.0, 1e6),
        True,
    ),
    "lidar_ring_and_time": (
        False,
        "Lidar clouds also tell row and time of every point: fields ring (uint16) and time (float32) [s].",
        None,
        False,
    ),
    "lidar_sweep": (
        False,
        "Lidars fire column by column while they move: an update shows what fired since the last, not all at once.",
        None,
        False,
    ),
    "depth_encoding": ("32FC1", "Depth images: 32FC1 (metres) or 16UC1 (millimetres).", None, False),
    "odom_rate_hz": (50.0, "Rate of <object>/odom [Hz of simulation time].", (0.01, _MAX_RATE), True),
    "cmd_vel_stamped": (False, "<robot>/cmd_vel takes TwistStamped instead of Twist.", None, False),
    "joint_trajectory_action": (True, "Robots have the action follow_joint_trajectory.", None, False),
    "record": ("", "File to record the run to, from its beginning; one of that name is replaced.", None, False),
    "record_rate_hz": (60.0, "Frames of the recording [Hz of simulation time].", (0.01, 10_000.0), False),
    "record_sensors": (True, "Whether sensors are measured for a recording, also when nobody listens.", None, False),
    "replay": (
        "",
        "Recording of a node whose commands and requests are carried out again, in its world instead of `world`.",
        None,
        False,
    ),
    "long_work_limit_s": (
        600.0,
        "Convex decomposition, terrain or a world file that takes longer is given up [s of wall time]; 0: never.",
        (0.0, 1e6),
        True,
    ),
}


def declare_parameters(node: Node) -> Parameters:
    """Declares all parameters on the node and reads them."""
    values = {}
    for name, (default, description, limits, changeable) in _DECLARATIONS.items():
        descriptor = ParameterDescriptor(name=name, description=description, read_only=not changeable)
        descriptor.dynamic_typing = name == "allowed_folders"  # one text as well as a list
        if limits is not None:
            descriptor.floating_point_range = [FloatingPointRange(from_value=limits[0], to_value=limits[1])]
        values[name] = node.declare_parameter(name, default, descriptor).value
    parameters = Parameters(**values)
    check_watchdog_action(parameters.command_watchdog_action)
    if parameters.state_min_rate_hz > parameters.state_max_rate_hz:
        limit = f"expected at most state_max_rate_hz {parameters.state_max_rate_hz:g}"
        raise InvalidValueError(f"state_min_rate_hz is {parameters.state_min_rate_hz:g}; {limit}")
    _check_frame_names(parameters)
    if parameters.depth_encoding not in DEPTH_ENCODINGS:
        expected = " or ".join(DEPTH_ENCODINGS)
        raise InvalidValueError(f"depth_encoding is '{parameters.depth_encoding}'; expected {expected}")
    return parameters


def _check_frame_names(parameters: Parameters) -> None:
    """tf2 knows no frame without a name and none that begins with a slash."""
    if not parameters.world_frame:
        raise InvalidValueError("world_frame is empty; expected the name of a frame")
    for name in ("world_frame", "frame_prefix"):
        value = getattr(parameters, name)
        if value.startswith("/") or any(letter.isspace() for letter in value):
            raise InvalidValueError(f"{name} is '{value}'; expected no slash in front and no spaces")


def world_parameters(text: str) -> dict[str, str]:
    """The values in ``a:=1 b:=two "c:=with spaces"``; InvalidValueError, naming the part, for anything else."""
    try:
        parts = shlex.split(text)
    except ValueError as error:
        raise InvalidValueError(f"world_params is '{text}': {error}") from None
    values = {}
    for part in parts:
        name, separator, value = part.partition(":=")
        if not separator or not name:
            raise InvalidValueError(f"world_params has '{part}'; expected name:=value")
        values[name] = value
    return values


def check_watchdog_action(text: str) -> StaleAction:
    """The action of that name; InvalidValueError, naming the choices, for any other word."""
    try:
        return StaleAction(text)
    except ValueError:
        choices = " or ".join(f"'{action.value}'" for action in StaleAction)
        raise InvalidValueError(f"command_watchdog_action is '{text}'; expected {choices}") from None
