"""What a viewer draws, as plain data: parts that move with frames, and the numbers of one moment.

World frame, SI units. A pose is x y z qx qy qz qw. Nothing here knows where the data come from.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description import shapes

Vector = NDArray[np.float64]
Rgb = tuple[float, float, float]

# What a part is: to be seen, what collides, or a box with the mass and inertia of a body.
VISUAL, COLLISION, INERTIA = "visual", "collision", "inertia"
# What Item.kind of a robot is.
ROBOT_KIND = "articulated_system"
# What is new and takes less than this share of the picture is looked at from nearer, so that it takes the other one.
SMALLEST_SEEN, SMALLEST_SHOWN = 0.1, 0.25
IDENTITY = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in a frame of their own [m]; parts that share a surface are drawn together.

    `glb` is a binary glTF file of the same surface, for those that bring their own colours and textures.
    """

    vertices: NDArray[np.float32]
    triangles: NDArray[np.uint32]
    flat: bool = False  # every triangle has one shade
    glb: bytes | None = None

    def bounds(self) -> tuple[Vector, Vector]:
        """Lowest and highest corner of the box around it."""
        return _bounds(self)


    def outline(self) -> Vector:
        """The vertices that lie farthest out in 26 directions: what boxes around it, however it is turned, need."""
        return _outline(self)


# Towards the faces, edges and corners of a cube.
_DIRECTIONS = np.array([[x, y, z] for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if x or y or z], float)


@lru_cache(maxsize=4096)
def _outline(surface: Surface) -> Vector:
    vertices = surface.vertices.astype(float)
    return vertices[[int((vertices @ one).argmax()) for one in _DIRECTIONS]]


@lru_cache(maxsize=4096)
def _bounds(surface: Surface) -> tuple[Vector, Vector]:
    return surface.vertices.min(axis=0).astype(float), surface.vertices.max(axis=0).astype(float)


@dataclass(frozen=True, eq=False)
class Part:
    """A surface that moves with a frame."""

    surface: Surface
    frame: int  # row of the poses of a Moment
    pose: Vector = field(default_factory=IDENTITY.copy)  # in that frame
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)
    color: Rgb = (0.7, 0.7, 0.7)
    opacity: float = 1.0
    layer: str = VISUAL


@dataclass(frozen=True)
class Joint:
    """A joint with one coordinate; `position` is where it, or its target, is now [rad, m]."""

    name: str
    lower: float
    upper: float
    position: float


@dataclass(frozen=True, eq=False)
class SoftLook:
    """How an object made of particles looks: a surface of triangles, or balls."""

    triangles: NDArray[np.uint32] | None
    color: Rgb
    opacity: float = 1.0


@dataclass(frozen=True, eq=False)
class SoftShape:
    """Where the particles of an object are, N x 3, world frame [m]; of balls also the radii [m]."""

    points: NDArray[np.float32]
    radii: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Item:
    """An object of the world. Its bodies are the frames `first_frame`, `first_frame` + 1, …"""

    name: str
    kind: str
    movable: bool  # forces and poses may be given to it
    parts: list[Part]
    bodies: tuple[str, ...]
    first_frame: int
    ground_height: float | None = None  # of an endless plane [m]
    ground_color: Rgb | None = None  # None: the viewer's own
    soft: SoftLook | None = None  # of an object made of particles


@dataclass(frozen=True, eq=False)
class SceneModel:
    """Everything that changes only when objects come, go or change their looks."""

    items: list[Item]
    frames: int
    complete: bool = True  # no surface is still being read


@dataclass(frozen=True, eq=False)
class DrawnWires:
    """Straight lines between two points each, N x 2 x 3 [m]; `widths` N [m], `colors` N x 3 (0 to 1)."""

    ends: Vector = field(default_factory=lambda: np.zeros((0, 2, 3)))
    widths: Vector = field(default_factory=lambda: np.zeros(0))
    colors: Vector = field(default_factory=lambda: np.zeros((0, 3)))

    def __len__(self) -> int:
        return len(self.ends)


@dataclass(frozen=True, eq=False)
class Moment:
    """The scene at one time; arrays belong to whoever gets it. `number` is that of the model that it fits.

    `contacts`: points, N x 3 [m]; `forces` on the first object of each, N x 3 [N]. `points`: what lidars and depth
    cameras see, N x 3. `images`: what cameras see, by name.
    """

    time: float
    poses: Vector  # frames x 7
    paused: bool = False
    real_time_factor: float = 0.0
    contacts: Vector = field(default_factory=lambda: np.zeros((0, 3)))
    forces: Vector = field(default_factory=lambda: np.zeros((0, 3)))
    wires: DrawnWires = field(default_factory=DrawnWires)
    points: Vector = field(default_factory=lambda: np.zeros((0, 3)))
    images: dict[str, NDArray[np.uint8]] = field(default_factory=dict)
    centres: Vector = field(default_factory=lambda: np.zeros((0, 3)))  # of mass, when asked for
    profile: dict[str, float] = field(default_factory=dict)  # stage of the step -> microseconds
    soft: dict[str, SoftShape] = field(default_factory=dict)  # by the names of items
    number: Hashable = 0


