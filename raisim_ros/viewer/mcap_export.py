"""Recordings as MCAP files, which `ros2 bag` and Foxglove open: /clock, /tf, joint states, what sensors measured."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from raisim_ros.description.atomic_file import writing
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.sensors.sensor import Sensor
from raisim_ros.engine.types import ArticulationBuffer
from raisim_ros.engine.world.world import World
from raisim_ros.viewer.mcap_definitions import CLOCK, DEFINITIONS, FRAMES, JOINTS
from raisim_ros.viewer.mcap_sensors import Message, frames_of, messages_of
from raisim_ros.viewer.measurements import sensors_of
from raisim_ros.viewer.recording import Recording
from raisim_ros.viewer.world_scene import unique_names


def write_mcap(recording: Recording, path: str | Path) -> None:
    """Write a recording; times are those of the simulation. Needs the packages of the extra ``record``."""
    try:
        from mcap_ros2.writer import Writer
    except ImportError as error:
        raise InvalidValueError("MCAP files need mcap-ros2-support: pip install 'raisim_ros[record]'") from error
    with writing(path) as name, name.open("wb") as file, Writer(file) as writer:
        schemas = {name: writer.register_msgdef(name, text) for name, text in DEFINITIONS.items()}
        known: dict[int, World] = {}
        written: dict[str, float] = {}
        for frame in range(len(recording)):
            epoch = recording.epoch_of(frame)
            if epoch not in known:
                known[epoch] = recording.world(frame)
            now = round(1e9 * float(recording.times[frame]))
            messages = _messages(recording, known[epoch], frame, now)
            for topic, kind, message in chain(messages, _measurements(recording, frame, written)):
                writer.write_message(topic, schemas[kind], message, now, now, frame)


def _measurements(recording: Recording, frame: int, written: dict[str, float]) -> Iterator[Message]:
    """Of sensors that measured since the frame before; `written` has the time of each one's last message."""
    world = recording._measured(frame)
    transforms = []
    for name, sensor in _named_sensors(world) if world is not None else ():
        time = sensor.get_update_time_stamp()
        if time < 0.0 or written.get(name) == time:
            continue
        written[name] = time
        stamp = _stamp(round(1e9 * time))
        header = {"stamp": stamp, "frame_id": "world"}
        placed = frames_of(sensor, name).items()
        transforms += [_transform(header, frame_name, (*place, *turn)) for frame_name, (place, turn) in placed]
        yield from messages_of(sensor, name, stamp)
    if transforms:
        yield "/tf", FRAMES, {"transforms": transforms}


def _named_sensors(world: World) -> list[tuple[str, Sensor]]:
    """Sensors as OBJECT/SENSOR; the second of a name as OBJECT/SET_SENSOR."""
    names = list(unique_names(world))
    named: dict[str, Sensor] = {}
    for (row, set_name, sensor_name), sensor in sensors_of(world):
        name = f"{names[row]}/{sensor_name}"
        named[f"{names[row]}/{set_name}_{sensor_name}" if name in named else name] = sensor
    return list(named.items())


def _stamp(now: int) -> dict[str, int]:
    return {"sec": now // 10**9, "nanosec": now % 10**9}


def _messages(recording: Recording, world: World, frame: int, now: int) -> Iterator[Message]:
    header = {"stamp": _stamp(now), "frame_id": "world"}
    yield "/clock", CLOCK, {"clock": _stamp(now)}
    poses, names = recording.array("poses", frame), unique_names(world)
    transforms = [_transform(header, name, poses[row]) for row, name in enumerate(names)]
    robots = world.read_articulations()
    for name, handle in names.items():
        if isinstance(handle, ArticulatedSystem):
            first = len(names) + robots.link_first[handle.get_id()]
            for index, body in enumerate(handle.get_body_names()):
                transforms.append(_transform(header, f"{name}/{body}", poses[first + index]))
            joints = _joints(recording, robots, handle, frame, header)
            yield f"/{name}/joint_states", JOINTS, joints
    yield "/tf", FRAMES, {"transforms": transforms}


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
