"""The scene that a node's markers draw."""

from __future__ import annotations

import threading
from collections.abc import Container
from dataclasses import dataclass, field
from urllib.parse import unquote, urlparse

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.appearance import colour
from raisim_ros.viewer import surfaces
from raisim_ros.viewer.cdr_reader import CdrReader
from raisim_ros.viewer.page_surfaces import PageSurfaces
from raisim_ros.viewer.scene import (
    IDENTITY,
    DrawnWires,
    Item,
    Part,
    SceneModel,
    SoftLook,
    SoftShape,
    Surface,
    Vector,
    compose,
)

# visualization_msgs/Marker
CUBE, SPHERE, CYLINDER, LINE_LIST, SPHERE_LIST, TRIANGLE_LIST, MESH_RESOURCE = 1, 2, 3, 5, 7, 11, 10
DELETE, DELETE_ALL = 2, 3
GROUND_KIND = "ground"
SOFT_KINDS = ("deformable", "granular")  # whose points are elsewhere in every message
# Layouts of messages that are remembered: those of moving and of static objects take turns.
_MOST_LAYOUTS = 6

# What nodes give ground and terrain without a colour of their own.
_PLAIN_TERRAIN = colour("", "heightmap", 0)[:3]

Key = tuple[str, int]


@dataclass(frozen=True, eq=False)
class _Marker:
    """One marker. `frame` is not empty when it moves with a frame of /tf."""

    key: Key
    name: str
    kind: int
    scale: tuple[float, float, float]
    rgba: tuple[float, ...]
    frame: str
    points: Vector
    mesh: str
    embedded: bool
    link: str = ""  # of a robot

    def same_as(self, other: _Marker | None) -> bool:
        """Whether it is drawn like the other."""
        return other is not None and self._looks() == other._looks() and np.array_equal(self.points, other.points)

    def _looks(self) -> tuple[object, ...]:
        return self.name, self.kind, self.scale, self.rgba, self.frame, self.mesh, self.embedded


@dataclass(eq=False)
class _Layout:
    """A message whose like will come again with other poses."""

    fixed: NDArray[np.bool_]  # bytes that tell it from others
    data: NDArray[np.uint8]
    places: NDArray[np.int64]  # first byte of each pose
    keys: list[Key] = field(default_factory=list)

    def fits(self, data: NDArray[np.uint8]) -> bool:
        """Whether only poses and stamps differ."""
        return len(data) == len(self.data) and bool(((data == self.data) | ~self.fixed).all())


