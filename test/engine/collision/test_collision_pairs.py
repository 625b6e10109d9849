"""Every ordered pair of shapes against independent answers: random, special and degenerate poses."""

from __future__ import annotations

import itertools
from pathlib import Path

import coal
import numpy as np
import pytest
from collision_oracle import (
    FIXED,
    MARGIN,
    SHAPES,
    Array,
    Contacts,
    Engine,
    Shape,
    all_finite,
    certified_gap,
    coal_geometry,
    compare,
    fibonacci_sphere,
    ordered_pairs,
    random_poses,
    random_quaternions,
    rotation,
    separation,
    tolerance,
)

CONVEX = [name for name in SHAPES if name not in FIXED and name != "mesh"]
CONVEX_PAIRS = list(itertools.product(CONVEX, CONVEX))


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.mark.parametrize(("a", "b"), ordered_pairs())
def test_random_poses_agree_with_the_oracle(engine, a, b):
    result = compare(engine, a, b)
    limit = tolerance(SHAPES[a], SHAPES[b])
    assert result.finite
    assert result.hits > 500
    assert result.overlaps > 300
    assert result.disagreements == 0
    assert result.gap_error < limit
    assert result.swap_error < limit
    assert result.points_off < 1e-2  # the deepest points of round shapes are known to the root of the gap's error
    assert result.oracle_failures < 0.05 * result.poses


def test_the_page_lists_every_pair():
    page = (Path(__file__).parents[3] / "docs/collision_pairs.md").read_text(encoding="utf-8")
    rows = [tuple(cell.strip() for cell in line.split("|")[1:3]) for line in page.splitlines() if line.startswith("| ")]
    assert rows[1:] == ordered_pairs()
    assert page.count("100.00 %") == len(ordered_pairs())


# ---- special poses ----------------------------------------------------------------------------------------------


def quarter_turns() -> Array:
    """The 24 rotations that map the axes onto each other, as quaternions."""
    half = np.sqrt(0.5)
    candidates = np.array(list(itertools.product((-1.0, -half, -0.5, 0.0, 0.5, half, 1.0), repeat=4)))
    candidates = candidates[np.abs(np.linalg.norm(candidates, axis=1) - 1.0) < 1e-9]
    aligned = np.abs(np.abs(rotation(candidates)).max(axis=(1, 2)) - 1.0) < 1e-9
    full = np.abs(np.abs(rotation(candidates)).sum(axis=(1, 2)) - 3.0) < 1e-9
    return candidates[aligned & full]


def special_poses(a: Shape, b: Shape) -> tuple[Array, Array]:
    """Concentric, parallel, touching exactly, a rounding error apart, deep; all with B at the origin."""
    rng = np.random.default_rng(3)
    turns = quarter_turns()
    poses = []
    for turn in turns[rng.integers(0, len(turns), 12)]:
        rot = rotation(turn)
        for direction in np.concatenate([np.eye(3), -np.eye(3)]):
            touch = a.support(-direction @ rot) + b.support(direction)
            for gap in (-touch, -0.5 * touch, -1e-3, -1e-9, -1e-15, 0.0, 1e-15, 1e-9, 1e-3):
                poses.append([*((touch + gap) * direction), *turn])
    same = random_quaternions(rng, 20)
    poses += [[0.0, 0.0, 0.0, *q] for q in same]
    poses += [[*rng.normal(size=3) * 1e-3, *q] for q in same]
    poses += [[*rng.normal(size=3) * 1e-12, 1.0, 1e-12, 0.0, 0.0] for _ in range(20)]
    pose_a = np.array(poses)
    pose_b = np.zeros_like(pose_a)
    pose_b[:, 3] = 1.0
    return pose_a, pose_b