@dataclass(frozen=True)
class Wanted:
    """What a moment shall hold besides the poses: nobody computes what nobody looks at."""

    contacts: bool = False
    points: bool = False
    images: bool = False
    centres: bool = False
    profile: bool = False
    layers: bool = False  # besides VISUAL


# What can be plotted of an object: groups that share a unit, and in each the numbers by label.
Quantities = dict[str, dict[str, float]]


# What the base of a robot may be.
AUTO, FIXED, FLOATING = BASES = ("auto", "fixed", "floating")


@dataclass(frozen=True, eq=False)
class Stance:
    """How a robot stands at the origin, its lowest point at height 0.

    `coordinates`, gains as the engine orders them; `low`, `high`: the box around what collides [m].
    """

    base: str  # FIXED or FLOATING
    coordinates: Vector
    height: float  # of the base [m]
    p_gains: Vector
    d_gains: Vector
    low: Vector
    high: Vector
    state: str = ""  # that the file names so, with the controls of its motors

    def limp(self) -> Stance:
        """The same pose without gains."""
        return replace(self, p_gains=np.zeros_like(self.p_gains), d_gains=np.zeros_like(self.d_gains))


@dataclass(frozen=True)
class NewObject:
    """An object to be added: a primitive of `size` (see `SHAPES`), or a file of a robot or mesh.

    `position`: of its origin, or with a `stance` the place of the ground where it stands [m].
    """

    name: str
    shape: str
    size: tuple[float, ...] = ()
    mass: float = 1.0
    position: tuple[float, float, float] = (0.0, 0.0, 1.0)
    appearance: str = ""
    material: str = "default"
    file: str = ""
    stance: Stance | None = None


# What the numbers of NewObject.size mean.
SHAPES: dict[str, tuple[str, ...]] = {shape.name: shape.fields for shape in shapes.SHAPES.values()}


