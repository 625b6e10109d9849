"""Geoms of MJCF files: shape, place, mass and how they collide."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from raisim_ros.description.errors import MeshError, ParseError
from raisim_ros.description.files import is_file
from raisim_ros.description.mesh.file import MeshData, convex_hull, load_mesh
from raisim_ros.description.mjcf.source import Item, MjcfSource, rotation_of_z
from raisim_ros.description.resources import resource
from raisim_ros.description.robot.model import Geometry, Place, Pose
from raisim_ros.description.rotation import Array

_TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
_SIZES = {"sphere": 1, "capsule": 2, "ellipsoid": 3, "cylinder": 2, "box": 3}
_WITH_FROMTO = ("capsule", "cylinder", "box", "ellipsoid")
_WATER = 1000.0  # kg/m³, MuJoCo's default density


@dataclass(frozen=True)
class ContactClass:
    """What decides how a geom collides: two geoms do when a contact type of one is among the other's affinities."""

    contype: int = 1
    conaffinity: int = 1

    def collides_with(self, other: ContactClass) -> bool:
        """MuJoCo's rule: one of the two directions is enough."""
        return bool(self.contype & other.conaffinity or other.contype & self.conaffinity)

    @property
    def is_inert(self) -> bool:
        """Collides with nothing, ever."""
        return self.contype == 0 and self.conaffinity == 0


@dataclass(frozen=True)
class Surface:
    """What decides how a geom rubs."""

    friction: float = 1.0
    frictionless: bool = False
    priority: int = 0

    def friction_with(self, other: Surface) -> float:
        """Coefficient of friction of a pair: the larger one, unless one of the two takes precedence."""
        if self.priority != other.priority:
            first = self if self.priority > other.priority else other
            return 0.0 if first.frictionless else first.friction
        return 0.0 if self.frictionless and other.frictionless else max(self.friction, other.friction)


@dataclass(eq=False)
class MassProperties:
    """Mass, centre of mass and inertia about it, in some frame."""

    mass: float = 0.0
    com: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))

    def placed(self, pose: Pose) -> MassProperties:
        """The same in the frame in which `pose` is given."""
        position, rotation = pose.arrays()
        return MassProperties(self.mass, position + rotation @ self.com, rotation @ self.inertia @ rotation.T)


