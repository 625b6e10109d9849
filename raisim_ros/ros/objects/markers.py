"""`markers`: what the objects look like, for rviz2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import Vector3
from std_msgs.msg import ColorRGBA, Header
from visualization_msgs.msg import Marker, MarkerArray

from raisim_ros.description import shapes
from raisim_ros.description.appearance import HIDDEN, Colour
from raisim_ros.description.robot.kinematic_tree import TreeCollision, TreeVisual
from raisim_ros.description.shapes import ShapeType
from raisim_ros.description.solids import SOLIDS
from raisim_ros.description.world.scene_types import LightSettings
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.scene_handles import LightObject, ViewCamera
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.surface_handles import HeightMap, Mesh
from raisim_ros.engine.types import ArticulationBuffer, CollisionBody, StateBuffer
from raisim_ros.engine.world.looks import child_look, colored_file, link_look, object_look
from raisim_ros.msg import ObjectState
from raisim_ros.ros.conversions import Vector, compose_xyzw
from raisim_ros.ros.frozen_message import FrozenElement, FrozenSequence
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.frames import FrameNames
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.objects.triangles import frustum_triangles, height_map_triangles
from raisim_ros.ros.pacing import NEVER, WallTimer
from raisim_ros.ros.robots.link_frames import pose_of

# A half-space has no end; this much of it is drawn [m].
GROUND_SIZE, GROUND_THICKNESS = 100.0, 0.02
# Lights and cameras have no size of their own; they are drawn so large [m].
LAMP_SIZE, CAMERA_LENGTH = 0.1, 0.3
# Shapes with more points than this are sent once and moved by /tf, not repeated at every new pose.
MAX_MOVING_POINTS = 300
# So many messages repeat deletions and what came to rest: a slow viewer that misses one still gets it.
REPEATS = 5
# Solids that rviz2 has a marker for.
OWN_MARKERS = {"ball": Marker.SPHERE, "block": Marker.CUBE, "rod": Marker.CYLINDER, "tube": Marker.CYLINDER}
# In place of a body's index: the object as a whole.
OBJECT = -1


@dataclass(frozen=True)
class Part:
    """One marker of an object and its pose (x y z qx qy qz qw) in the frame of the object, or of a robot's body."""

    kind: int
    scale: tuple[float, float, float]
    pose: Vector
    points: Vector | None = None  # corners of triangles, N x 3
    mesh: str = ""  # address of a file that the viewer reads
    embedded: bool = False  # its own colours count
    body: int = OBJECT  # index of a robot's body
    rgba: Colour | None = None  # None: that of the object
    link: str = ""  # of a robot


def _pose(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Vector:
    return np.array([x, y, z, 0.0, 0.0, 0.0, 1.0])


def triangles(points: Vector, pose: Vector | None = None) -> Part:
    """A part made of triangles, three points (N x 3) for each."""
    return Part(Marker.TRIANGLE_LIST, (1.0, 1.0, 1.0), _pose() if pose is None else pose, points)


def shape_parts(shape: ShapeType, dim: Vector) -> list[Part]:
    """The markers that draw a shape, in the shape's frame."""
    if shape == ShapeType.HALF_SPACE:
        size = (GROUND_SIZE, GROUND_SIZE, GROUND_THICKNESS)
        return [Part(Marker.CUBE, size, _pose(z=-0.5 * GROUND_THICKNESS))]
    return [_piece_part(piece) for piece in shapes.pieces(shape.name.lower(), dim)]


def _piece_part(piece: shapes.Piece) -> Part:
    if piece.solid in OWN_MARKERS:
        return Part(OWN_MARKERS[piece.solid], piece.size, _pose(z=piece.z))
    vertices, corners = SOLIDS[piece.solid]()
    return triangles(vertices[corners].reshape(-1, 3) * piece.size, _pose(z=piece.z))


def body_parts(handle: Object, body: CollisionBody) -> list[Part]:
    """The markers that draw a collision body, in the frame of its object."""
    w, x, y, z = body.quaternion
    placed, rgba = np.array([*body.position, x, y, z, w]), child_look(handle, body)
    parts = shape_parts(body.shape, body.dim)
    return [replace(part, pose=compose_xyzw(placed, part.pose), rgba=rgba) for part in parts]


def _link_parts(
    robot: ArticulatedSystem, body: int, link: str, shape: TreeVisual | TreeCollision
) -> list[Part]:
    """The markers that draw one shape of a robot's body. Meshes are left to the viewer: robots have large ones."""
    rgba, from_file = link_look(robot, shape, seen=True)
    if shape.mesh_file is not None:
        parts = [_file_part(shape.mesh_file, shape.scale, from_file)]
    else:
        parts = shape_parts(ShapeType[shape.shape.upper()], np.asarray(shape.dim))
    placed = pose_of(shape.position, shape.rotation)
    return [replace(part, pose=compose_xyzw(placed, part.pose), body=body, link=link, rgba=rgba) for part in parts]


def _file_part(file: str | Path, scale: Vector, embedded: bool) -> Part:
    x, y, z = (float(value) for value in scale)
    return Part(Marker.MESH_RESOURCE, (x, y, z), _pose(), mesh=Path(file).absolute().as_uri(), embedded=embedded)


def robot_parts(robot: ArticulatedSystem) -> list[Part]:
    """The markers that draw a robot: what its description wants to be seen, or else what collides."""
    tree = robot.get_kinematic_tree()
    visible = any(body.visuals for body in tree.bodies)
    return [
        part
        for index, body in enumerate(tree.bodies)
        for shape in (body.visuals if visible else body.collisions)
        for part in _link_parts(robot, index, body.name, shape)
    ]


def light_parts(settings: LightSettings) -> list[Part]:
    """A lamp, and an arrow along -z unless it shines all around."""
    rgba = (settings.color[0], settings.color[1], settings.color[2], 1.0)
    lamp = Part(Marker.SPHERE, (LAMP_SIZE, LAMP_SIZE, LAMP_SIZE), _pose(), rgba=rgba)
    if settings.kind == "point":
        return [lamp]
    down = np.array([0.0, 0.0, 0.0, 0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5)])  # arrows point along x
    return [lamp, Part(Marker.ARROW, (4.0 * LAMP_SIZE, 0.3 * LAMP_SIZE, 0.6 * LAMP_SIZE), down, rgba=rgba)]


