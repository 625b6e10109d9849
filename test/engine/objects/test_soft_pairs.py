"""Soft objects against themselves and each other: nothing passes through, momentum is exact, energy never grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh
from scipy.spatial import cKDTree

from raisim_ros import DeformableMaterial, GranularMaterial, MeshBuildOptions, World


def grid(rows: int, columns: int, place: Any) -> tuple[Any, Any]:
    """Vertices at place(u, v), u and v from 0 to 1, and their triangles."""
    x = np.array([place(u, v) for u in np.linspace(0, 1, rows) for v in np.linspace(0, 1, columns)])
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[1:, :-1], k[:-1, 1:], k[1:, 1:]))
    return x, np.r_[np.c_[a, b, d], np.c_[a, d, c]].astype(np.int32)


def crossings(x: Any, t: Any) -> int:
    """Edges that pierce triangles of the same surface."""
    e = np.unique(np.sort(np.r_[t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]], axis=1), axis=0)
    longest = np.linalg.norm(x[e[:, 0]] - x[e[:, 1]], axis=1).max()
    near = cKDTree(x[t].mean(axis=1)).query_ball_point(x[e].mean(axis=1), 1.5 * longest)
    k = np.repeat(np.arange(len(e)), [len(one) for one in near])
    j = np.concatenate([np.array(one, int) for one in near])
    apart = ~(e[k][:, :, None] == t[j][:, None, :]).any(axis=(1, 2))
    k, j = k[apart], j[apart]
    p, q, a = x[e[k, 0]], x[e[k, 1]], x[t[j, 0]]
    u, v = x[t[j, 1]] - a, x[t[j, 2]] - a
    n = np.cross(u, v)
    before, after = ((p - a) * n).sum(axis=1), ((q - a) * n).sum(axis=1)
    cut = before * after < 0.0
    p, q, a, u, v, n, before, after = (part[cut] for part in (p, q, a, u, v, n, before, after))
    h = p + (before / (before - after))[:, None] * (q - p) - a
    size = (n * n).sum(axis=1)
    w1, w2 = (np.cross(h, v) * n).sum(axis=1) / size, (np.cross(u, h) * n).sum(axis=1) / size
    return int(((w1 > 0) & (w2 > 0) & (w1 + w2 < 1)).sum())


def accordion(u: float, v: float) -> list[float]:
    """A strip folded three times."""
    layer = min(int(4 * u), 3)
    along = 4 * u - layer
    return [0.25 * (along if layer % 2 == 0 else 1 - along), 0.3 * (v - 0.5), 0.04 + 0.05 * 4 * u]


@pytest.mark.parametrize("self_collision", [True, False])
def test_a_folded_cloth_stays_folded(self_collision: bool) -> None:
    world = World()
    world.add_ground()
    x, triangles = grid(25, 7, accordion)
    material = DeformableMaterial(
        total_mass=0.2, distance_stiffness=500, damping=1.0, collision_radius=0.008, self_collision=self_collision
    )
    cloth = world.add_deformable_cloth(x, triangles, (), material)
    ball = world.add_sphere(0.06, 0.5)
    ball.set_position([0.12, 0.0, 0.45])
    for _ in range(10):
        world.integrate(20)
        if self_collision:
            assert crossings(cloth.get_positions(), triangles) == 0
    # four layers, each a thickness above the one before, and the ball on top of them; or all of them on the floor
    height = cloth.get_position()[2]
    assert height > 0.02 if self_collision else height < 0.01


def test_cloth_lies_on_cloth_on_cloth() -> None:
    world = World()
    world.add_ground()
    layers = []
    for k in range(3):
        x, triangles = grid(9, 9, lambda u, v, k=k: [0.4 * u + 0.01 * k, 0.4 * v, 0.05 + 0.06 * k])
        material = DeformableMaterial(total_mass=0.2, distance_stiffness=500, damping=1, collision_radius=0.01)
        layers.append(world.add_deformable_cloth(x, triangles, (), material))
    energy = sum(one.get_energy() for one in layers)
    for _ in range(20):
        world.integrate(10)
        now = sum(one.get_energy() for one in layers)
        assert now < energy + 1e-5
        energy = now
    heights = [one.get_positions()[40, 2] for one in layers]
    assert heights == pytest.approx([0.01, 0.03, 0.05], abs=2e-3)


def jelly(world: World, position: Any, velocity: Any, size: float = 0.2) -> Any:
    box = trimesh.creation.box((size, size, size))
    body = world.add_deformable_object(
        (box.vertices, box.faces),
        DeformableMaterial(total_mass=2, youngs_modulus=4e4, poisson_ratio=0.35, collision_radius=0.005),
        MeshBuildOptions(mode="filled", spacing=0.08),
    )
    body.set_position_offset(position)
    body.set_velocity(velocity)
    return body


@pytest.mark.parametrize("seed", range(3))
def test_jellies_that_collide_keep_momentum_and_gain_no_energy(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = World()
    world.set_gravity([0, 0, 0])
    beside = random.uniform(-0.05, 0.05, 2)
    bodies = [jelly(world, [-0.15, 0, 0], [2, 0, 0]), jelly(world, [0.12, *beside], [-1, 0, 0])]
    before = sum(one.get_linear_momentum() for one in bodies)
    spin = sum(one.get_angular_momentum() for one in bodies)
    energies = [sum(one.get_energy() for one in bodies)]
    for _ in range(60):
        world.integrate()
        assert sum(one.get_linear_momentum() for one in bodies) == pytest.approx(before, abs=1e-9)
        energies.append(sum(one.get_energy() for one in bodies))
    # what swings is half a substep between springs and velocities: the greatest of each ten steps shows the rest
    greatest = [max(energies[k : k + 10]) for k in range(0, 60, 10)]
    assert (np.diff(greatest) < 1e-3 * energies[0]).all()
    assert bodies[0].get_velocity()[0] < bodies[1].get_velocity()[0]  # they parted
    assert bodies[0].get_positions()[:, 0].mean() < bodies[1].get_positions()[:, 0].mean() - 0.1
    assert sum(one.get_angular_momentum() for one in bodies) == pytest.approx(spin, abs=0.02)


def test_a_jelly_stands_on_another() -> None:
    world = World()
    world.add_ground()
    lower, upper = jelly(world, [0, 0, 0.11], [0, 0, 0]), jelly(world, [0.01, 0.01, 0.325], [0, 0, 0])
    world.integrate(300)
    assert upper.get_position()[2] - lower.get_position()[2] == pytest.approx(0.2, abs=0.03)
    assert np.abs(upper.get_position()[:2]).max() < 0.05


def test_grains_lie_on_a_pinned_cloth_and_what_they_lose_it_gets() -> None:
    world = World()
    x, triangles = grid(11, 11, lambda u, v: [u - 0.5, v - 0.5, 0.5])
    rim = [k for k in range(len(x)) if np.abs(x[k, :2]).max() > 0.499]
    cloth = world.add_deformable_cloth(
        x, triangles, rim, DeformableMaterial(total_mass=0.3, distance_stiffness=2000, damping=1.0)
    )
    along = np.linspace(-0.12, 0.12, 4)
    places = np.stack(np.meshgrid(along, along, [0.56, 0.64], indexing="ij"), -1).reshape(-1, 3)
    sand = world.add_granular_particles(places, 0.025, GranularMaterial(normal_stiffness=2e4, normal_damping=5))
    energy = cloth.get_energy() + sand.get_energy()
    for _ in range(30):
        world.integrate(10)
        now = cloth.get_energy() + sand.get_energy()
        assert now < energy + 1e-3
        energy = now
    held = sand.get_positions()
    assert (held[:, 2] > 0.2).all()
    assert np.abs(held[:, :2]).max() < 0.5
    assert cloth.get_positions()[60, 2] < 0.49


def test_momentum_is_exact_between_grains_and_cloth() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    x, triangles = grid(7, 7, lambda u, v: [0.3 * u, 0.3 * v, 0.0])
    cloth = world.add_deformable_cloth(x, triangles, (), DeformableMaterial(total_mass=0.1, distance_stiffness=1000))
    random = np.random.default_rng(4)
    places = np.c_[random.uniform(0.05, 0.25, (6, 2)), 0.05 + 0.06 * np.arange(6)]
    sand = world.add_granular_particles(places, 0.02, velocities=np.tile([0.3, -0.2, -2.0], (6, 1)))
    before = cloth.get_linear_momentum() + sand.get_linear_momentum()
    for _ in range(40):
        world.integrate()
        assert cloth.get_linear_momentum() + sand.get_linear_momentum() == pytest.approx(before, abs=1e-9)
    assert cloth.get_velocity()[2] < -0.1


def test_filters_part_soft_objects_and_snapshots_go_on_to_the_same_bits() -> None:
    for mask in (-1, 2):
        world = World()
        world.add_ground()
        for k in range(2):
            x, triangles = grid(6, 6, lambda u, v, k=k: [0.3 * u, 0.3 * v, 0.03 + 0.03 * k])
            material = DeformableMaterial(total_mass=0.1, damping=1, distance_stiffness=300, self_collision=True)
            cloth = world.add_deformable_cloth(x, triangles, (), material, collision_group=1, collision_mask=-1)
        if mask == 2:
            world.set_object_collision_filter(cloth, 4, 1 << 62)
        world.integrate(17)
        saved = world.save_snapshot()
        world.integrate(20)
        expected = world.get_state_hash()
        stored = type(saved).from_bytes(saved.to_bytes()) if hasattr(type(saved), "from_bytes") else saved
        for one in (saved, stored):
            world.restore_snapshot(one)
            world.integrate(20)
            assert world.get_state_hash() == expected
        world.integrate(60)
        if mask == -1:
            assert cloth.get_positions()[14, 2] == pytest.approx(0.03, abs=3e-3)
        else:
            assert cloth.get_positions()[14, 2] < 0.0  # it fell through everything


def test_soft_objects_sleep_together_and_wake_each_other() -> None:
    world = World()
    world.add_ground()
    made = []
    for k in range(2):
        x, triangles = grid(5, 5, lambda u, v, k=k: [0.2 * u, 0.2 * v, 0.011 + 0.021 * k])
        made.append(world.add_deformable_cloth(x, triangles, (), DeformableMaterial(damping=5, distance_stiffness=300)))
    world.integrate(800)
    assert not np.abs(made[0].get_velocities()).any()
    ball = world.add_sphere(0.03, 0.3)
    ball.set_position([0.1, 0.1, 0.3])
    world.integrate(60)
    assert ball.get_position()[2] == pytest.approx(0.08, abs=0.02)