@dataclass(frozen=True)
class View:
    """Where a picture is taken from and what is in its middle [m]; the full horizontal angle [rad]."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float] = (0.0, 0.0, 0.0)
    horizontal_fov: float = 0.9


# From the middle of what is seen at first to where the camera is, per metre of its reach; and what is left free around.
FROM, MARGIN = np.array([1.6, -1.9, 0.9]), 1.06
# Of up to so many things all are in the first view, of more only where most are.
FEW = 8
# But not what is so many times as far away as half of them: it rolled or drove off.
LOST = 10.0


def fitting_view(model: SceneModel, poses: Vector) -> View:
    """A view of what somebody may want to see: what moves, and what is made of several parts; of few things, too,
    what they stand on or lie between, unless that is larger than all of them: a landscape, a hall.

    Of many things a few that are far away do not count.
    """
    things = [one for one in model.items if one.kind != "light"]
    items = [one for one in things if one.soft is not None or (one.parts and (one.movable or len(one.parts) > 1))]
    if not items:
        return View((4.0, -4.0, 2.5))
    boxes = boxes_of(items, poses)
    places, sizes = boxes.mean(axis=1), 0.5 * np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)
    centre = np.median(places, axis=0)
    if len(items) <= FEW:
        distances = np.linalg.norm(places - centre, axis=1) + sizes
        near = boxes[distances <= LOST * np.median(distances)]
        low, high = near[:, 0].min(axis=0), near[:, 1].max(axis=0)
        low, high = _with_neighbours(low, high, boxes_of([one for one in things if one.parts], poses))
        centre, reach = 0.5 * (low + high), float(np.clip(_fitting_reach(high - low), 0.15, 40.0))
    else:
        centre[2] = min(centre[2], float(np.percentile(places[:, 2], 25)) + 0.5)
        distances = np.linalg.norm(places - centre, axis=1) + sizes
        reach = float(np.clip(1.7 * np.percentile(distances, 45), 0.3, 40.0))
    x, y, z = centre + reach * FROM
    return View((float(x), float(y), float(z)), (float(centre[0]), float(centre[1]), float(centre[2])))


def _with_neighbours(low: Vector, high: Vector, boxes: Vector) -> tuple[Vector, Vector]:
    """A box and those whose middle lies over, in or under it, and that are not larger."""
    middles, sizes = boxes[:, :, :2].mean(axis=1), np.linalg.norm(boxes[:, 1] - boxes[:, 0], axis=1)
    inside = np.all((low[:2] <= middles) & (middles <= high[:2]), axis=1)
    near = boxes[inside & (sizes <= np.linalg.norm(high - low))]
    return np.min([low, *near[:, 0]], axis=0), np.max([high, *near[:, 1]], axis=0)


def _fitting_reach(size: Vector) -> float:
    """For a picture of 16 : 9 that has all of a box in it."""
    ahead = -FROM / np.linalg.norm(FROM)
    right = np.cross(ahead, (0.0, 0.0, 1.0)) / np.hypot(ahead[0], ahead[1])
    corners = size * [[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]
    wide = float(np.tan(0.5 * View.horizontal_fov))
    aside = np.maximum(np.abs(corners @ right) / wide, np.abs(corners @ np.cross(right, ahead)) / (9.0 / 16.0 * wide))
    return MARGIN * float((aside - corners @ ahead).max() / np.linalg.norm(FROM))


def first_view(
    model: SceneModel, poses: Vector, viewpoint: tuple[str, tuple[float, ...]] | None
) -> tuple[View, Item | None]:
    """What is seen at first: as the world says (the object in the middle, and where the camera is from there), or so
    that all is seen; and the object that the camera follows."""
    if viewpoint is None or not any(viewpoint[1]):
        return fitting_view(model, poses), None
    followed = next((item for item in model.items if item.name == viewpoint[0]), None)
    x, y, z = (0.0, 0.0, 0.0) if followed is None else poses[followed.first_frame, :3].tolist()
    right, back, up = viewpoint[1]
    return View((x + right, y + back, z + up), (x, y, z)), followed


def view_with(box: Vector, view: View, angle: float, closer: bool = False) -> View | None:
    """A view in the same direction that has all of a box in it; None: this one has. `angle`: the full one [rad].

    `closer`: nor is what one can hardly see from there small in it.
    """
    centre, radius = box.mean(axis=0), 0.5 * float(np.linalg.norm(box[1] - box[0]))
    eye, middle = np.array(view.position), np.array(view.look_at)
    arm = eye - middle
    far = float(np.linalg.norm(arm))
    way = centre - eye
    ahead = float(-way @ arm) / max(far, 1e-9)
    aside = float(np.linalg.norm(way + ahead * arm / max(far, 1e-9)))
    half = float(np.tan(0.5 * angle))  # of the picture, a metre ahead
    small = closer and 0.0 < radius < SMALLEST_SEEN * ahead * half
    if ahead > 0.0 and aside + radius < ahead * half and not small:
        return None
    distance = max(far, 1.1 * radius / float(np.sin(0.5 * angle)))
    if closer and 0.0 < radius < SMALLEST_SEEN * distance * half:
        distance = radius / (SMALLEST_SHOWN * half)
    x, y, z = (centre + arm / max(far, 1e-9) * distance).tolist()
    return View((x, y, z), (float(centre[0]), float(centre[1]), float(centre[2])), view.horizontal_fov)


def boxes_of(items: list[Item], poses: Vector) -> Vector:
    """Lowest and highest corners of the boxes around what is seen of items, N x 2 x 3 [m]."""
    places = poses[[item.first_frame for item in items], :3]
    low, high = places.copy(), places.copy()
    owners = [(k, part) for k, item in enumerate(items) for part in item.parts if part.layer == VISUAL]
    owners = [(k, part) for k, part in owners if len(part.surface.vertices)]
    if not owners:
        return np.stack((low, high), axis=1)
    scales = np.array([part.scale for _, part in owners])
    local = np.array([part.surface.outline() for _, part in owners]) * scales[:, None]
    frames = compose(poses[[part.frame for _, part in owners]], np.array([part.pose for _, part in owners]))
    corners = frames[:, None, :3] + rotate(frames[:, None, 3:], local)
    rows = np.array([k for k, _ in owners])
    drawn = [k for k in np.unique(rows) if items[k].soft is None]
    low[drawn], high[drawn] = np.inf, -np.inf
    np.minimum.at(low, rows, corners.min(axis=1))
    np.maximum.at(high, rows, corners.max(axis=1))
    return np.stack((low, high), axis=1)


def compose(outer: Vector, inner: Vector) -> Vector:
    """Poses `inner`, given in the frames `outer`, in the frame of `outer`; N x 7 each, or one for all."""
    x, y, z, w = (outer[..., k] for k in range(3, 7))
    a, b, c, d = (inner[..., k] for k in range(3, 7))
    shape = np.broadcast_shapes(outer.shape, inner.shape)
    result = np.empty(shape)
    result[..., :3] = outer[..., :3] + rotate(outer[..., 3:], inner[..., :3])
    result[..., 3] = w * a + x * d + y * c - z * b
    result[..., 4] = w * b - x * c + y * d + z * a
    result[..., 5] = w * c + x * b - y * a + z * d
    result[..., 6] = w * d - x * a - y * b - z * c
    return result


def rotate(quaternion: Vector, vector: Vector) -> Vector:
    """Vectors turned by quaternions x y z w; N x 4 and N x 3, or one for all."""
    axis, w = quaternion[..., :3], quaternion[..., 3:]
    twice = 2.0 * _cross(axis, vector)
    turned: Vector = vector + w * twice + _cross(axis, twice)
    return turned


def _cross(a: Vector, b: Vector) -> Vector:
    """As numpy.cross(), which takes ten times as long for a few vectors."""
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    return np.stack((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx), axis=-1)


def to_body(pose: Vector, point: Any) -> Vector:
    """A point of the world in the frame of a pose."""
    inverse = pose[3:] * np.array([-1.0, -1.0, -1.0, 1.0])
    return rotate(inverse, np.asarray(point, float) - pose[:3])


def to_world(pose: Vector, point: Any) -> Vector:
    """A point of the frame of a pose in the world."""
    return pose[:3] + rotate(pose[3:], np.asarray(point, float))