def check_certificates(engine: Engine, a: Shape, b: Shape, pose_a: Array, pose_b: Array, margin: float,
                       limit: float) -> Contacts:  # fmt: skip
    """Gaps follow from normals, none of many directions separates better, and what has no contact is really apart."""
    contacts = engine.collide(a, b, pose_a, pose_b, margin)
    assert all_finite(contacts)
    found = contacts.count > 0
    # asked with a wide margin, the engine names the direction that proves the others apart
    far_a, far_b = pose_a[~found], pose_b[~found]
    wide = engine.collide(a, b, far_a, far_b, margin=10.0 * (a.reach + b.reach))
    assert (wide.count > 0).all()
    assert (certified_gap(a, b, far_a, far_b, wide.deepest_normal) >= margin - limit).all(), "a contact was missed"
    near_a, near_b = pose_a[found], pose_b[found]
    certified = certified_gap(a, b, near_a, near_b, contacts.deepest_normal[found])
    assert contacts.least[found] == pytest.approx(certified, abs=limit)
    axes = [sign * rotation(pose[:, 3:]).transpose(0, 2, 1) for pose in (near_a, near_b) for sign in (1.0, -1.0)]
    sample = np.broadcast_to(fibonacci_sphere(150), (len(near_a), 150, 3))
    best = separation(a, b, near_a, near_b, np.concatenate([*axes, sample], axis=1)).max(axis=1)
    assert (certified >= best - limit).all()
    return contacts


@pytest.mark.parametrize(("a", "b"), CONVEX_PAIRS)
@pytest.mark.parametrize("margin", [1e-5, 0.5])
def test_special_poses(engine, a, b, margin):
    shape_a, shape_b = SHAPES[a], SHAPES[b]
    pose_a, pose_b = special_poses(shape_a, shape_b)
    check_certificates(engine, shape_a, shape_b, pose_a, pose_b, margin, 1e-5)


@pytest.mark.parametrize(("a", "b"), CONVEX_PAIRS)
def test_moving_by_the_gap_just_separates(engine, a, b):
    """Grazing: a hair before and behind the touching pose the answer changes."""
    shape_a, shape_b = SHAPES[a], SHAPES[b]
    pose_a, pose_b = random_poses(shape_a, shape_b, 300, seed=8)
    contacts = engine.collide(shape_a, shape_b, pose_a, pose_b)
    found = contacts.count > 0
    pose_a, pose_b = pose_a[found], pose_b[found]
    normal, gap = contacts.deepest_normal[found], contacts.least[found]
    assert len(gap) > 50
    for hair in (1e-6, 1e-7):
        pose = pose_a.copy()
        pose[:, :3] -= (gap - hair)[:, None] * normal
        assert engine.collide(shape_a, shape_b, pose, pose_b, margin=0.0).count.max() == 0
    hair, deep = 3e-5, gap < 0.0  # from outside, a hair beyond the tip of a cone may be out again on the other side
    pose = pose_a[deep]
    pose[:, :3] -= (gap + hair)[deep, None] * normal[deep]
    touching = engine.collide(shape_a, shape_b, pose, pose_b[deep], margin=0.0)
    assert touching.count.min() > 0
    assert (touching.least >= -hair - 1e-5).all()


# ---- degenerate shapes ------------------------------------------------------------------------------------------

THIN_HULL = np.array([[0, 0, 0], [1, 0, 0], [0.9, 0.01, 0], [0.2, 0.02, 1e-3], [0.5, 0.0, 2e-3]], dtype=np.float64)
DEGENERATE = {
    "plate": Shape("box", (1.0, 1.0, 1e-4)),
    "needle": Shape("cylinder", (1e-3, 2.0)),
    "disc": Shape("cylinder", (1.0, 1e-3)),
    "spike": Shape("cone", (1e-2, 2.0)),
    "tent": Shape("cone", (1.0, 1e-2)),
    "wire": Shape("capsule", (1e-2, 10.0)),
    "sliver": Shape("convex", points=THIN_HULL),
    "grain": Shape("sphere", (1e-3,)),
    "hill": Shape("sphere", (1e3,)),
    "hall": Shape("box", (1e3, 8e2, 1e2)),
}


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DEGENERATE, DEGENERATE)))
def test_degenerate_shapes(engine, a, b):
    shape_a, shape_b = DEGENERATE[a], DEGENERATE[b]
    pose_a, pose_b = random_poses(shape_a, shape_b, 60, seed=4)
    pose_a[::3, 3:] = pose_b[::3, 3:]  # parallel
    pose_a[1::3, :3] = pose_b[1::3, :3] + 0.3 * (pose_a[1::3, :3] - pose_b[1::3, :3])  # deep
    size = shape_a.reach + shape_b.reach
    contacts = check_certificates(engine, shape_a, shape_b, pose_a, pose_b, 1e-3, 1e-5 * size)
    assert (contacts.count > 0).any() or {a, b} <= {"needle", "spike", "wire", "sliver", "grain", "plate", "disc"}


