"""Collision of every ordered pair of shapes, measured against independent answers.

``python test/engine/collision_oracle.py docs/collision_pairs.md`` writes the table; test_collision_pairs.py checks it.

Three sources tell what is right, none of them shares code with the engine:

- coal (GJK/EPA of the Pinocchio family): signed distance of two convex bodies;
- support functions in NumPy: how far two convex bodies are apart along a direction. The engine's normal is tested with
  it (moving A by minus the gap along the normal must just separate), and so is the claim that no other direction of a
  sample does better;
- closed forms: half-spaces and sloping heightmaps measure the height of the lowest point.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import coal
import numpy as np
from numpy.typing import NDArray

from raisim_ros.engine._library import ffi, lib

Array = NDArray[np.float64]

POSES = 3000  # random relative poses of an ordered pair
MARGIN = 0.1  # points closer than this are asked for [m]


# ---- shapes -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Shape:
    """A shape as the engine takes it and, for bounded ones, the points and roundings its support function needs."""

    kind: str
    dim: tuple[float, ...] = ()
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))  # hull, mesh
    heights: Array = field(default_factory=lambda: np.zeros((0, 0)))  # heightmap, [y, x]
    size: float = 0.0  # heightmap: side [m]

    @property
    def reach(self) -> float:
        """Largest distance of a point of the shape from its origin [m]."""
        if self.kind in ("half_space", "heightmap"):
            return 0.0
        directions = fibonacci_sphere(200)
        return float(self.support(directions).max())

    def support(self, d: Array) -> Array:
        """How far the shape reaches along the directions d[..., 3] of its frame, times their length."""
        across, length = np.hypot(d[..., 0], d[..., 1]), np.linalg.norm(d, axis=-1)
        r, h = (*self.dim, 0.0, 0.0)[:2]
        if self.kind == "sphere":
            return r * length
        if self.kind == "box":
            return np.abs(d) @ (0.5 * np.array(self.dim))
        if self.kind == "cylinder":
            return r * across + 0.5 * h * np.abs(d[..., 2])
        if self.kind == "cone":
            return np.maximum(0.75 * h * d[..., 2], r * across - 0.25 * h * d[..., 2])
        if self.kind == "capsule":
            return r * length + 0.5 * h * np.abs(d[..., 2])
        return (d @ self.points.T).max(axis=-1)


def fibonacci_sphere(count: int) -> Array:
    """Unit directions spread evenly."""
    i = np.arange(count) + 0.5
    polar, azimuth = np.arccos(1.0 - 2.0 * i / count), np.pi * (1.0 + 5.0**0.5) * i
    return np.stack([np.cos(azimuth) * np.sin(polar), np.sin(azimuth) * np.sin(polar), np.cos(polar)], axis=-1)


def _hull_points(seed: int, count: int, scale: tuple[float, float, float]) -> Array:
    return np.random.default_rng(seed).normal(size=(count, 3)) * scale


SLOPE = np.array([0.3, -0.2])  # dz/dx, dz/dy of the heightmap


def _sloping_grid(samples: int, size: float) -> Array:
    axis = np.linspace(-0.5 * size, 0.5 * size, samples)
    return SLOPE[0] * axis[None, :] + SLOPE[1] * axis[:, None]


SHAPES: dict[str, Shape] = {
    "sphere": Shape("sphere", (0.5,)),
    "box": Shape("box", (1.0, 0.7, 0.4)),
    "cylinder": Shape("cylinder", (0.4, 1.1)),
    "cone": Shape("cone", (0.5, 1.2)),
    "capsule": Shape("capsule", (0.3, 0.9)),
    "convex": Shape("convex", points=_hull_points(5, 30, (0.4, 0.3, 0.5))),
    "half_space": Shape("half_space"),
    "mesh": Shape("mesh", points=_hull_points(6, 40, (0.3, 0.45, 0.4))),
    "heightmap": Shape("heightmap", heights=_sloping_grid(41, 20.0), size=20.0),
}
FIXED = ("half_space", "heightmap")  # never move: collide with everything but each other


def ordered_pairs() -> list[tuple[str, str]]:
    """Every ordered pair of shapes that can meet."""
    return [(a, b) for a in SHAPES for b in SHAPES if not (a in FIXED and b in FIXED)]


# ---- the engine -------------------------------------------------------------------------------------------------

_TYPES = {
    "sphere": "RS_SHAPE_SPHERE",
    "box": "RS_SHAPE_BOX",
    "cylinder": "RS_SHAPE_CYLINDER",
    "cone": "RS_SHAPE_CONE",
    "capsule": "RS_SHAPE_CAPSULE",
    "convex": "RS_SHAPE_CONVEX",
    "half_space": "RS_SHAPE_HALF_SPACE",
    "mesh": "RS_SHAPE_MESH",
    "heightmap": "RS_SHAPE_HEIGHTMAP",
}


@dataclass(frozen=True)
class Contacts:
    """Contact points of n poses: position, normal and gap of up to 8 points each, NaN beyond the count."""

    count: NDArray[np.int32]
    position: Array
    normal: Array
    gap: Array

    @property
    def least(self) -> Array:
        """The smallest gap of each pose, infinite without contact."""
        return np.where(np.isnan(self.gap), np.inf, self.gap).min(axis=1)

    @property
    def deepest_normal(self) -> Array:
        """The normal at the smallest gap."""
        index = np.where(np.isnan(self.gap), np.inf, self.gap).argmin(axis=1)
        return self.normal[np.arange(len(index)), index]


class Engine:
    """The engine's pair tests, one world, shapes created once."""

    def __init__(self) -> None:
        """Creates the world that holds the assets."""
        out = ffi.new("rs_world **")
        assert lib.rs_world_create(out) == lib.RS_OK
        self._world = ffi.gc(out[0], lib.rs_world_destroy)
        self._assets: dict[int, int] = {}
        self._keep: list[object] = []

    def _asset(self, shape: Shape) -> int:
        if id(shape) in self._assets:
            return self._assets[id(shape)]
        out = ffi.new("rs_asset **")
        points = np.ascontiguousarray(shape.points)
        if shape.kind == "convex":
            status = lib.rs_asset_create_convex(len(points), ffi.from_buffer("double[]", points), out)
        elif shape.kind == "mesh":
            triangles = hull_triangles(shape)
            status = lib.rs_asset_create_mesh(
                len(points), ffi.from_buffer("double[]", points), len(triangles),
                ffi.from_buffer("int32_t[]", triangles), out,
            )  # fmt: skip
        else:
            ny, nx = shape.heights.shape
            heights = np.ascontiguousarray(shape.heights)
            status = lib.rs_asset_create_heightmap(
                nx, ny, shape.size, shape.size, ffi.from_buffer("double[]", heights), out
            )
        assert status == lib.RS_OK, ffi.string(lib.rs_error_text())
        listed = ffi.new("rs_asset_id *")
        assert lib.rs_asset_add(self._world, out[0], listed) == lib.RS_OK
        lib.rs_asset_destroy(out[0])
        self._keep.append(shape)
        self._assets[id(shape)] = int(listed[0])
        return self._assets[id(shape)]

    def _definition(self, shape: Shape) -> tuple[object, Array, Array]:
        d = ffi.new("rs_shape_def *")
        d.type = getattr(lib, _TYPES[shape.kind])
        d.dim = [*shape.dim, 0.0, 0.0, 0.0][:3]
        d.asset = self._asset(shape) if shape.kind in ("convex", "mesh", "heightmap") else 0
        return d, np.frombuffer(ffi.buffer(d.position)), np.frombuffer(ffi.buffer(d.quaternion))

    def collide(self, a: Shape, b: Shape, pose_a: Array, pose_b: Array, margin: float = MARGIN) -> Contacts:
        """Contact points of the shapes at n poses (x y z qw qx qy qz)."""
        def_a, position_a, quaternion_a = self._definition(a)
        def_b, position_b, quaternion_b = self._definition(b)
        points, count = ffi.new("rs_contact_point[8]"), ffi.new("int32_t *")
        buffer = np.frombuffer(ffi.buffer(points)).reshape(8, 7)
        counts, rows = np.zeros(len(pose_a), np.int32), np.full((len(pose_a), 8, 7), np.nan)
        test = lib.rs_world_collide_shapes
        for i in range(len(pose_a)):
            position_a[:], quaternion_a[:] = pose_a[i, :3], pose_a[i, 3:]
            position_b[:], quaternion_b[:] = pose_b[i, :3], pose_b[i, 3:]
            assert test(self._world, def_a, def_b, margin, points, count) == lib.RS_OK
            counts[i] = count[0]
            rows[i, : count[0]] = buffer[: count[0]]
        return Contacts(counts, rows[..., :3], rows[..., 3:6], rows[..., 6])