def object_parts(entry: ObjectRow) -> list[Part]:
    """The markers that draw an object; none when it is hidden."""
    handle = entry.handle
    if handle.get_appearance() == HIDDEN:
        return []
    if isinstance(handle, ArticulatedSystem):
        return robot_parts(handle)
    if isinstance(handle, Mesh):
        file = colored_file(handle)
        if file:
            return [_file_part(file, handle.get_scale(), embedded=True)]
        mesh = handle.get_mesh()
        return [triangles(mesh.vertices[mesh.triangles].reshape(-1, 3))]
    if isinstance(handle, HeightMap):
        return [triangles(height_map_triangles(handle.get_data()))]
    if isinstance(handle, LightObject):
        return light_parts(handle.get_settings())
    if isinstance(handle, SoftObject):
        return []  # see SoftMarkers
    if isinstance(handle, ViewCamera):
        return [triangles(frustum_triangles(handle.get_settings().horizontal_fov, CAMERA_LENGTH))]
    return [part for body in handle.get_collision_body_list() for part in body_parts(handle, body)]


@dataclass(frozen=True)
class _Drawn:
    """The frozen markers of one object.

    `poses` are in the frame of the object or, where `bodies` names one, of that body of a robot. A `locked` object has
    many points; its markers are given in its own frame once, and the viewer moves them by /tf.
    """

    id: int
    elements: list[FrozenElement]
    deletions: list[FrozenElement]
    poses: Vector
    bodies: list[int]
    static: bool
    locked: bool

    @property
    def quiet(self) -> bool:
        """Whether its markers need to be sent only when something changes."""
        return self.static or self.locked


class _MarkerGroup:
    """Some of the objects, drawn by one message."""

    def __init__(self, publisher: Any) -> None:
        self._publisher = publisher
        self._deletions: list[tuple[FrozenElement, int]] = []  # and how often it must still be sent
        self._rows = np.zeros(0, np.int64)
        self._poses = np.zeros((0, 7))
        self._elements: list[FrozenElement] = []
        self._message: FrozenSequence | None = None

    @property
    def watched(self) -> bool:
        return bool(self._publisher.get_subscription_count())

    def rebuild(
        self, members: list[tuple[int, _Drawn]], deleted: list[FrozenElement], robots: ArticulationBuffer, objects: int
    ) -> None:
        """`members` with their rows in the list of `objects`."""
        # Among the frames of publish(), the first is the one that a locked marker is given in.
        rows = []
        for row, drawn in members:
            for body in drawn.bodies:
                place = 1 + row if body == OBJECT else 1 + objects + robots.link_first[drawn.id] + body
                rows.append(0 if drawn.locked else place)
        self._rows = np.array(rows, np.int64)
        self._elements = [element for _, drawn in members for element in drawn.elements]
        self._poses = np.concatenate([np.zeros((0, 7)), *(drawn.poses for _, drawn in members)])
        self._deletions += [(element, REPEATS) for element in deleted]
        self._message = None

    def publish(self, moment: Moment, states: StateBuffer, robots: ArticulationBuffer) -> None:
        if not self._elements and not self._deletions:
            return
        count = len(self._elements)
        if self._message is None:
            deletions = [element for element, _ in self._deletions]
            self._message = FrozenSequence(MarkerArray(), self._elements + deletions)
            self._all_poses = np.zeros((count + len(deletions), 7))
            self._all_poses[:, 6] = 1.0
        frames = np.vstack((_pose(), states.poses, robots.link_poses))
        self._all_poses[:count] = compose_xyzw(frames[self._rows], self._poses)
        self._message.write_stamp(moment.stamp)
        self._message.write("pose.position.x", "pose.orientation.w", self._all_poses)
        self._publisher.publish(self._message.to_bytes())
        if self._deletions:
            self._deletions = [(element, left - 1) for element, left in self._deletions if left > 1]
            self._message = None


