"""Recordings as MCAP files, which `ros2 bag` and Foxglove open: /clock, /tf and the joint states of robots."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from raisim_ros.description.atomic_file import writing
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.types import ArticulationBuffer
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.recording import Recording
from raisim_ros.viewer.world_scene import unique_names

# Between the definition of a message and those of its parts, as the format has it.
_LINE = 80 * "=" + "\n"
_TIME = f"{_LINE}MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n"
_HEADER = f"{_LINE}MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id\n{_TIME}"
_VECTOR = f"{_LINE}MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
_QUATERNION = f"{_LINE}MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w\n"
DEFINITIONS = {
    "tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n"
    f"{_LINE}MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\n"
    "geometry_msgs/Transform transform\n"
    f"{_LINE}MSG: geometry_msgs/Transform\ngeometry_msgs/Vector3 translation\n"
    f"geometry_msgs/Quaternion rotation\n{_VECTOR}{_QUATERNION}{_HEADER}",
    "sensor_msgs/msg/JointState": "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\n"
    f"float64[] effort\n{_HEADER}",
    "rosgraph_msgs/msg/Clock": f"builtin_interfaces/Time clock\n{_TIME}",
}


def write_mcap(recording: Recording, path: str | Path) -> None:
    """Write a recording; times are those of the simulation. Needs the packages of the extra ``record``."""
    try:
        from mcap_ros2.writer import Writer
    except ImportError as error:
        raise InvalidValueError("MCAP files need mcap-ros2-support: pip install 'raisim_ros[record]'") from error
    with writing(path) as name, name.open("wb") as file, Writer(file) as writer:
        schemas = {name: writer.register_msgdef(name, text) for name, text in DEFINITIONS.items()}
        known: dict[int, World] = {}
        for frame in range(len(recording)):
            epoch = recording.epoch_of(frame)
            if epoch not in known:
                known[epoch] = recording.world(frame)
            now = round(1e9 * float(recording.times[frame]))
            for topic, kind, message in _messages(recording, known[epoch], frame, now):
                writer.write_message(topic, schemas[kind], message, now, now, frame)


def _stamp(now: int) -> dict[str, int]:
    return {"sec": now // 10**9, "nanosec": now % 10**9}


def _messages(recording: Recording, world: World, frame: int, now: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    header = {"stamp": _stamp(now), "frame_id": "world"}
    yield "/clock", "rosgraph_msgs/msg/Clock", {"clock": _stamp(now)}
    poses, names = recording.array("poses", frame), unique_names(world)
    transforms = [_transform(header, name, poses[row]) for row, name in enumerate(names)]
    robots = world.read_articulations()
    for name, handle in names.items():
        if isinstance(handle, ArticulatedSystem):
            first = len(names) + robots.link_first[handle.get_id()]
            for index, body in enumerate(handle.get_body_names()):
                transforms.append(_transform(header, f"{name}/{body}", poses[first + index]))
            joints = _joints(recording, robots, handle, frame, header)
            yield f"/{name}/joint_states", "sensor_msgs/msg/JointState", joints
    yield "/tf", "tf2_msgs/msg/TFMessage", {"transforms": transforms}


def _transform(header: dict[str, Any], name: str, pose: Any) -> dict[str, Any]:
    x, y, z, qw, qx, qy, qz = (float(value) for value in pose)
    placed = {"translation": {"x": x, "y": y, "z": z}, "rotation": {"x": qx, "y": qy, "z": qz, "w": qw}}
    return {"header": header, "child_frame_id": name, "transform": placed}


def _joints(
    recording: Recording, robots: ArticulationBuffer, robot: ArticulatedSystem, frame: int, header: dict[str, Any]
) -> dict[str, Any]:
    """Joints with one coordinate."""
    q = recording.array("coordinates", frame)[robots.coordinate_first[robot.get_id()] :]
    first = robots.velocity_first[robot.get_id()]
    u, effort = recording.array("velocities", frame)[first:], recording.array("efforts", frame)[first:]
    q_first = robot.get_mapping_from_body_index_to_generalized_coordinate_index()
    u_first = robot.get_mapping_from_body_index_to_generalized_velocity_index()
    bodies = robot.get_kinematic_tree().bodies
    moving = [k for k, body in enumerate(bodies) if body.joint_type.has_axis]
    return {
        "header": header,
        "name": [bodies[k].joint_name for k in moving],
        "position": [float(q[q_first[k]]) for k in moving],
        "velocity": [float(u[u_first[k]]) for k in moving],
        "effort": [float(effort[u_first[k]]) for k in moving],
    }
