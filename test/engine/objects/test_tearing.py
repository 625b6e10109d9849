"""What is stretched too far tears: mass and momentum stay, energy does not grow, and surfaces stay whole."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from raisim_ros import DeformableMaterial, DeformableObject, InvalidValueError, MeshBuildOptions, World


def sheet(cells: tuple[int, int], size: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a sheet that hangs down from z = 0."""
    across, down = (np.linspace(0, side, count + 1) for side, count in zip(size, cells, strict=True))
    y, z = np.meshgrid(across, -down, indexing="ij")
    number = np.arange(y.size).reshape(y.shape)
    a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], -1), np.stack([a, c, d], -1)]).reshape(-1, 3)
    return np.stack([np.zeros(y.size), y.ravel(), z.ravel()], -1), triangles


def pieces(body: DeformableObject) -> int:
    """How many parts its elements hang together in."""
    elements = body.get_tetrahedra() if len(body.get_tetrahedra()) else body.get_triangles()
    pairs = np.concatenate([elements[:, [0, k]] for k in range(1, elements.shape[1])])
    count = body.get_num_particles()
    return int(connected_components(coo_matrix((np.ones(len(pairs)), pairs.T), (count, count)), directed=False)[0])


def strip(world: World, mass: float, **material: float) -> DeformableObject:
    x, triangles = sheet((3, 12), (0.2, 0.8))
    top = np.flatnonzero(x[:, 2] > -1e-9)
    cloth = DeformableMaterial(total_mass=mass, distance_stiffness=2e3, damping=0.5, **material)
    return world.add_deformable_cloth(x, triangles, top, cloth)


def largest_strain(body: DeformableObject) -> float:
    state, x = body.save_state(), body.get_positions()
    lengths = np.linalg.norm(x[state["struts"][:, 0]] - x[state["struts"][:, 1]], axis=1)
    return float((lengths / state["strut_state"][:, 0]).max() - 1.0)