# ---- surfaces that are not flat or convex -----------------------------------------------------------------------


def coal_surface(points: Array, triangles: Array) -> coal.BVHModelOBBRSS:
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(triangles), len(points))
    vertices = coal.StdVec_Vec3s()
    for p in points:
        vertices.append(p)
    indices = coal.StdVec_Triangle()
    for t in triangles:
        indices.append(coal.Triangle(int(t[0]), int(t[1]), int(t[2])))
    model.addSubModel(vertices, indices)
    model.endModel()
    return model


def rough_heightmap() -> tuple[Shape, Array, Array]:
    """A grid of hills with its triangles, split from (ix, iy) to (ix + 1, iy + 1)."""
    n, size = 21, 6.0
    heights = np.random.default_rng(2).uniform(0.0, 0.6, (n, n))
    axis = np.linspace(-0.5 * size, 0.5 * size, n)
    points = np.stack([*np.meshgrid(axis, axis), heights], axis=-1).reshape(-1, 3)
    cell = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    lower = np.stack([cell, cell + 1, cell + n + 1], axis=-1)
    upper = np.stack([cell, cell + n + 1, cell + n], axis=-1)
    return Shape("heightmap", heights=heights, size=size), points, np.concatenate([lower, upper])


@pytest.mark.parametrize("name", CONVEX)
def test_distance_to_a_rough_heightmap(engine, name):
    """Apart: the distance. Cutting the surface: a contact that overlaps. The centre always above the ground."""
    shape, (ground, points, triangles) = SHAPES[name], rough_heightmap()
    model, count = coal_surface(points, triangles), 400
    rng = np.random.default_rng(6)
    pose_b, pose_a = np.zeros((2, count, 7))
    pose_b[:, 3] = 1.0
    pose_a[:, 3:] = random_quaternions(rng, count)
    pose_a[:, :2] = rng.uniform(-1.5, 1.5, (count, 2))
    pose_a[:, 2] = rng.uniform(0.65, 1.4, count)
    contacts = engine.collide(shape, ground, pose_a, pose_b)
    rot, origin = rotation(pose_a[:, 3:]), pose_a[:, :3].copy()
    if name == "cone":
        origin += 0.25 * shape.dim[1] * rot[:, :, 2]
    request = coal.DistanceRequest()
    request.gjk_tolerance = 1e-8
    distance = np.array([
        coal.distance(coal_geometry(shape), coal.Transform3s(rot[i], origin[i]), model, coal.Transform3s(),
                      request, coal.DistanceResult())
        for i in range(count)
    ])  # fmt: skip
    found = contacts.count > 0
    apart, cutting = distance > 1e-6, distance < -1e-6
    assert apart.sum() > 50
    assert cutting.sum() > 50
    assert all_finite(contacts)
    assert (found == (distance < MARGIN))[np.abs(distance - MARGIN) > 1e-6].all()
    near = apart & found
    assert contacts.least[near] == pytest.approx(distance[near], abs=1e-5)
    assert (contacts.least[cutting] < 0.0).all()
    assert (contacts.deepest_normal[found][:, 2] > 0.0).all()  # upwards
