"""Large soft objects are solved in parts, which threads share: neither their number nor what is stored changes a bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh
from random_soft import sheet
from scipy.spatial.transform import Rotation
from world_promises import goes_on_to_the_same_bits

from raisim_ros import DeformableMaterial, DeformableObject, MeshBuildOptions, World


def torn_cloth(world: World) -> DeformableObject:
    """A sheet of 1600 vertices in a bad order, and one piece apart from it; a ball falls through it."""
    x, triangles = sheet(40, 40, 1.0)
    order = np.random.default_rng(3).permutation(len(x))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    apart, more = sheet(3, 3, 0.1)
    x = np.r_[x[order], apart - np.array([0, 0, 0.5])] + np.array([0, 0, 1])
    triangles = np.r_[place[triangles], more + len(order)]
    corners = [int(place[k]) for k in (0, 39, 1560, 1599)]
    material = DeformableMaterial(
        total_mass=0.3, distance_stiffness=20, bend_compliance=1e3, tear_strain=0.2, collision_radius=0.005
    )
    cloth = world.add_deformable_cloth(x, triangles, corners, material)
    cloth.add_distance_constraint(int(place[5]), int(place[1300]), 1e-2)
    ball = world.add_sphere(0.1, 5)
    ball.set_position([0.03, 0.02, 1.12])
    ball.set_velocity([0, 0, -3], [0, 0, 0])
    return cloth


def thick_jelly(world: World) -> DeformableObject:
    """A box of more than a thousand particles."""
    box = trimesh.creation.box((0.4, 0.4, 0.4))
    vertices = Rotation.from_euler("xyz", [0.3, 0.2, 0.1]).apply(box.vertices) + np.array([0, 0, 0.4])
    material = DeformableMaterial(total_mass=20, youngs_modulus=3e4, poisson_ratio=0.4)
    return world.add_deformable_object((vertices, box.faces), material, MeshBuildOptions("filled", 0.05))


@pytest.mark.parametrize(("make", "least"), [(torn_cloth, 1620), (thick_jelly, 1024)])
def test_threads_change_no_bits(make: Any, least: int) -> None:
    hashes = set()
    for threads in (1, 2, 5):
        world = World()
        world.set_threads(threads)
        world.set_time_step(0.003)
        world.add_ground()
        soft = make(world)
        world.integrate(25)
        assert soft.get_num_particles() > least  # the cloth is torn
        hashes.add((world.get_state_hash(), soft.get_positions().tobytes()))
    assert len(hashes) == 1


def test_what_is_torn_goes_on_from_a_snapshot_to_the_same_bits() -> None:
    world = World()
    world.set_time_step(0.003)
    torn_cloth(world)
    world.integrate(12)
    assert goes_on_to_the_same_bits(world, 8)


def test_a_body_of_a_file_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    world = World()
    world.set_time_step(0.003)
    body = thick_jelly(world)
    body.set_velocities(np.random.default_rng(1).normal(size=(body.get_num_particles(), 3)))
    world.integrate(6)
    world.export_to_xml(tmp_path, "jelly.xml")
    read = World(tmp_path / "jelly.xml")
    again = next(one for one in read.get_obj_list() if isinstance(one, DeformableObject))
    world.integrate(6)
    read.integrate(6)
    assert np.array_equal(again.get_positions(), body.get_positions())
