"""States, commands and points of objects made of particles. Topics are used by the stepping thread alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Set
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import PointCloud2
from std_msgs.msg import Header

from raisim_ros.description.errors import RaisimError
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import StateBuffer
from raisim_ros.msg import DeformableCmd, DeformableState, GranularCmd, GranularState
from raisim_ros.ros import qos
from raisim_ros.ros.conversions import point, vector3
from raisim_ros.ros.following_endpoints import FollowingEndpoints
from raisim_ros.ros.frozen_message import FrozenMessage
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable
from raisim_ros.ros.pacing import NEVER, period_in_steps, steps_until_multiple
from raisim_ros.ros.request_queue import Origin, RequestQueue, acting_for
from raisim_ros.ros.sensors.messages import fields, zeros
from raisim_ros.ros.soft.requests import apply_deformable_command, apply_granular_command

# Kinds, as in the names of topics and in recordings.
DEFORMABLE, GRANULAR = "deformable", "granular"
_STATES = {DEFORMABLE: DeformableState, GRANULAR: GranularState}
COMMANDS = {DEFORMABLE: DeformableCmd, GRANULAR: GranularCmd}


def _kind(handle: Any) -> str:
    return DEFORMABLE if isinstance(handle, DeformableObject) else GRANULAR


def state_message(entry: ObjectRow, frame: str, states: StateBuffer, moment: Moment) -> Any:
    """The DeformableState or GranularState of an object."""
    handle = entry.handle
    low, high = handle.get_bounds()
    stamp = Time(sec=moment.stamp.sec, nanosec=moment.stamp.nanosec)
    message = _STATES[_kind(handle)](
        header=Header(frame_id=frame, stamp=stamp),
        name=entry.name,
        id=entry.id,
        sim_step=moment.step,
        sim_time=moment.sim_time,
        particles=handle.get_num_particles(),
        mass=handle.get_mass(),
        center=point(handle.get_position()),
        momentum=vector3(handle.get_linear_momentum()),
        kinetic_energy=handle.get_kinetic_energy(),
        potential_energy=handle.get_potential_energy(),
        elastic_energy=handle.get_elastic_energy(),
        min=point(low),
        max=point(high),
        sleeping=bool(states.sleeping[handle.get_index_in_world()]),
    )
    if isinstance(handle, DeformableObject):
        message.pinned = handle.get_pinned_vertices()
        message.wind = vector3(handle.get_wind())
    else:
        stats = handle.get_last_step_stats()
        message.substeps, message.contacts = stats.substeps, stats.contacts
        message.largest_overlap, message.largest_speed = stats.largest_overlap, stats.largest_speed
    return message


class _Cloud:
    """`<object>/points`: x y z of every particle, and its speed as intensity."""

    def __init__(self, frame: str, count: int) -> None:
        point_fields, step = fields("x y z intensity")
        self.count = count
        self._message = FrozenMessage(
            PointCloud2(
                header=Header(frame_id=frame),
                height=1,
                width=count,
                fields=point_fields,
                is_bigendian=False,
                point_step=step,
                row_step=step * count,
                data=zeros(step * count),
                is_dense=True,
            )
        )

    def to_bytes(self, handle: SoftObject, moment: Moment) -> bytes:
        stamp = self._message.numbers("header.stamp.sec", "header.stamp.nanosec").view(np.uint32)
        stamp[:] = moment.stamp
        if self.count:
            numbers = self._message.numbers("data").view(np.float32).reshape(-1, 4)
            numbers[:, :3] = handle.get_positions()
            numbers[:, 3] = np.linalg.norm(handle.get_velocities(), axis=1)
        return self._message.to_bytes()


class SoftTopics:
    """Publishes states and points to those who listen, at a rate in Hz of simulation time."""

    def __init__(self, world_frame: str, rate_hz: float) -> None:
        self._frame = world_frame
        self.rate_hz = rate_hz
        self._period = 1
        self._attached: dict[int, tuple[ObjectRow, Any, Any]] = {}  # with publishers of state and points
        self._clouds: dict[int, _Cloud] = {}

    def attach(self, entry: ObjectRow, state: Any, points: Any) -> None:
        """From now on the object goes out through these publishers."""
        self._attached[entry.id] = (entry, state, points)

    def detach(self, gone: Set[int]) -> None:
        """Lets go of the publishers of some objects."""
        for key in gone:
            self._attached.pop(key, None)
            self._clouds.pop(key, None)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Forgets objects that left the world; takes over a new time step."""
        self._period = period_in_steps(self.rate_hz, time_step)
        self.detach(self._attached.keys() - {entry.id for entry in rows})

    def steps_until_due(self, step: int) -> int:
        """Steps until the next messages must go out."""
        return steps_until_multiple(step, self._period) if self._attached else NEVER

    def due(self, moment: Moment) -> bool:
        """Whether messages are due that somebody waits for."""
        if not self._attached or (not moment.everything and moment.step % self._period):
            return False
        publishers = [publisher for _, *both in self._attached.values() for publisher in both]
        return any(publisher.get_subscription_count() for publisher in publishers)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what somebody listens to."""
        for key, (entry, state, points) in self._attached.items():
            if state.get_subscription_count():
                state.publish(state_message(entry, self._frame, states, moment))
            if points.get_subscription_count():
                count = entry.handle.get_num_particles()
                if key not in self._clouds or self._clouds[key].count != count:
                    self._clouds[key] = _Cloud(self._frame, count)
                points.publish(self._clouds[key].to_bytes(entry.handle, moment))


_Made = tuple[ObjectRow, Any, Any, Any]  # with publishers of state and points, and the subscription


class SoftEndpoints(FollowingEndpoints[int, ObjectRow, _Made]):
    """The topics that objects made of particles have besides those of every object. For the executor thread."""

    def __init__(
        self,
        node: Node,
        queue: RequestQueue,
        table: ObjectTable,
        topics: SoftTopics,
        refresh: Callable[[int], None],
        warn: Callable[[Any, str], None],
    ) -> None:
        """`refresh` is told the id of an object whose mass a command has changed."""
        super().__init__(node, queue)
        self._table = table
        self._topics = topics
        self._refresh = refresh
        self._warn = warn

    def _wanted(self) -> dict[int, ObjectRow]:
        return {entry.id: entry for entry in self._table if isinstance(entry.handle, SoftObject)}

    def _detach(self, gone: Set[int]) -> None:
        self._topics.detach(gone)

    def _attach(self, new: dict[int, _Made]) -> None:
        for entry, state, points, _ in new.values():
            self._topics.attach(entry, state, points)

    def _make(self, thing: ObjectRow) -> _Made:
        kind = _kind(thing.handle)
        state = self._publisher(_STATES[kind], f"{thing.name}/{kind}_state", qos.STATE)
        points = self._publisher(PointCloud2, f"{thing.name}/points", qos.SENSOR)
        subscription = self._subscription(
            COMMANDS[kind],
            f"{thing.name}/{kind}_cmd",
            lambda message: self._on_command(thing, kind, message),
            qos.COMMAND,
        )
        return thing, state, points, subscription

    def _destroy(self, made: _Made) -> None:
        _, state, points, subscription = made
        self._node.destroy_subscription(subscription)
        self._node.destroy_publisher(state)
        self._node.destroy_publisher(points)

    def _on_command(self, entry: ObjectRow, kind: str, message: Any) -> None:
        with acting_for(Origin(kind, entry.name, message)):
            self._queue.post(lambda: self.command(entry.name, message))

    def command(self, name: str, message: Any) -> None:
        """Applies a command to an object, or says in the log why it cannot. For the stepping thread."""
        try:
            entry = self._table.get(name)
            handle, mass = entry.handle, entry.handle.get_mass()
            if isinstance(handle, DeformableObject):
                apply_deformable_command(handle, message)
            else:
                apply_granular_command(handle, message)
            if handle.get_mass() != mass:
                self._refresh(entry.id)
        except RaisimError as error:
            topic = "deformable_cmd" if isinstance(message, DeformableCmd) else "granular_cmd"
            field = re.split(r"\W", str(error), maxsplit=1)[0]  # one line for each kind of mistake
            self._warn((name, type(error).__name__, field), f"{name}/{topic} refused: {error}")