@pytest.mark.parametrize("bending", [-1.0, 1e2])
def test_a_strip_carries_what_it_can_and_tears_under_more(bending: float) -> None:
    for mass, parts in ((0.5, 1), (8.0, 2)):
        world = World()
        world.set_time_step(0.002)
        cloth = strip(world, mass, tear_strain=0.05, bend_compliance=bending)
        count, weight, energy = cloth.get_num_particles(), cloth.get_masses().sum(), cloth.get_energy()
        for _ in range(150):
            world.integrate()
            assert cloth.get_energy() <= energy + 1e-12
            energy = cloth.get_energy()
        assert cloth.get_masses().sum() == pytest.approx(weight, rel=1e-12)
        assert pieces(cloth) == parts
        if parts == 1:
            assert cloth.get_num_particles() == count
            assert largest_strain(cloth) < 0.05
        else:
            assert cloth.get_num_particles() >= count + 4
            assert cloth.get_positions()[:, 2].min() < -1.2  # fell
            assert largest_strain(cloth) < 0.05
            for edge in itertools.chain(cloth.save_state()["struts"], cloth.save_state()["hinges"]):
                assert edge.min() >= 0
                assert edge.max() < cloth.get_num_particles()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_momentum_mass_and_energy_while_a_free_sheet_is_torn(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = World()
    world.set_gravity([0, 0, 0])
    world.set_time_step(0.002)
    x, triangles = sheet((8, 8), (1.0, 1.0))
    material = DeformableMaterial(total_mass=1.0, distance_stiffness=1e3, bend_compliance=1e2, tear_strain=0.08)
    cloth = world.add_deformable_cloth(x, triangles, [], material)
    cloth.set_velocities(random.normal(0, 0.3, x.shape) + 15.0 * (x - x.mean(axis=0)) * [0, 1, 0])
    linear, angular, energy = cloth.get_linear_momentum(), cloth.get_angular_momentum(), cloth.get_energy()
    area = trimesh.Trimesh(x, triangles, process=False).area
    for _ in range(150):
        world.integrate()
        assert cloth.get_linear_momentum() == pytest.approx(linear, abs=1e-9)
        assert cloth.get_angular_momentum() == pytest.approx(angular, abs=1e-9)
        assert cloth.get_energy() <= energy + 1e-4 * abs(energy)
        energy = cloth.get_energy()
    assert cloth.get_num_particles() > len(x)
    assert cloth.get_masses().sum() == pytest.approx(1.0, rel=1e-12)
    assert len(cloth.get_triangles()) == len(triangles)
    assert cloth.get_masses().min() > 0.0
    assert trimesh.Trimesh(cloth.get_positions(), cloth.get_triangles(), process=False).area == pytest.approx(area, rel=0.2)


def test_a_bar_of_tetrahedra_breaks_with_closed_surfaces() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    world.set_time_step(0.002)
    bar = trimesh.creation.box((0.6, 0.1, 0.1))
    material = DeformableMaterial(total_mass=2, youngs_modulus=5e4, poisson_ratio=0.4, tear_strain=0.3, damping=0.5)
    body = world.add_deformable_object((bar.vertices, bar.faces), material, MeshBuildOptions(mode="filled", spacing=0.05))
    x, volume = body.get_positions().copy(), body.get_volume()
    body.set_velocities(np.sign(x[:, :1]) * np.minimum(1.0, np.abs(x[:, :1]) / 0.15) * [4.0, 0, 0])
    momentum = body.get_linear_momentum()
    world.integrate(250)
    assert pieces(body) >= 2
    assert body.get_linear_momentum() == pytest.approx(momentum, abs=1e-9)
    assert body.get_masses().sum() == pytest.approx(2.0, rel=1e-12)
    assert body.get_volume() == pytest.approx(volume, rel=0.02)
    faces, places = body.get_triangles(), body.get_positions()
    sides = Counter((int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True))
    assert all(sides[b, a] == count for (a, b), count in sides.items())  # every edge is passed both ways
    corners = [places[faces[:, k]] for k in range(3)]
    enclosed = np.einsum("ij,ij->", corners[0], np.cross(corners[1], corners[2])) / 6.0
    assert enclosed == pytest.approx(body.get_volume(), rel=1e-4)  # flat tetrahedra are left out


def test_what_is_no_edge_of_the_surface_breaks() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    x, triangles = sheet((1, 1), (0.1, 0.1))
    both = np.concatenate([x, np.add(x, [1.0, 0.0, 0.0])])
    cloth = world.add_deformable_cloth(
        both, np.concatenate([triangles, triangles + 4]), [], DeformableMaterial(tear_strain=0.1)
    )
    count = cloth.get_distance_constraint_count()
    cloth.add_distance_constraint(0, 4, 1.0)
    cloth.set_velocities(np.repeat([[0.0, 0, 0], [2.0, 0, 0]], 4, axis=0))
    world.integrate(100)
    assert cloth.get_distance_constraint_count() == count
    assert cloth.get_num_particles() == 8


def test_a_torn_cloth_is_kept_by_snapshots_clones_files_and_resets(tmp_path: Path) -> None:
    world = World()
    world.add_ground(-1.5)
    cloth = strip(world, 8.0, tear_strain=0.05)
    whole = cloth.save_state()
    world.integrate(20)
    torn = cloth.get_num_particles()
    assert torn > len(whole["pos"])
    copy, snapshot = world.copy(), world.save_snapshot()
    world.export_to_xml(tmp_path, "torn.xml")
    read = World(tmp_path / "torn.xml")
    other = next(one for one in read.get_obj_list() if isinstance(one, DeformableObject))
    assert np.array_equal(other.get_positions(), cloth.get_positions())
    assert np.array_equal(other.get_triangles(), cloth.get_triangles())
    assert other.get_material().tear_strain == 0.05
    world.integrate(30)
    copy.integrate(30)
    assert copy.get_state_hash() == world.get_state_hash()
    later = world.get_state_hash()
    cloth.restore_state(whole)
    assert cloth.get_num_particles() == len(whole["pos"])
    assert all(np.array_equal(cloth.save_state()[name], value) for name, value in whole.items())
    world.restore_snapshot(snapshot)
    assert cloth.get_num_particles() == torn
    world.integrate(30)
    assert world.get_state_hash() == later


@pytest.mark.parametrize("strain", [0.0, -0.5, float("nan"), 1e31])
def test_bad_strains_are_refused(strain: float) -> None:
    with pytest.raises(InvalidValueError, match="tear_strain"):
        DeformableMaterial(tear_strain=strain)
