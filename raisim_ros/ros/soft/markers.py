"""Cloth as triangles and grains as balls in `markers`: sent when they have moved."""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.description.appearance import HIDDEN, colour
from raisim_ros.engine.objects.deformable import DeformableObject
from raisim_ros.engine.objects.granular import GranularSystem
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import StateBuffer
from raisim_ros.ros.conversions import Vector
from raisim_ros.ros.frozen_message import FrozenElement, FrozenSequence
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.markers import REPEATS
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.topic import WallTimeTopic

# Balls of one marker have one size: grains of other radii are drawn in so many sizes, at most.
SIZES = 8


def grain_sizes(radii: Vector) -> tuple[Vector, Any]:
    """Radii to draw [m], at most SIZES of them, and which of them each grain has."""
    exact, kinds = np.unique(radii, return_inverse=True)
    if len(exact) <= SIZES:
        return exact, kinds
    edges = np.linspace(exact[0], exact[-1], SIZES + 1)
    bins = np.clip(np.searchsorted(edges, radii, side="right") - 1, 0, SIZES - 1)
    sizes = np.array([radii[bins == k].mean() if (bins == k).any() else 0.0 for k in range(SIZES)])
    return sizes, bins


class SoftMarkers(WallTimeTopic):
    """Draws objects made of particles, at most at a rate in Hz of wall time, and only those that have moved.

    What came to rest is repeated in a few messages, so that a slow viewer that misses one still gets it.
    """

    def __init__(self, world_frame: str, rate_hz: float, publisher: Any) -> None:
        super().__init__(rate_hz, publisher)
        self._frame = world_frame
        self._rows: list[ObjectRow] = []
        self._sent: dict[int, Vector] = {}  # places that were sent last, by object
        self._repeats: dict[int, int] = {}  # how often they must still be sent although nothing moves
        self._shown: dict[int, list[tuple[str, int]]] = {}  # markers of each object
        self._deletions: dict[tuple[str, int], int] = {}  # how often they must still be sent
        self._looks: dict[int, str] = {}

    def resend(self) -> None:
        """A viewer came: it has seen nothing yet."""
        self._sent.clear()

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over a new list of objects; what is gone is deleted from view."""
        self._rows = [entry for entry in rows if isinstance(entry.handle, SoftObject)]
        present = {entry.id for entry in self._rows}
        for key in self._shown.keys() - present:
            self._delete(self._shown.pop(key))
            self._sent.pop(key, None)
            self._looks.pop(key, None)
            self._repeats.pop(key, None)

    def _delete(self, markers: list[tuple[str, int]]) -> None:
        self._deletions |= dict.fromkeys(markers, REPEATS)

    def due(self, moment: Moment) -> bool:
        """Whether its time has come and somebody looks."""
        return bool(self._rows or self._deletions) and super().due(moment)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Draws what has moved just now."""
        elements = [element for entry in self._rows for element in self._draw(entry)]
        elements += [self._element(Marker(ns=ns, id=number, action=Marker.DELETE)) for ns, number in self._deletions]
        self._deletions = {key: left - 1 for key, left in self._deletions.items() if left > 1}
        if elements:
            message = FrozenSequence(MarkerArray(), elements)
            message.write_stamp(moment.stamp)
            self._publisher.publish(message.to_bytes())

    def _draw(self, entry: ObjectRow) -> list[FrozenElement]:
        handle, look = entry.handle, entry.handle.get_appearance()
        places, before = handle.get_positions(), self._sent.get(entry.id)
        moved = before is None or before.shape != places.shape or not np.array_equal(before, places)
        if moved or self._looks.get(entry.id) != look:
            self._repeats[entry.id] = REPEATS
        elif self._repeats[entry.id] == 0:
            return []
        else:
            self._repeats[entry.id] -= 1
        self._sent[entry.id], self._looks[entry.id] = places.copy(), look
        parts = [] if look == HIDDEN else _parts(handle, places)
        shown = [(entry.type, (entry.id * (SIZES + 1) + number) % 2**31) for number, _, _ in parts]
        self._delete([key for key in self._shown.get(entry.id, ()) if key not in shown])
        for key in shown:
            self._deletions.pop(key, None)
        self._shown[entry.id] = shown
        elements = []
        for (ns, number), (_, scale, points) in zip(shown, parts, strict=True):
            marker = self._marker(entry, look, scale)
            marker.ns, marker.id = ns, number
            element = self._element(marker)
            element.fill("points", points, len(points))
            elements.append(element)
        return elements

    def _marker(self, entry: ObjectRow, look: str, scale: float | None) -> Marker:
        red, green, blue, alpha = (float(value) for value in colour(look, entry.type, entry.id))
        marker = Marker(
            type=Marker.TRIANGLE_LIST if scale is None else Marker.SPHERE_LIST,
            action=Marker.ADD,
            color=ColorRGBA(r=red, g=green, b=blue, a=alpha),
            text=entry.name,
        )
        size = 1.0 if scale is None else scale
        marker.scale = Vector3(x=size, y=size, z=size)
        marker.pose.orientation.w = 1.0
        return marker

    def _element(self, marker: Marker) -> FrozenElement:
        marker.header = Header(frame_id=self._frame)
        return FrozenElement(marker, MarkerArray, "markers")


def _parts(handle: Any, places: Vector) -> list[tuple[int, float | None, Vector]]:
    """Markers of an object: number, diameter of balls or None for triangles, points."""
    if not len(places):
        return []
    if isinstance(handle, DeformableObject):
        return [(0, None, places[handle.get_triangles()].reshape(-1, 3))]
    assert isinstance(handle, GranularSystem)
    sizes, kinds = grain_sizes(handle.get_radii())
    return [(k, 2.0 * float(size), places[kinds == k]) for k, size in enumerate(sizes) if (kinds == k).any()]
