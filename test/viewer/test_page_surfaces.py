"""What a page draws of fine meshes: fewer triangles in the same place and colours, and nobody waits for them."""

from __future__ import annotations

import io
import threading
import time

import numpy as np
import pytest

from raisim_ros import World
from raisim_ros.viewer import page_surfaces, surfaces
from raisim_ros.viewer.mesh_detail import corner_normals, reduced
from raisim_ros.viewer.page_surfaces import MOST_OF_LINK, PageSurfaces
from raisim_ros.viewer.scene import VISUAL, SoftShape, Wanted
from raisim_ros.viewer.soft_canvas import _corners
from raisim_ros.viewer.world_feed import WorldFeed

trimesh = pytest.importorskip("trimesh")


def fine_block(sides=(0.4, 0.3, 0.2), divisions=6):
    """A block of 12 * 4^divisions triangles."""
    block = trimesh.creation.box(sides)
    for _ in range(divisions):
        block = block.subdivide()
    return block


def volume(vertices, triangles):
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_a_ball_with_fewer_triangles_is_as_large_and_closed():
    ball = trimesh.creation.icosphere(6)  # 81,920 triangles
    fewer = reduced(np.asarray(ball.vertices) + 50.0, np.asarray(ball.faces), 0, 3000)
    assert 1500 < len(fewer.triangles) <= 3000
    assert np.abs(np.linalg.norm(fewer.vertices - 50.0, axis=1) - 1.0).max() < 0.01
    assert volume(fewer.vertices - 50.0, fewer.triangles) == pytest.approx(4.0 / 3.0 * np.pi, rel=0.01)
    _, place = np.unique(fewer.vertices, axis=0, return_inverse=True)
    edges = np.sort(place.reshape(-1)[fewer.triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    assert np.unique(edges, axis=0, return_counts=True)[1].min() >= 2  # no border


def test_edges_stay_where_they_are_and_sharp():
    turn = trimesh.transformations.rotation_matrix(0.7, (1.0, 2.0, 3.0))[:3, :3]
    block = fine_block()
    fewer = reduced(np.asarray(block.vertices) @ turn.T, np.asarray(block.faces), 0, 2000)
    straight = fewer.vertices @ turn
    assert len(fewer.triangles) <= 2000
    for corner in trimesh.creation.box((0.4, 0.3, 0.2)).vertices:
        assert np.linalg.norm(straight - corner, axis=1).min() < 1e-3
    normals = np.abs(corner_normals(straight, fewer.triangles))
    assert np.median(normals.max(axis=2)) == pytest.approx(1.0, abs=1e-6)
    # A corner of the block is three points, so that whoever averages normals at points keeps the edge.
    at_corner = np.linalg.norm(straight - (0.2, 0.15, 0.1), axis=1) < 1e-3
    assert at_corner.sum() >= 3


def test_colours_and_images_keep_their_places():
    block = fine_block()
    left = np.asarray(block.vertices)[:, 0] < 0.0
    colored = block.copy()
    colored.visual = trimesh.visual.ColorVisuals(vertex_colors=np.where(left[:, None], [255, 0, 0, 255], [0, 0, 255, 255]))
    seen = page_surfaces._reduced_glb(colored.export(file_type="glb"), 3000)
    part = trimesh.load_scene(io.BytesIO(seen.glb), file_type="glb").dump()[0]
    assert len(part.faces) <= 3000
    clear = np.abs(part.vertices[:, 0]) > 0.02
    assert (np.asarray(part.visual.vertex_colors)[clear, 0] == np.where(part.vertices[clear, 0] < 0.0, 255, 0)).all()

    from PIL import Image

    material = trimesh.visual.material.PBRMaterial(baseColorTexture=Image.new("RGB", (8, 8), (10, 200, 30)))
    block.visual = trimesh.visual.TextureVisuals(uv=np.asarray(block.vertices)[:, :2] + 0.5, material=material)
    seen = page_surfaces._reduced_glb(block.export(file_type="glb"), 3000)
    part = trimesh.load_scene(io.BytesIO(seen.glb), file_type="glb").dump()[0]
    assert np.abs(np.asarray(part.visual.uv) - (part.vertices[:, :2] + 0.5)).max() < 0.03
    assert part.visual.material.baseColorTexture.getpixel((0, 0)) == (10, 200, 30)


ROBOT = """<robot name="fine"><link name="base"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="fine.stl"/></geometry></visual>
    <collision><geometry><box size="0.4 0.3 0.2"/></geometry></collision></link></robot>"""


def test_neither_page_nor_world_waits_for_a_large_file(tmp_path, monkeypatch):
    fine_block().export(tmp_path / "fine.stl")
    (tmp_path / "fine.urdf").write_text(ROBOT)
    gate, read = threading.Event(), surfaces.file_surface
    monkeypatch.setattr(surfaces, "file_surface", lambda *args: gate.wait(30) and read(*args))
    world = World()
    feed = WorldFeed(world)
    world.add_articulated_system(tmp_path / "fine.urdf")
    try:
        model = feed.model()
        assert not model.complete
        assert not [part for part in model.items[0].parts if part.layer == VISUAL]
        world.integrate()  # nobody holds it
        before = feed.moment(Wanted()).number
    finally:
        gate.set()
    end = time.monotonic() + 30.0
    while feed.moment(Wanted()).number == before:
        assert time.monotonic() < end
        time.sleep(0.01)
    model = feed.model()
    assert model.complete
    (part,) = (part for part in model.items[0].parts if part.layer == VISUAL)
    assert 0 < len(part.surface.triangles) <= MOST_OF_LINK
    assert np.ptp(part.surface.vertices, axis=0) == pytest.approx([0.4, 0.3, 0.2], abs=1e-3)
    feed.close()


def test_a_file_that_cannot_be_read_is_asked_for_once(tmp_path, monkeypatch):
    (tmp_path / "bad.stl").write_bytes(b"solid nothing")
    asked = []
    monkeypatch.setattr(surfaces, "file_surface", lambda *args: asked.append(args))
    meshes = PageSurfaces()
    assert meshes.of_file(tmp_path / "bad.stl", False, alone=False) is None
    end = time.monotonic() + 10.0
    while not meshes.number:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert meshes.of_file(tmp_path / "bad.stl", False, alone=False) is None
    assert (len(asked), meshes.misses) == (1, 1)
    assert meshes.of_file(tmp_path / "missing.stl", False, alone=False) is None
    assert meshes.misses == 1


def test_what_was_read_of_a_file_is_still_drawn_when_that_is_gone(tmp_path):
    """Files that people give a page go with it, and folders are tidied up while a world runs."""
    file = tmp_path / "block.stl"
    fine_block(divisions=1).export(file)
    meshes = PageSurfaces(wait=True)
    before = meshes.of_file(file, False, alone=True)
    assert before is not None
    file.unlink()
    assert meshes.of_file(file, False, alone=True) is before


def test_edges_of_soft_bodies_are_sharp_and_cloth_is_as_it_is():
    box = trimesh.creation.box((1.0, 1.0, 1.0)).subdivide()
    triangles = np.asarray(box.faces, np.uint32)
    shape = SoftShape(np.asarray(box.vertices, np.float32), np.zeros(0, np.float32))
    corners, split = _corners(shape, triangles)
    assert len(box.vertices) == 26
    assert len(corners) == 6 * 9  # nine for each side
    assert np.array_equal(corners[split], triangles)
    corners, same = _corners(shape, triangles[1:])  # it has a hole: cloth, that folds
    assert np.array_equal(corners, np.arange(26))
    assert len(same) == len(triangles) - 1