# ---- poses ------------------------------------------------------------------------------------------------------


def rotation(quaternion: Array) -> Array:
    """Rotation matrices of unit quaternions w x y z."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def random_quaternions(rng: np.random.Generator, count: int) -> Array:
    """Uniform rotations."""
    q = rng.normal(size=(count, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def random_poses(a: Shape, b: Shape, count: int, seed: int) -> tuple[Array, Array]:
    """Poses of which about half meet: B near a random place, A within reach of it or a little farther."""
    rng = np.random.default_rng(seed)
    pose_a, pose_b = np.zeros((2, count, 7))
    pose_a[:, 3:], pose_b[:, 3:] = random_quaternions(rng, count), random_quaternions(rng, count)
    for shape, pose in ((a, pose_a), (b, pose_b)):
        if shape.kind == "heightmap":  # upright: turned about z only
            pose[:, 4:6] = 0.0
            pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    pose_b[:, :3] = rng.normal(size=(count, 3))
    offset = rng.normal(size=(count, 3))
    offset /= np.linalg.norm(offset, axis=1, keepdims=True)
    offset *= (rng.uniform(0.0, 1.2, count) ** 0.5 * (a.reach + b.reach))[:, None]
    for shape, pose, sign in ((b, pose_b, 1.0), (a, pose_a, -1.0)):
        if shape.kind in FIXED:  # at a height of up to the other's reach above or below the surface
            other = a if shape is b else b
            height = rng.uniform(-0.3, 1.2, count) * other.reach
            normal = np.einsum("nij,j->ni", rotation(pose[:, 3:]), surface_normal(shape))
            offset = sign * height[:, None] * normal
    pose_a[:, :3] = pose_b[:, :3] + offset
    return pose_a, pose_b


def surface_normal(shape: Shape) -> Array:
    """Unit normal of a half-space or of the sloping heightmap, in its frame."""
    normal = np.array([0.0, 0.0, 1.0]) if shape.kind == "half_space" else np.array([-SLOPE[0], -SLOPE[1], 1.0])
    return normal / np.linalg.norm(normal)


# ---- independent answers ----------------------------------------------------------------------------------------


def separation(a: Shape, b: Shape, pose_a: Array, pose_b: Array, normal: Array) -> Array:
    """How far A and B are apart along unit directions normal[n, k, 3] from B to A; negative: how deep they overlap."""
    rot_a, rot_b = rotation(pose_a[:, 3:]), rotation(pose_b[:, 3:])
    between = np.einsum("nki,ni->nk", normal, pose_a[:, :3] - pose_b[:, :3])
    low_a = a.support(-np.einsum("nji,nkj->nki", rot_a, normal))
    if b.kind in FIXED:  # its surface is the plane through the origin; other directions separate nothing
        aligned = np.einsum("nij,j->ni", rot_b, surface_normal(b))
        agree = np.einsum("nki,ni->nk", normal, aligned) > 1.0 - 1e-9
        return np.where(agree, between - low_a, -np.inf)
    return between - low_a - b.support(np.einsum("nji,nkj->nki", rot_b, normal))


def hull_triangles(shape: Shape) -> NDArray[np.int32]:
    """Triangles of the convex hull of the points, counter-clockwise seen from outside."""
    from scipy.spatial import ConvexHull

    hull = ConvexHull(shape.points)
    triangles = hull.simplices.astype(np.int32)
    p = shape.points[triangles]
    normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    inwards = np.einsum("ij,ij->i", normal, hull.equations[:, :3]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    return triangles


@cache
def coal_geometry(shape: Shape) -> coal.CollisionGeometry:
    """The shape for coal; its cone has the origin at mid-height."""
    d = shape.dim
    if shape.kind == "sphere":
        return coal.Sphere(d[0])
    if shape.kind == "box":
        return coal.Box(*d)
    if shape.kind == "cylinder":
        return coal.Cylinder(*d)
    if shape.kind == "cone":
        return coal.Cone(*d)
    if shape.kind == "capsule":
        return coal.Capsule(*d)
    points = coal.StdVec_Vec3s()
    for p in shape.points:
        points.append(p)
    return coal.Convex.convexHull(points, True, "")


def coal_distance(a: Shape, b: Shape, pose_a: Array, pose_b: Array) -> Array:
    """Signed distances of two convex bodies."""
    request = coal.DistanceRequest()
    request.enable_signed_distance = True
    request.gjk_tolerance = request.epa_tolerance = 1e-8
    request.gjk_max_iterations, request.epa_max_iterations = 512, 512
    geometry_a, geometry_b = coal_geometry(a), coal_geometry(b)
    rot_a, rot_b = rotation(pose_a[:, 3:]), rotation(pose_b[:, 3:])
    origin_a, origin_b = pose_a[:, :3].copy(), pose_b[:, :3].copy()
    for shape, rot, origin in ((a, rot_a, origin_a), (b, rot_b, origin_b)):
        if shape.kind == "cone":
            origin += 0.25 * shape.dim[1] * rot[:, :, 2]
    out = np.zeros(len(pose_a))
    for i in range(len(pose_a)):
        result = coal.DistanceResult()
        out[i] = coal.distance(
            geometry_a, coal.Transform3s(rot_a[i], origin_a[i]), geometry_b, coal.Transform3s(rot_b[i], origin_b[i]),
            request, result,
        )  # fmt: skip
    return out


def true_gap(a: Shape, b: Shape, pose_a: Array, pose_b: Array) -> Array:
    """Signed distance of A and B from a closed form or from coal."""
    if a.kind in FIXED:
        return true_gap(b, a, pose_b, pose_a)
    if b.kind in FIXED:
        normal = np.einsum("nij,j->ni", rotation(pose_b[:, 3:]), surface_normal(b))
        return separation(a, b, pose_a, pose_b, normal[:, None])[:, 0]
    return coal_distance(a, b, pose_a, pose_b)


def certified_gap(a: Shape, b: Shape, pose_a: Array, pose_b: Array, normal: Array) -> Array:
    """Separation along one direction per pose: no larger than the signed distance, equal to it for the best one."""
    if a.kind in FIXED:
        return separation(b, a, pose_b, pose_a, -normal[:, None])[:, 0]
    return separation(a, b, pose_a, pose_b, normal[:, None])[:, 0]


# ---- the comparison ---------------------------------------------------------------------------------------------

# A triangle mesh is its surface: how deep a body is inside, it knows only near the surface [m].
MESH_DEPTH = 0.1


def tolerance(*shapes: Shape) -> float:
    """Allowed error of a gap, relative to the size of the pair."""
    kinds = {shape.kind for shape in shapes}
    if kinds & {"half_space", "heightmap"}:
        return 1e-12
    if "mesh" in kinds and "sphere" not in kinds:
        return 5e-3  # triangle by triangle, without regard to the whole
    if kinds & {"cylinder", "cone"} or kinds == {"box"}:
        return 3e-5  # found by iteration; of nearly equal faces of two boxes the first is kept
    return 1e-9


@dataclass(frozen=True)
class PairResult:
    """What was found for one ordered pair."""

    a: str
    b: str
    oracle: str
    poses: int
    hits: int  # poses in which the oracle sees the shapes closer than the margin
    overlaps: int  # of these: deeper than zero
    disagreements: int  # one sees a contact, the other none
    gap_error: float  # largest, relative to the size of the pair
    swap_error: float  # largest difference of the gap when A and B are exchanged, likewise
    points_off: float  # how far a contact point lies outside of A or B, likewise
    oracle_failures: int  # poses in which a separating direction proves coal wrong
    finite: bool  # all numbers finite, all normals unit vectors


def _outside(shape: Shape, pose: Array, points: Array) -> Array:
    """How far points[n, 8, 3] lie outside the shape, seen from many directions; NaN stays NaN."""
    local = np.einsum("nji,nkj->nki", rotation(pose[:, 3:]), points - pose[:, None, :3])
    if shape.kind in FIXED:
        return local @ surface_normal(shape)
    directions = fibonacci_sphere(150)
    return (local @ directions.T - shape.support(directions)).max(axis=-1)


def _points_off(a: Shape, b: Shape, pose_a: Array, pose_b: Array, contacts: Contacts) -> float:
    """Each contact point stands midway: half a gap along the normal leads to A, half a gap back to B."""
    half = 0.5 * contacts.gap[..., None] * contacts.normal
    off_a = _outside(a, pose_a, contacts.position + half)
    off_b = _outside(b, pose_b, contacts.position - half)
    worst = np.nanmax(np.stack([off_a, off_b]), initial=0.0)
    return float(worst)


def all_finite(contacts: Contacts) -> bool:
    """Every reported number is finite and every normal a unit vector."""
    reported = np.arange(8) < contacts.count[:, None]
    numbers = [contacts.position[reported], contacts.normal[reported], contacts.gap[reported]]
    unit = np.abs(np.linalg.norm(contacts.normal[reported], axis=-1) - 1.0) < 1e-9
    return all(bool(np.isfinite(x).all()) for x in numbers) and bool(unit.all())


def compare(engine: Engine, name_a: str, name_b: str, poses: int = POSES, seed: int = 1) -> PairResult:
    """Random poses of one ordered pair against its oracle."""
    a, b = SHAPES[name_a], SHAPES[name_b]
    size = a.reach + b.reach
    pose_a, pose_b = random_poses(a, b, poses, seed)
    contacts, swapped = engine.collide(a, b, pose_a, pose_b), engine.collide(b, a, pose_b, pose_a)
    truth = true_gap(a, b, pose_a, pose_b)
    hit, found = truth < MARGIN, contacts.count > 0
    clear = np.abs(truth - MARGIN) > tolerance(a, b) * size
    known_depth = "mesh" not in (a.kind, b.kind) or a.kind in FIXED or b.kind in FIXED
    compared = hit & found & (known_depth | (truth > -MESH_DEPTH))
    certified = certified_gap(a, b, pose_a, pose_b, contacts.deepest_normal)
    coal_failed = compared & (truth < certified - tolerance(a, b) * size)
    # The engine's gap is what its normal gives, and no oracle knows a better direction.
    error = np.maximum(np.abs(contacts.least - certified), np.maximum(truth, certified) - certified)
    return PairResult(
        a=name_a,
        b=name_b,
        oracle="closed form" if {a.kind, b.kind} & set(FIXED) else "coal",
        poses=poses,
        hits=int(hit.sum()),
        overlaps=int((truth < 0.0).sum()),
        disagreements=int(((hit != found) & clear).sum()),
        gap_error=float(error[compared].max(initial=0.0)) / size,
        swap_error=float(np.abs(contacts.least[compared] - swapped.least[compared]).max(initial=0.0)) / size,
        points_off=_points_off(a, b, pose_a[compared], pose_b[compared], _select(contacts, compared)) / size,
        oracle_failures=int(coal_failed.sum()),
        finite=all_finite(contacts) and all_finite(swapped),
    )


def _select(contacts: Contacts, rows: NDArray[np.bool_]) -> Contacts:
    return Contacts(contacts.count[rows], contacts.position[rows], contacts.normal[rows], contacts.gap[rows])


# ---- the table --------------------------------------------------------------------------------------------------

HEADING = """# Collision pairs