def total_of(parts: list[MassProperties]) -> MassProperties:
    """Several parts in one frame as one."""
    mass = sum(part.mass for part in parts)
    if mass <= 0.0:
        return MassProperties()
    com = sum((part.mass * part.com for part in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        arm = part.com - com
        inertia += part.inertia + part.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return MassProperties(mass, com, inertia)


@dataclass(eq=False)
class Geom:
    """A geom in the frame of its body."""

    name: str
    type: str
    size: tuple[float, ...]  # as MJCF has them: half lengths
    pose: Pose
    geometry: Geometry | None  # None: a plane
    mass: MassProperties  # in the geom's own frame
    contact: ContactClass
    surface: Surface
    color: tuple[float, ...]
    place: Place
    group: int = 0
    open_mesh: bool = False  # its mass is that of the convex hull


class GeomReader:
    """Reads geoms; knows the file's meshes and materials."""

    def __init__(self, source: MjcfSource) -> None:
        self._source = source
        self._meshes = {self._mesh_name(item): item for item in source.items("asset") if item.tag == "mesh"}
        self._colors = {
            item.text("name"): item.numbers("rgba", 4)
            for item in source.items("asset")
            if item.tag == "material"
        }

    @staticmethod
    def _mesh_name(item: Item) -> str:
        return item.text("name") or Path(item.text("file")).stem

    def read(self, item: Item, frame: Pose) -> Geom | None:
        """The geom, with `frame` around it; None for a type that does not exist here."""
        kind = "mesh" if "mesh" in item.values and "type" not in item.values else "sphere"
        kind = item.word("type", _TYPES, kind)
        if kind in ("hfield", "sdf") or ("mesh" in item.values and kind != "mesh"):
            self._source.notes.add("geoms of type hfield and sdf, and primitives fitted to meshes")
            return None
        size, pose = self._size_and_pose(item, kind)
        geometry, unit_density = self._geometry(item, kind, size)
        return Geom(
            item.text("name"),
            kind,
            size,
            frame @ pose,
            geometry,
            _weighed(item, unit_density),
            ContactClass(item.count("contype", 1), item.count("conaffinity", 1)),
            self._surface(item),
            self._color(item),
            item.place,
            item.count("group", 0),
            geometry is not None and geometry.mesh_file is not None and not load_mesh(geometry.mesh_file).is_closed,
        )

    def _size_and_pose(self, item: Item, kind: str) -> tuple[tuple[float, ...], Pose]:
        size = item.numbers("size", 1, 3) or ()
        ends = item.numbers("fromto", 6)
        if ends is not None and kind in _WITH_FROMTO:
            start, end = np.array(ends[:3]), np.array(ends[3:])
            length = float(np.linalg.norm(end - start))
            if length < 1e-14:
                item.fail(f"attribute fromto=\"{item.text('fromto')}\"; expected two different points")
            round_shape = kind in ("capsule", "cylinder")
            size = (*size[:1], length / 2) if round_shape else (*size[:1], size[0] if size else 0.0, length / 2)
            pose = Pose((start + end) / 2, rotation_of_z((start - end) / length))
        else:
            pose = Pose(item.vector("pos", (0.0, 0.0, 0.0)), self._source.compiler.rotation(item))
        expected = _SIZES.get(kind, 0)
        if len(size) < expected or any(number <= 0.0 for number in size[:expected]):
            found = " ".join(f"{number:g}" for number in size) or "none"
            item.fail(f"a {kind} of size {found}; expected {expected} numbers greater than 0")
        return size[: expected or 3], pose

    def _geometry(self, item: Item, kind: str, size: tuple[float, ...]) -> tuple[Geometry | None, MassProperties]:
        """The shape, and its mass properties at density 1."""
        if kind == "plane":
            return None, MassProperties()
        if kind == "mesh":
            file, scale = self._mesh(item)
            return Geometry("mesh", (), str(file), scale), _mesh_mass(item, file, scale)
        if kind == "ellipsoid":
            return Geometry("mesh", (), str(resource("meshes/unit_sphere.obj")), size), _ellipsoid_mass(size)
        if kind == "sphere":
            return Geometry("sphere", size), _ellipsoid_mass(size * 3)
        if kind == "box":
            return Geometry("box", tuple(2.0 * half for half in size)), _box_mass(size)
        radius, half = size
        mass = _capsule_mass(radius, 2.0 * half) if kind == "capsule" else _cylinder_mass(radius, 2.0 * half)
        return Geometry(kind, (radius, 2.0 * half)), mass

    def _mesh(self, item: Item) -> tuple[Path, tuple[float, ...]]:
        name = item.text("mesh")
        asset = self._meshes.get(name)
        if asset is None:
            item.fail(f"mesh '{name}' does not exist; there are {', '.join(self._meshes) or 'none'}")
        if asset.text("inertia") == "shell":
            self._source.notes.add("meshes with the inertia of a shell, which count as solid")
        compiler, beside = self._source.compiler, self._source.file.parent
        given = asset.text("file").replace("\\", "/")
        if not given:
            asset.fail("no attribute 'file'; meshes written into the file are not supported")
        file = Path(Path(given).name if compiler.strip_path else given)
        # A folder that does not exist (a file moved without it) is as good as none.
        for candidate in (beside / compiler.mesh_folder / file, beside / file):
            if is_file(candidate):
                return candidate.resolve(), tuple(map(float, asset.vector("scale", (1.0, 1.0, 1.0))))
        asset.fail(f"mesh file '{beside / compiler.mesh_folder / file}' does not exist")

    def _surface(self, item: Item) -> Surface:
        friction = item.numbers("friction", 1, 3)
        sliding = 1.0 if friction is None else friction[0]
        if sliding < 0.0:
            item.fail(f"attribute friction=\"{item.text('friction')}\"; expected zero or more")
        dimensions = item.count("condim", 3)
        if dimensions > 3:
            self._source.notes.add("torsional and rolling friction (condim 4 and 6)")
        return Surface(sliding, dimensions == 1, int(item.number("priority", 0)))

    def _color(self, item: Item) -> tuple[float, ...]:
        color = item.numbers("rgba", 4)
        if color is None:
            color = self._colors.get(item.text("material"))
        return color or (0.5, 0.5, 0.5, 1.0)


# ---- mass properties ----


def _weighed(item: Item, shape: MassProperties) -> MassProperties:
    """A shape of density 1 with the mass or density of the file."""
    if shape.mass == 0.0:
        return shape
    mass = item.number("mass", item.number("density", _WATER) * shape.mass)
    if mass < 0.0:
        item.fail(f"mass is {mass:g}; expected zero or more")
    return MassProperties(mass, shape.com, shape.inertia * (mass / shape.mass))


def _box_mass(half: tuple[float, ...]) -> MassProperties:
    x, y, z = half
    mass = 8.0 * x * y * z
    return MassProperties(mass, np.zeros(3), mass / 3.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y]))


def _ellipsoid_mass(axes: tuple[float, ...]) -> MassProperties:
    a, b, c = axes
    mass = 4.0 / 3.0 * math.pi * a * b * c
    return MassProperties(mass, np.zeros(3), mass / 5.0 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b]))


def _cylinder_mass(radius: float, height: float) -> MassProperties:
    mass = math.pi * radius**2 * height
    across = mass * (3.0 * radius**2 + height**2) / 12.0
    return MassProperties(mass, np.zeros(3), np.diag([across, across, mass * radius**2 / 2.0]))


def _capsule_mass(radius: float, height: float) -> MassProperties:
    """A cylinder and two half balls, whose centres of mass are 3/8 of the radius from the cylinder's ends."""
    middle, ball = _cylinder_mass(radius, height), 4.0 / 3.0 * math.pi * radius**3
    along = 0.4 * ball * radius**2
    across = along + ball * (height**2 / 4.0 + 3.0 * height * radius / 8.0)
    return MassProperties(middle.mass + ball, np.zeros(3), middle.inertia + np.diag([across, across, along]))


def _mesh_mass(item: Item, file: Path, scale: tuple[float, ...]) -> MassProperties:
    try:
        mesh = load_mesh(file, scale)
    except MeshError as error:
        raise ParseError(item.place.source, item.place.line, f"<{item.tag}>: {error}") from error
    return solid_mass(mesh if mesh.is_closed else convex_hull(mesh))


def solid_mass(mesh: MeshData) -> MassProperties:
    """A closed mesh filled with density 1: the sum over the tetrahedra between its triangles and the origin."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]] for k in range(3))
    volumes = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6.0
    mass = float(volumes.sum())
    com = (volumes[:, None] * (a + b + c)).sum(axis=0) / (4.0 * mass)
    corners = np.stack([a, b, c, a + b + c])
    # Integral of x xᵀ over a tetrahedron with one corner in the origin: V/20 (Σ v vᵀ + s sᵀ), s = Σ v.
    moments = np.einsum("n,kni,knj->ij", volumes / 20.0, corners, corners) - mass * np.outer(com, com)
    return MassProperties(mass, com, np.trace(moments) * np.eye(3) - moments)
