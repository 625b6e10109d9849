"""`markers`: what the objects look like, for rviz2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from geometry_msgs.msg import Point, Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.engine.types import CollisionBody, ShapeType, StateBuffer
from raisim_ros.msg import ObjectState
from raisim_ros.ros.appearance import HIDDEN, Colour, colour
from raisim_ros.ros.conversions import Vector, compose_xyzw
from raisim_ros.ros.frozen_message import FrozenElement, FrozenSequence
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.object_table import ObjectEntry
from raisim_ros.ros.pacing import WallTimer
from raisim_ros.ros.topic import NEVER

# A half-space has no end; this much of it is drawn [m].
GROUND_SIZE, GROUND_THICKNESS = 100.0, 0.02
CONE_SEGMENTS = 24
# Deletions are repeated in this many messages, so that a slow viewer that misses one still gets it.
DELETE_REPEATS = 5


@dataclass(frozen=True)
class Part:
    """One marker of an object and its pose in the object's frame (x y z qx qy qz qw)."""

    kind: int
    scale: tuple[float, float, float]
    pose: Vector
    points: tuple[tuple[float, float, float], ...] = ()


def _pose(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Vector:
    return np.array([x, y, z, 0.0, 0.0, 0.0, 1.0])


def cone_triangles(radius: float, height: float) -> tuple[tuple[float, float, float], ...]:
    """Corners of the triangles of a cone, apex towards +z, origin at the centroid of the solid."""
    base, apex = -0.25 * height, (0.0, 0.0, 0.75 * height)
    angles = [2.0 * math.pi * index / CONE_SEGMENTS for index in range(CONE_SEGMENTS + 1)]
    rim = [(radius * math.cos(angle), radius * math.sin(angle), base) for angle in angles]
    corners: list[tuple[float, float, float]] = []
    for first, second in pairwise(rim):
        corners += [first, second, apex, second, first, (0.0, 0.0, base)]
    return tuple(corners)


def shape_parts(shape: ShapeType, dim: Vector) -> list[Part]:
    """The markers that draw a shape, in the shape's frame."""
    match shape:
        case ShapeType.SPHERE:
            diameter = 2.0 * float(dim[0])
            return [Part(Marker.SPHERE, (diameter, diameter, diameter), _pose())]
        case ShapeType.BOX:
            return [Part(Marker.CUBE, (float(dim[0]), float(dim[1]), float(dim[2])), _pose())]
        case ShapeType.CYLINDER:
            return [Part(Marker.CYLINDER, (2.0 * float(dim[0]), 2.0 * float(dim[0]), float(dim[1])), _pose())]
        case ShapeType.CONE:
            return [Part(Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), _pose(), cone_triangles(*map(float, dim[:2])))]
        case ShapeType.CAPSULE:
            diameter, length = 2.0 * float(dim[0]), float(dim[1])
            ball = (diameter, diameter, diameter)
            return [
                Part(Marker.CYLINDER, (diameter, diameter, length), _pose()),
                Part(Marker.SPHERE, ball, _pose(z=0.5 * length)),
                Part(Marker.SPHERE, ball, _pose(z=-0.5 * length)),
            ]
        case ShapeType.HALF_SPACE:
            size = (GROUND_SIZE, GROUND_SIZE, GROUND_THICKNESS)
            return [Part(Marker.CUBE, size, _pose(z=-0.5 * GROUND_THICKNESS))]
        case _:
            return []


def body_parts(body: CollisionBody) -> list[Part]:
    """The markers that draw a collision body, in the frame of its object."""
    w, x, y, z = body.quaternion
    placed = np.array([*body.position, x, y, z, w])
    return [
        Part(part.kind, part.scale, compose_xyzw(placed, part.pose), part.points)
        for part in shape_parts(body.shape, body.dim)
    ]


def object_parts(entry: ObjectEntry) -> list[Part]:
    """The markers that draw an object; none when it is hidden."""
    if entry.handle.get_appearance() == HIDDEN:
        return []
    return [part for body in entry.handle.get_collision_body_list() for part in body_parts(body)]


@dataclass(frozen=True)
class _Drawn:
    """The frozen markers of one object and their poses in its frame."""

    elements: list[FrozenElement]
    deletions: list[FrozenElement]
    poses: Vector