Every ordered pair of shapes in {poses} random relative poses, compared with an independent answer: `coal` for convex
bodies, closed forms for half-spaces and heightmaps (here a plane sloping by 30 % and -20 %). Written by
`python test/engine/collision_oracle.py docs/collision_pairs.md`; `test/engine/collision/test_collision_pairs.py` checks it.

- *near*: poses in which the oracle sees the shapes closer than {margin} m; *overlap*: of these, the overlapping ones.
- *agree*: poses in which both see a contact, or both none.
- *gap error*: largest error of the signed distance, relative to the size of the pair. The gap must follow from the
  normal (moving A by minus the gap along it just separates the shapes), and no oracle may know a better direction.
- *swap*: largest change of the gap when A and B are exchanged, relative likewise.
- *oracle failed*: poses in which the engine's normal proves that coal's depth is too large.

A mesh is its surface: against it, depths are compared up to {mesh_depth} m.

| A | B | oracle | near | overlap | agree | gap error | swap | oracle failed |
|---|---|--------|-----:|--------:|------:|----------:|-----:|--------------:|
"""


def table_row(r: PairResult) -> str:
    """One line of the table."""
    agree = 100.0 * (r.poses - r.disagreements) / r.poses
    return (
        f"| {r.a} | {r.b} | {r.oracle} | {r.hits} | {r.overlaps} | {agree:.2f} % | {r.gap_error:.0e} "
        f"| {r.swap_error:.0e} | {r.oracle_failures or ''} |"
    )


def write_table(path: Path) -> None:
    """Compares all pairs and writes the page."""
    engine = Engine()
    rows = [table_row(compare(engine, a, b)) for a, b in ordered_pairs()]
    text = HEADING.format(poses=POSES, margin=MARGIN, mesh_depth=MESH_DEPTH) + "\n".join(rows) + "\n"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_table(Path(sys.argv[1]))