class MarkerTopics:
    """Draws the objects, at a rate in Hz of wall time: only people look at them.

    Static objects go out when they change and wait for late viewers; everything else is repeated with new
    poses. Both use the topic `markers`, through a publisher each.
    """

    def __init__(
        self,
        frames: FrameNames,
        read_articulations: Callable[[], ArticulationBuffer],
        tf: bool,
        rate_hz: float,
        publisher: Any,
        static_publisher: Any,
    ) -> None:
        """`tf`: the frames of the objects are published."""
        self._frames = frames
        self._read_articulations = read_articulations
        self._tf = tf
        self.timer = WallTimer(rate_hz)
        self._moving = _MarkerGroup(publisher)
        self._static = _MarkerGroup(static_publisher)
        self._drawn: dict[int, _Drawn] = {}
        self._rows: list[ObjectRow] = []
        self._drawn_rows = True
        self._static_repeats = 0
        self._next_marker_id = 0

    def resend_static(self) -> None:
        """A viewer came that may not have asked for the waiting message: send the static objects again."""
        self._static_repeats = max(self._static_repeats, 1)

    def rebuild(self, rows: list[ObjectRow], time_step: float) -> None:
        """Takes over a new list of objects."""
        self._rows = rows
        self._drawn_rows = False

    def _draw_rows(self) -> None:
        """Draws what came since the last message, and deletes what that one still shows."""
        before, self._drawn = self._drawn, {}
        for entry in self._rows:
            self._drawn[entry.id] = before.pop(entry.id) if entry.id in before else self._draw(entry)
        robots = self._read_articulations()
        for group, quiet in ((self._moving, False), (self._static, True)):
            members = [
                (row, self._drawn[entry.id])
                for row, entry in enumerate(self._rows)
                if self._drawn[entry.id].quiet == quiet
            ]
            gone = [drawn for drawn in before.values() if drawn.quiet == quiet]
            deletions = [element for drawn in gone for element in drawn.deletions]
            group.rebuild(members, deletions, robots, len(self._rows))
        self._static_repeats = REPEATS
        self._drawn_rows = True

    def _draw(self, entry: ObjectRow) -> _Drawn:
        parts = object_parts(entry)
        points = sum(len(part.points) for part in parts if part.points is not None)
        locked = points > MAX_MOVING_POINTS and self._tf and entry.interface.publish_tf in ("all", "base")
        frame = self._frames.of(entry.name) if locked else self._frames.world
        markers = [self._marker(entry, part, frame) for part in parts]
        elements = [FrozenElement(marker, MarkerArray, "markers") for marker in markers]
        for element, part in zip(elements, parts, strict=True):
            if part.points is not None:
                element.fill("points", part.points, len(part.points))
        deletions = [
            Marker(header=marker.header, ns=marker.ns, id=marker.id, action=Marker.DELETE) for marker in markers
        ]
        return _Drawn(
            entry.id,
            elements,
            [FrozenElement(marker, MarkerArray, "markers") for marker in deletions],
            np.array([part.pose for part in parts]).reshape(-1, 7),
            [part.body for part in parts],
            entry.body_type == ObjectState.STATIC,
            locked,
        )

    def _marker(self, entry: ObjectRow, part: Part, frame: str) -> Marker:
        # Never used twice: the deletion of an object must not hit a later one of the same name.
        self._next_marker_id = (self._next_marker_id + 1) % 2**31
        rgba = part.rgba or object_look(entry.handle)
        red, green, blue, alpha = (float(value) for value in rgba)
        return Marker(
            header=Header(frame_id=frame),
            ns=entry.type,
            id=self._next_marker_id,
            type=part.kind,
            action=Marker.ADD,
            scale=Vector3(x=part.scale[0], y=part.scale[1], z=part.scale[2]),
            color=ColorRGBA(r=red, g=green, b=blue, a=alpha),
            frame_locked=frame != self._frames.world,
            text=f"{entry.name}\n{part.link}" if part.link else entry.name,  # rviz2 draws it only for markers of text
            mesh_resource=part.mesh,
            mesh_use_embedded_materials=part.embedded,
        )

    def steps_until_due(self, step: int) -> int:
        """Markers follow wall time."""
        return NEVER

    def due(self, moment: Moment) -> bool:
        """Whether the markers' time has come and somebody looks at them."""
        return self._moving.watched and (moment.everything or self.timer.due())

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes all moving markers, and the static ones after a change."""
        if not self._drawn_rows:
            self._draw_rows()
        robots = self._read_articulations()
        if self._static_repeats:
            self._static_repeats -= 1
            self._static.publish(moment, states, robots)
        self._moving.publish(moment, states, robots)
