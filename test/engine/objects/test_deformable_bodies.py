"""Deformable bodies: elasticity against closed forms, conservation, how meshes are filled, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import trimesh
from world_promises import goes_on_to_the_same_bits

from raisim_ros import (
    BodyType,
    DeformableMaterial,
    DeformableObject,
    InvalidValueError,
    MeshBuildOptions,
    RaisimError,
    World,
)

SIDE = 0.2


def mesh_of(body: Any, height: float = 0.0) -> tuple[Any, Any]:
    return np.add(body.vertices, [0, 0, height]), np.asarray(body.faces)


def jelly(world: World, height: float = 0.0, spacing: float = 0.07, **material: Any) -> DeformableObject:
    values: dict[str, Any] = {"total_mass": 8.0, "youngs_modulus": 1e5, "collision_radius": 0.005}
    return world.add_deformable_object(
        mesh_of(trimesh.creation.box((SIDE, SIDE, SIDE)), height),
        DeformableMaterial(**values | material),
        MeshBuildOptions(mode="filled", spacing=spacing),
    )


def pressed(
    modulus: float, ratio: float, spacing: float, iterations: int = 6, dt: float = 0.005
) -> tuple[float, float]:
    """Strains along and across of a cube between a plane and a plate, both without friction."""
    world = World()
    world.set_time_step(dt)
    world.set_gravity([0, 0, 0])
    world.set_default_material(0.0, 0.0, 0.0)
    world.add_ground()
    body = jelly(
        world, 0.105, spacing, youngs_modulus=modulus, poisson_ratio=ratio, damping=20.0, iterations=iterations
    )
    plate = world.add_box(0.5, 0.5, 0.05, 8)
    plate.set_position([0, 0, 0.235])
    before = body.get_positions().copy()
    drag = 2.0 * math.sqrt(modulus * SIDE * 10.0)  # about what stops the plate soonest
    for _ in range(int(1.0 / dt)):
        plate.set_external_force(0, [0, 0, -0.01 * modulus * SIDE**2 - drag * plate.get_linear_velocity()[2]])
        world.integrate()
    after = body.get_positions()
    shape = np.linalg.lstsq(before - before.mean(axis=0), after - after.mean(axis=0), rcond=None)[0]
    stretches = np.linalg.svd(shape)[1]  # of the whole, however it has turned on the plane
    return 1.0 - stretches[2], 0.5 * (stretches[0] + stretches[1]) - 1.0


def neo_hookean(ratio: float, load: float) -> tuple[float, float]:
    """Strains along and across of the energy of tetrahedron.h under a uniaxial load relative to the modulus."""
    from scipy.optimize import fsolve

    shear, volume = 0.5 / (1 + ratio), 0.5 / (1 + ratio) / (1 - 2 * ratio)

    def forces(stretch: Any) -> list[float]:
        along, across = stretch
        pressure = volume * (along * across**2 - 1.0) - shear
        return [shear * along + pressure * across**2 + load, shear * across + pressure * along * across]

    along, across = fsolve(forces, [1.0, 1.0], xtol=1e-10)
    return 1.0 - along, across - 1.0


@pytest.mark.parametrize(
    ("modulus", "ratio", "spacing"),
    [(1e5, 0.3, 0.05), (1e5, 0.3, 0.1), (1e4, 0.45, 0.07), (1e6, 0.1, 0.07), (1e5, 0.0, 0.1), (1e5, -0.3, 0.1)],
)
def test_uniaxial_compression_follows_modulus_and_ratio(modulus: float, ratio: float, spacing: float) -> None:
    along, across = pressed(modulus, ratio, spacing)
    expected = neo_hookean(ratio, 0.01)
    assert along == pytest.approx(expected[0], rel=0.01)
    assert across == pytest.approx(expected[1], abs=0.01 * expected[0])
    assert along == pytest.approx(0.01, rel=0.05)
    assert across == pytest.approx(0.01 * ratio, abs=0.05 * 0.01)


@pytest.mark.parametrize(("iterations", "dt"), [(1, 0.005), (20, 0.005), (6, 0.0025)])
def test_stiffness_depends_neither_on_iterations_nor_on_the_step(iterations: int, dt: float) -> None:
    assert pressed(1e5, 0.3, 0.1, iterations, dt) == pytest.approx(pressed(1e5, 0.3, 0.1), rel=0.01)


def squeezed(ratio: float, strain: float) -> tuple[float, float]:
    """Force over modulus and area, and strain across, of a cube that a driven plate without friction squeezes."""
    world = World()
    world.set_gravity([0, 0, 0])
    world.set_default_material(0.0, 0.0, 0.0)
    world.add_ground()
    body = jelly(world, 0.105, 0.1, poisson_ratio=ratio, damping=20.0)
    plate = world.add_box(0.5, 0.5, 0.05, 8)
    plate.set_body_type(BodyType.KINEMATIC)
    plate.set_position([0, 0, 0.235])
    before = body.get_positions().copy()
    plate.set_velocity([0, 0, -strain * SIDE / 0.5], [0, 0, 0])
    world.integrate(100)
    plate.set_velocity([0, 0, 0], [0, 0, 0])
    world.integrate(100)
    push = sum(one.impulse[2] for one in body.get_impulses() if one.object is plate) / world.get_time_step()
    shape = np.linalg.lstsq(before - before.mean(axis=0), body.get_positions() - body.get_position(), rcond=None)[0]
    stretches = np.linalg.svd(shape)[1]
    return push / (1e5 * SIDE**2), 0.5 * (stretches[0] + stretches[1]) - 1.0


@pytest.mark.parametrize("ratio", [0.2, 0.35])
def test_large_strains_follow_the_nonlinear_law(ratio: float) -> None:
    load, across = squeezed(ratio, 0.25)
    assert neo_hookean(ratio, load) == pytest.approx((0.25, across), rel=0.02)


def test_volume_is_kept_when_the_ratio_is_near_a_half() -> None:
    _, across = squeezed(0.49, 0.2)
    assert 0.8 * (1 + across) ** 2 == pytest.approx(1.0, abs=0.01)


def test_momentum_is_exact_and_energy_does_not_grow_in_free_flight() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    body = jelly(world)
    x = body.get_positions().copy()
    start = np.random.default_rng(3).normal(0, 0.3, x.shape) + np.cross([0, 0, 2.0], x) + [0.5, 0, 0]
    body.set_velocities(start)
    linear, angular, energy = body.get_linear_momentum(), body.get_angular_momentum(), body.get_energy()
    for _ in range(40):
        world.integrate()
        assert body.get_linear_momentum() == pytest.approx(linear, abs=1e-9)
        assert body.get_angular_momentum() == pytest.approx(angular, abs=1e-9)
        assert body.get_energy() <= energy


def test_momentum_is_exact_against_a_ball() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    body = jelly(world)
    ball = world.add_sphere(0.08, 2.0)
    ball.set_position([0.01, 0.02, 0.25])
    ball.set_velocity([0, 0, -2], [1, 0, 0])
    before = body.get_linear_momentum() + 2.0 * ball.get_linear_velocity()
    for _ in range(60):
        world.integrate()
        assert body.get_linear_momentum() + 2.0 * ball.get_linear_velocity() == pytest.approx(before, abs=1e-9)
    assert ball.get_linear_velocity()[2] > 0.0
    assert body.get_velocity()[2] < -0.2


def test_a_body_turned_inside_out_comes_back() -> None:
    world = World()
    world.set_gravity([0, 0, 0])
    body = jelly(world, damping=10.0)
    rest = body.get_positions().copy()
    body.set_positions(rest * [1, 1, -0.5])
    world.integrate(600)
    x = body.get_positions() - body.get_position()
    assert body.get_volume() == pytest.approx(SIDE**3, rel=0.01)
    assert np.sort(np.linalg.svd(x)[1]) == pytest.approx(np.sort(np.linalg.svd(rest)[1]), rel=0.02)


def test_a_jelly_cube_falls_and_rests() -> None:
    world = World()
    world.add_ground()
    body = jelly(world, 0.3, damping=10.0)
    world.integrate(300)
    x = body.get_positions()
    assert x[:, 2].min() == pytest.approx(0.005, abs=1e-3)
    assert 0.17 < x[:, 2].max() < 0.205
    assert np.abs(body.get_velocities()).max() < 1e-3


def test_a_jelly_settles_under_its_own_weight_whatever_the_damping() -> None:
    heights = []
    for damping in (1.0, 5.0, 20.0):
        world = World()
        world.add_ground()
        body = jelly(world, 0.105, youngs_modulus=2e4, damping=damping)
        world.integrate(600)
        assert np.abs(body.get_velocities()).max() < 1e-3
        heights.append(body.get_position()[2])
    assert heights == pytest.approx([heights[0]] * 3, abs=1e-5)


@pytest.mark.parametrize(
    ("body", "spacing", "loss"),
    [
        (trimesh.creation.box((0.3, 0.2, 0.1)), 0.05, 1e-9),
        (trimesh.creation.box((0.3, 0.2, 0.1)), 1.0, 1e-9),
        (trimesh.creation.icosphere(3, 0.2), 0.06, 0.03),
        (trimesh.creation.cylinder(0.1, 0.4), 0.05, 0.03),
        (trimesh.creation.torus(0.3, 0.1), 0.06, 0.04),
        (trimesh.creation.capsule(0.3, 0.1), 0.05, 0.04),
        (trimesh.creation.annulus(0.1, 0.2, 0.1), 0.05, 0.04),
    ],
)
def test_closed_meshes_are_filled(body: Any, spacing: float, loss: float) -> None:
    world = World()
    pin = len(body.vertices) // 2
    soft = world.add_deformable_object(
        mesh_of(body),
        DeformableMaterial(youngs_modulus=1e5, total_mass=3.0),
        MeshBuildOptions("filled", spacing),
        [pin],
    )
    assert soft.get_volume() == pytest.approx(body.volume, rel=loss)
    assert soft.get_mass() == pytest.approx(3.0)
    tetrahedra, x = soft.get_tetrahedra(), soft.get_positions()
    assert set(tetrahedra.ravel()) == set(range(len(x)))
    assert set(soft.get_triangles().ravel()) <= set(range(len(x)))
    assert np.linalg.norm(x - body.vertices[pin], axis=1).min() < 1e-12
    pins = soft.get_pinned_vertices()
    assert len(pins) == 1
    assert x[pins[0]] == pytest.approx(body.vertices[pin])
    assert soft.find_vertex(body.vertices[pin]) == pins[0]
    world.integrate(5)


def test_edges_struts_and_volume_hold_bodies_without_modulus() -> None:
    world = World()
    world.add_ground()
    shape = mesh_of(trimesh.creation.box((SIDE, SIDE, SIDE)), 0.12)
    edges = world.add_deformable_object(
        shape,
        DeformableMaterial(damping=3.0, distance_stiffness=2000.0, volume_compliance=1e-6),
        MeshBuildOptions("filled", 0.07),
    )
    assert edges.get_distance_constraint_count() > 100
    shell = world.add_deformable_object(
        shape,
        DeformableMaterial(damping=3.0, distance_stiffness=2000.0, bend_compliance=1.0),
        MeshBuildOptions("surface", 0.15, internal_struts="pairs_within_radius", strut_radius=0.15),
    )
    assert shell.get_bending_constraint_count() > 0
    shell.set_position_offset([1, 0, 0])
    world.integrate(100)
    for body in (edges, shell):
        assert body.get_volume() == pytest.approx(SIDE**3, rel=0.05)


def test_surfaces_are_resampled_to_the_spacing() -> None:
    world = World()
    box = trimesh.creation.box((0.4, 0.3, 0.2))
    shell = world.add_deformable_object(mesh_of(box), None, MeshBuildOptions(spacing=0.06))
    x, t = shell.get_positions(), shell.get_triangles()
    sides = np.concatenate([x[t[:, k]] - x[t[:, (k + 1) % 3]] for k in range(3)])
    assert np.linalg.norm(sides, axis=1).max() <= 0.06
    assert x[: len(box.vertices)] == pytest.approx(np.asarray(box.vertices))
    assert trimesh.Trimesh(x, t, process=False).is_watertight
    assert shell.get_volume() == pytest.approx(0.024)


def test_snapshots_and_clones_go_on_to_the_same_bits() -> None:
    world = World()
    world.add_ground()
    body = jelly(world, 0.15)
    world.integrate(30)
    assert goes_on_to_the_same_bits(world, 40)
    copy = world.clone_object(body)
    assert np.array_equal(copy.get_positions(), body.get_positions())
    assert np.array_equal(copy.get_tetrahedra(), body.get_tetrahedra())


OPEN = (np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float), np.array([[0, 1, 2], [0, 1, 3]]))
CUBE = mesh_of(trimesh.creation.box((1, 1, 1)))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"mesh": OPEN}, "not closed"),
        ({"mesh": (CUBE[0] * math.nan, CUBE[1])}, "finite"),
        ({"mesh": (CUBE[0], CUBE[1] + 3)}, "do not exist"),
        ({"mesh": (CUBE[0], np.zeros((0, 3), int))}, "triangles"),
        ({"mesh": 3}, "neither a file"),
        ({"mesh": "/no/such.obj"}, "no/such"),
        ({"options": MeshBuildOptions("filled", 0.001)}, "spacing"),
        ({"options": MeshBuildOptions("filled", 0.1, 20)}, "at most 20"),
        ({"pinned_vertices": [9]}, "pinned vertex"),
        ({"contact_material": 5}, "material"),
    ],
)
def test_bad_bodies_are_refused_and_change_nothing(arguments: dict[str, Any], text: str) -> None:
    world = World()
    before = world.get_configuration_number()
    with pytest.raises(RaisimError, match=text):
        world.add_deformable_object(**{"mesh": CUBE, "options": MeshBuildOptions("filled", 0.3)} | arguments)
    assert world.get_configuration_number() == before


@pytest.mark.parametrize(
    ("name", "value"),
    [("mode", "solid"), ("spacing", 0), ("spacing", math.nan), ("max_fill_particles", -1), ("internal_struts", True),
     ("strut_radius", -1), ("strut_compliance", -2), ("scale", 0)],
)  # fmt: skip
def test_bad_options_are_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidValueError, match=name):
        MeshBuildOptions(**{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("thickness", 1e-150), ("thickness", 1e200), ("youngs_modulus", 1e-320), ("youngs_modulus", 1e308),
     ("poisson_ratio", 0.5), ("total_mass", math.nan)],
)  # fmt: skip
def test_materials_that_numbers_cannot_carry_are_refused(name: str, value: float) -> None:
    with pytest.raises(InvalidValueError, match=name):
        DeformableMaterial(**{name: value})
