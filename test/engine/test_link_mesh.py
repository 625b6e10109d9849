"""What collides in the place of a link's mesh, and the cache of hulls."""

import numpy as np
import pytest
import trimesh

from raisim_ros.description.errors import MeshError
from raisim_ros.description.mesh.file import MeshData
from raisim_ros.engine import link_mesh as module
from raisim_ros.engine.link_mesh import link_mesh

UNIT = (1.0, 1.0, 1.0)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/raisim_ros/hulls"


@pytest.fixture
def ring(tmp_path):
    file = tmp_path / "ring.stl"
    trimesh.creation.annulus(0.5, 1.0, 0.3, sections=64).export(file)
    return str(file)


def test_the_hull_is_exact(ring):
    (corners,) = link_mesh(ring, UNIT, "hull")
    points = trimesh.load_mesh(ring).vertices
    directions = np.random.default_rng(2).normal(size=(500, 3))
    assert (corners @ directions.T).max(axis=0) == pytest.approx((points @ directions.T).max(axis=0), abs=1e-9)
    assert len(corners) == 128  # the inner wall is not part of it


def test_the_second_time_the_mesh_is_not_read(ring, cache, monkeypatch):
    (first,) = link_mesh(ring, (1.0, 2.0, -1.0), "hull")
    assert len(list(cache.iterdir())) == 1

    def unexpected(*_):
        raise AssertionError("the mesh was read")

    monkeypatch.setattr(module, "load_points", unexpected)
    (second,) = link_mesh(ring, (1.0, 2.0, -1.0), "hull")
    np.testing.assert_array_equal(first, second)
    with pytest.raises(AssertionError):
        link_mesh(ring, UNIT, "hull")


def test_a_changed_file_is_read_again(ring):
    (first,) = link_mesh(ring, UNIT, "hull")
    trimesh.creation.box((1, 1, 1)).export(ring)
    (second,) = link_mesh(ring, UNIT, "hull")
    assert (len(first), len(second)) == (128, 8)


def test_a_flat_mesh_keeps_its_triangles(tmp_path):
    file = tmp_path / "plate.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    with pytest.warns(RuntimeWarning, match=r"plate\.obj: the mesh is flat and has no convex hull"):
        assert isinstance(link_mesh(str(file), UNIT, "hull"), MeshData)


def test_the_original_is_a_mesh(ring):
    assert isinstance(link_mesh(ring, UNIT, "original"), MeshData)


def test_without_pieces_the_hull_is_used(ring, monkeypatch):
    monkeypatch.setattr(module, "decompose", lambda mesh, otherwise: ())
    (corners,) = link_mesh(ring, UNIT, "convexify")
    assert len(corners) == 128


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "ascii.stl"])
def test_the_hull_is_that_of_the_mesh_in_every_format(tmp_path, suffix):
    solid = trimesh.creation.icosphere(2, 0.3)
    file = tmp_path / f"ball.{suffix}"
    solid.export(file, file_type="stl_ascii" if suffix == "ascii.stl" else suffix)
    (corners,) = link_mesh(str(file), (1.0, 2.0, 3.0), "hull")
    directions = np.random.default_rng(4).normal(size=(200, 3))
    expected = (solid.vertices * (1.0, 2.0, 3.0) @ directions.T).max(axis=0)
    assert (corners @ directions.T).max(axis=0) == pytest.approx(expected, rel=1e-6)


def test_a_point_that_no_triangle_uses_is_not_part_of_the_hull(tmp_path):
    file = tmp_path / "stray.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 9 9 9\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n")
    (corners,) = link_mesh(str(file), UNIT, "hull")
    assert corners.max() == 1.0


def test_broken_meshes_are_named(tmp_path):
    file = tmp_path / "nan.stl"
    trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, np.nan, 0]], [[0, 1, 2]], process=False).export(file)
    with pytest.raises(MeshError, match=r"nan\.stl: a vertex is not finite"):
        link_mesh(str(file), UNIT, "hull")