class _MarkerGroup:
    """Some of the objects, drawn by one message."""

    def __init__(self, publisher: Any) -> None:
        self.publisher = publisher
        self._deletions: list[tuple[FrozenElement, int]] = []  # and how often it must still be sent
        self._rows = np.zeros(0, np.int64)
        self._poses = np.zeros((0, 7))
        self._elements: list[FrozenElement] = []
        self._message: FrozenSequence | None = None

    def rebuild(self, members: list[tuple[int, _Drawn]], deleted: list[FrozenElement]) -> None:
        self._rows = np.array([row for row, drawn in members for _ in drawn.elements], np.int64)
        self._elements = [element for _, drawn in members for element in drawn.elements]
        self._poses = np.concatenate([np.zeros((0, 7)), *(drawn.poses for _, drawn in members)])
        self._deletions += [(element, DELETE_REPEATS) for element in deleted]
        self._message = None

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        if self._message is None:
            deletions = [element for element, _ in self._deletions]
            self._message = FrozenSequence(MarkerArray(), self._elements + deletions)
        poses = np.zeros((len(self._elements) + len(self._deletions), 7))
        poses[:, 6] = 1.0
        poses[: len(self._elements)] = compose_xyzw(states.poses[self._rows], self._poses)
        self._message.write_stamp(moment.stamp)
        self._message.write("pose.position.x", "pose.orientation.w", poses)
        self.publisher.publish(self._message.to_bytes())
        if self._deletions:
            self._deletions = [(element, left - 1) for element, left in self._deletions if left > 1]
            self._message = None

    @property
    def has_work(self) -> bool:
        return bool(self._elements or self._deletions)


class MarkerTopics:
    """Draws the objects, at a rate in Hz of wall time: only people look at them.

    Static objects go out when they change and wait for late viewers; everything else is repeated with new
    poses. Both use the topic `markers`, through a publisher each.
    """

    def __init__(self, world_frame: str, rate_hz: float, publisher: Any, static_publisher: Any) -> None:
        self._world_frame = world_frame
        self._timer = WallTimer(rate_hz)
        self._moving = _MarkerGroup(publisher)
        self._static = _MarkerGroup(static_publisher)
        self._drawn: dict[int, tuple[bool, _Drawn]] = {}
        self._static_repeats = 0
        self._next_marker_id = 0

    def redraw(self, object_id: int) -> None:
        """The object's looks have changed; the next rebuild draws it anew."""
        self._drawn.pop(object_id, None)

    def resend_static(self) -> None:
        """A viewer came that may not have asked for the waiting message: send the static objects again."""
        self._static_repeats = max(self._static_repeats, 1)

    def rebuild(self, rows: list[ObjectEntry], time_step: float) -> None:
        """Takes over a new list of objects."""
        before, self._drawn = self._drawn, {}
        for entry in rows:
            static = entry.body_type == ObjectState.STATIC
            known = before.pop(entry.id, None)
            drawn = known[1] if known is not None and known[0] == static else self._draw(entry)
            self._drawn[entry.id] = (static, drawn)
        for group, wants_static in ((self._moving, False), (self._static, True)):
            members = [
                (row, self._drawn[entry.id][1])
                for row, entry in enumerate(rows)
                if self._drawn[entry.id][0] == wants_static
            ]
            gone = [drawn for static, drawn in before.values() if static == wants_static]
            group.rebuild(members, [element for drawn in gone for element in drawn.deletions])
        self._static_repeats = DELETE_REPEATS

    def _draw(self, entry: ObjectEntry) -> _Drawn:
        parts = object_parts(entry)
        tint = colour(entry.handle.get_appearance(), entry.type, entry.id)
        markers = [self._marker(entry, part, tint) for part in parts]
        deletions = [
            Marker(header=marker.header, ns=marker.ns, id=marker.id, action=Marker.DELETE) for marker in markers
        ]
        return _Drawn(
            [FrozenElement(marker, MarkerArray, "markers") for marker in markers],
            [FrozenElement(marker, MarkerArray, "markers") for marker in deletions],
            np.array([part.pose for part in parts]).reshape(-1, 7),
        )

    def _marker(self, entry: ObjectEntry, part: Part, tint: Colour) -> Marker:
        # Never used twice: the deletion of an object must not hit a later one of the same name.
        self._next_marker_id = (self._next_marker_id + 1) % 2**31
        return Marker(
            header=Header(frame_id=self._world_frame),
            ns=entry.type,
            id=self._next_marker_id,
            type=part.kind,
            action=Marker.ADD,
            scale=Vector3(x=part.scale[0], y=part.scale[1], z=part.scale[2]),
            color=ColorRGBA(r=tint[0], g=tint[1], b=tint[2], a=tint[3]),
            points=[Point(x=x, y=y, z=z) for x, y, z in part.points],
        )

    def steps_until_due(self, step: int) -> int:
        """Markers follow wall time."""
        return NEVER

    def due(self, moment: Moment) -> bool:
        """Whether the markers' time has come and somebody looks at them."""
        return self._moving.publisher.get_subscription_count() > 0 and (moment.everything or self._timer.due())

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes all moving markers, and the static ones after a change."""
        if self._static_repeats:
            self._static_repeats -= 1
            if self._static.has_work:
                self._static.publish(moment, states)
        if self._moving.has_work:
            self._moving.publish(moment, states)