class MarkerScene:
    """Takes in messages of `markers` and `/tf`, in any thread, and gives models and poses."""

    def __init__(self) -> None:
        self._changes = 0
        self._meshes = PageSurfaces()
        self._lock = threading.Lock()
        self._markers: dict[Key, _Marker] = {}
        self._poses: dict[Key, Vector] = {}
        self._layouts: list[_Layout] = []
        self._frames: dict[str, Vector] = {}
        self._parents: dict[str, str] = {}
        self._surfaces: dict[Key, Surface] = {}
        self._order: list[Key] = []
        self._soft: dict[Key, _Marker] = {}
        self._wires: dict[Key, _Marker] = {}

    @property
    def number(self) -> int:
        """Changes when what is to be drawn does."""
        return self._changes + self._meshes.number

    @property
    def needs_frames(self) -> bool:
        """Whether some markers move by /tf."""
        with self._lock:
            return any(marker.frame for marker in self._markers.values())

    def clear(self) -> None:
        """The node is gone."""
        with self._lock:
            self._markers.clear()
            self._soft.clear()
            self._wires.clear()
            self._poses.clear()
            self._layouts.clear()
            self._changes += 1

    # ---- messages ----

    def take_markers(self, message: bytes) -> None:
        """A serialised visualization_msgs/MarkerArray."""
        data = np.frombuffer(message, np.uint8)
        with self._lock:
            for layout in self._layouts:
                if layout.fits(data):
                    poses = data[layout.places[:, None] + np.arange(56)].view(np.float64)
                    self._poses.update(zip(layout.keys, poses, strict=True))
                    return
            self._read(message, data)

    def _read(self, message: bytes, data: NDArray[np.uint8]) -> None:
        reader = CdrReader(message)
        count = reader.count()
        layout = _Layout(np.ones(len(data), bool), data.copy(), np.zeros(0, np.int64))
        places = []
        for _ in range(count):
            reader._align(4)
            layout.fixed[reader.at : reader.at + 8] = False  # the stamp
            marker, action, place = _read_marker(reader)
            if action == DELETE_ALL:
                self._markers.clear()
                self._soft.clear()
                self._wires.clear()
            elif action == DELETE:
                self._wires.pop(marker.key, None)
                gone = self._markers.pop(marker.key, None), self._soft.pop(marker.key, None)
                self._changes += gone != (None, None)
            elif marker.key[0] in SOFT_KINDS:
                self._take_soft(marker)
            elif marker.kind == LINE_LIST:
                self._wires[marker.key] = marker
            else:
                layout.fixed[place : place + 56] = False
                layout.keys.append(marker.key)
                places.append(place)
                self._poses[marker.key] = np.frombuffer(message, np.float64, 7, place).copy()
                if not marker.same_as(self._markers.get(marker.key)):
                    self._markers[marker.key] = marker
                    self._surfaces.pop(marker.key, None)
                    self._changes += 1
        layout.places = np.array(places, np.int64)
        if len(layout.keys) == count and count:  # nothing was deleted: it will come again
            self._layouts = [layout, *self._layouts[: _MOST_LAYOUTS - 1]]

    def _take_soft(self, marker: _Marker) -> None:
        before = self._soft.get(marker.key)
        self._soft[marker.key] = marker
        # A new look, or triangles more or less: what is drawn changes, not only where.
        same = before is not None and before._looks() == marker._looks()
        surface = marker.kind == TRIANGLE_LIST
        if not same or (surface and before is not None and len(before.points) != len(marker.points)):
            self._changes += 1

    def take_frames(self, message: bytes) -> None:
        """A serialised tf2_msgs/TFMessage."""
        reader = CdrReader(message)
        with self._lock:
            for _ in range(reader.count()):
                parent, child = reader.stamp_and_frame(), reader.text()
                self._frames[child], self._parents[child] = reader.doubles(7), parent

    # ---- the scene ----

    def model(self, static: Container[str]) -> SceneModel:
        """Every marker is a frame; those of an object lie side by side. `static`: names of what does not move."""
        with self._lock:
            groups: dict[str, list[_Marker]] = {}
            for marker in self._markers.values():
                groups.setdefault(marker.name, []).append(marker)
            items, self._order, misses = [], [], self._meshes.misses
            for name, markers in groups.items():
                items.append(self._item(name, markers, len(self._order), name not in static))
                self._order += [marker.key for marker in markers]
            for name, markers in self._soft_groups().items():
                first = markers[0]
                items.append(Item(name, first.key[0], False, [], (name,), len(self._order), soft=_look(first)))
                self._order.append(first.key)
            return SceneModel(items, len(self._order), self._meshes.misses == misses)

    def _soft_groups(self) -> dict[str, list[_Marker]]:
        groups: dict[str, list[_Marker]] = {}
        for marker in self._soft.values():
            groups.setdefault(marker.name, []).append(marker)
        return groups

    def soft_shapes(self) -> dict[str, SoftShape]:
        """Particles of all objects that are made of them."""
        with self._lock:
            shapes = {}
            for name, markers in self._soft_groups().items():
                points = np.concatenate([marker.points for marker in markers]).astype(np.float32)
                radii = [np.full(len(one.points), 0.5 * one.scale[0]) for one in markers if one.kind == SPHERE_LIST]
                shapes[name] = SoftShape(points, np.concatenate([np.zeros(0), *radii]).astype(np.float32))
            return shapes

    def wires(self) -> DrawnWires:
        """All wires, as the node draws them."""
        with self._lock:
            lines = [one for one in self._wires.values() if len(one.points) == 2]
            ends = np.array([one.points for one in lines]).reshape(-1, 2, 3)
            colors = np.array([one.rgba[:3] for one in lines]).reshape(-1, 3)
            return DrawnWires(ends, np.array([one.scale[0] for one in lines]), colors)

    def _item(self, name: str, markers: list[_Marker], first: int, movable: bool) -> Item:
        kind = markers[0].key[0]
        names = tuple(f"{name}/{number}" for number in range(len(markers)))
        if kind == GROUND_KIND:
            key = markers[0].key
            height = float(self._poses[key][2]) + 0.5 * markers[0].scale[2]
            red, green, blue, _ = markers[0].rgba
            own = None if np.allclose(markers[0].rgba[:3], _PLAIN_TERRAIN) else (red, green, blue)
            return Item(name, kind, False, [], names, first, height, own)
        parts = [part for number, marker in enumerate(markers) for part in self._parts(marker, first + number)]
        return Item(name, kind, movable, parts, names, first)

    def _parts(self, marker: _Marker, frame: int) -> list[Part]:
        x, y, z = marker.scale
        color, opacity = (marker.rgba[0], marker.rgba[1], marker.rgba[2]), marker.rgba[3]
        if marker.kind == SPHERE:
            surface, scale = surfaces.unit("ball"), (x, y, z)
        elif marker.kind == CUBE:
            surface, scale = surfaces.unit("block"), (x, y, z)
        elif marker.kind == CYLINDER:
            surface, scale = surfaces.unit("rod"), (x, y, z)
        elif marker.kind == TRIANGLE_LIST:
            if marker.key not in self._surfaces:
                terrain = marker.key[0] == "heightmap"
                if terrain and np.allclose(color, _PLAIN_TERRAIN):
                    self._surfaces[marker.key] = surfaces.terrain_surface(marker.points)
                else:
                    self._surfaces[marker.key] = surfaces.triangle_surface(marker.points, not terrain)
            surface, scale = self._surfaces[marker.key], (x, y, z)
        elif marker.kind == MESH_RESOURCE:
            file = unquote(urlparse(marker.mesh).path)
            found = self._meshes.of_file(file, marker.embedded, alone=not marker.link)
            if found is None:
                return []
            surface, scale = found, (x, y, z)
        else:
            return []
        return [Part(surface, frame, scale=scale, color=color, opacity=opacity)]

    def first_frame(self, name: str) -> int | None:
        """Where the frames of an object begin in the last model; None when it is gone."""
        with self._lock:
            for number, key in enumerate(self._order):
                if key in self._markers and self._markers[key].name == name:
                    return number
            return None

    def object_of_frame(self, frame: str) -> str:
        """The object whose frame is called so, whatever stands before its name; or nothing."""
        with self._lock:
            names = {marker.name for marker in (*self._markers.values(), *self._soft.values())}
            return max((name for name in names if frame.endswith(name)), key=len, default="")

    def link_at(self, frame: int) -> str:
        """The link of a robot that a frame of the last model belongs to, or nothing."""
        with self._lock:
            marker = self._markers.get(self._order[frame]) if frame < len(self._order) else None
            return "" if marker is None else marker.link

    def link_pose(self, name: str, link: str) -> Vector | None:
        """Pose of a robot's link in the world; the root's is that of the robot. None when /tf does not tell it."""
        with self._lock:
            own = self._frame_of(name)
            frame = f"{own}/{link}" if f"{own}/{link}" in self._frames else own
        return self.frame_pose(frame or "")

    def _frame_of(self, name: str) -> str | None:
        """The frame of an object: all have the same prefix, so of those that end like its name it is the shortest."""
        if name in self._frames:
            return name
        return min((frame for frame in self._frames if frame.endswith(name)), key=len, default=None)

    def kind_of(self, name: str) -> str:
        """What an object is; empty when it is gone."""
        with self._lock:
            return next((key[0] for key, marker in self._markers.items() if marker.name == name), "")

    def frame_pose(self, name: str) -> Vector | None:
        """Pose of a frame of /tf in the world, through its parents; None when it is not known."""
        with self._lock:
            pose, left = self._frames.get(name), 100
            parent = self._parents.get(name, "")
            while pose is not None and parent in self._frames and left:
                pose, parent, left = compose(self._frames[parent], pose), self._parents.get(parent, ""), left - 1
            return pose

    def poses(self) -> Vector:
        """Poses of all frames of the last model, world frame."""
        with self._lock:
            rows = np.tile(IDENTITY, (len(self._order), 1))
            for number, key in enumerate(self._order):
                marker = self._markers.get(key)
                if key in self._soft and len(self._soft[key].points):
                    rows[number, :3] = self._soft[key].points.mean(axis=0)
                if marker is None:
                    continue
                rows[number] = self._poses[key]
                if marker.frame and marker.frame in self._frames:
                    rows[number] = compose(self._frames[marker.frame], rows[number])
            return rows


def _look(marker: _Marker) -> SoftLook:
    count = len(marker.points)
    triangles = np.arange(count, dtype=np.uint32).reshape(-1, 3) if marker.kind == TRIANGLE_LIST else None
    return SoftLook(triangles, (marker.rgba[0], marker.rgba[1], marker.rgba[2]), marker.rgba[3])


def _read_marker(reader: CdrReader) -> tuple[_Marker, int, int]:
    """A marker, what to do with it, and where its pose lies."""
    frame = reader.stamp_and_frame()
    space, number, kind, action = reader.text(), reader.integer(), reader.integer(), reader.integer()
    place = reader.place_of_doubles(7)
    x, y, z = reader.doubles(3)
    rgba = reader.floats(4)
    reader.skip(4, 2)  # lifetime
    locked = reader.boolean()
    points = reader.rows_of_doubles(3)
    reader.skip(16, reader.count())  # colors
    reader.text()  # texture_resource
    reader.stamp_and_frame()  # texture
    reader.text()
    reader.skip(1, reader.count())
    reader.skip(8, reader.count())  # uv_coordinates
    (name, _, link), mesh = reader.text().partition("\n"), reader.text()
    reader.text()  # mesh_file
    reader.skip(1, reader.count())
    embedded = reader.boolean()
    key = (space, number)
    own_frame = frame if locked else ""
    scale = (float(x), float(y), float(z))
    name = name or f"{space}_{number}"
    marker = _Marker(key, name, kind, scale, rgba, own_frame, points, mesh, embedded, link)
    return marker, action, place
