"""Surfaces have the size of what they draw and are seen from outside."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pytest

from raisim_ros.description.terrain import height_map_from_values
from raisim_ros.viewer import surfaces
from raisim_ros.viewer.scene import (
    Item,
    Part,
    SceneModel,
    View,
    boxes_of,
    compose,
    fitting_view,
    rotate,
    to_body,
    to_world,
    view_with,
)


def volume_of(placed):
    """Enclosed volume; negative when triangles look inwards."""
    total = 0.0
    for surface, pose, scale in placed:
        corners = compose(pose, np.column_stack((surface.vertices * scale, np.tile([0, 0, 0, 1.0], (len(surface.vertices), 1)))))
        a, b, c = (corners[surface.triangles[:, k], :3] for k in range(3))
        total += np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    return total


@pytest.mark.parametrize(
    ("shape", "dim", "volume"),
    [
        ("sphere", (0.5,), 4 / 3 * math.pi * 0.125),
        ("box", (1.0, 2.0, 3.0), 6.0),
        ("cylinder", (0.5, 2.0), math.pi * 0.5),
        ("cone", (0.5, 2.0), math.pi * 0.5 / 3),
    ],
)
def test_primitives_have_their_volume(shape, dim, volume):
    assert volume_of(surfaces.primitive(shape, dim)) == pytest.approx(volume, rel=0.02)


def test_the_origin_of_a_cone_is_its_centroid():
    (surface, _, scale), = surfaces.primitive("cone", (1.0, 4.0))
    heights = surface.vertices[:, 2] * scale[2]
    assert (heights.min(), heights.max()) == (-1.0, 3.0)


def test_a_capsule_reaches_beyond_its_length_by_its_radius():
    top = max(pose[2] + scale[2] * surface.vertices[:, 2].max() for surface, pose, scale in surfaces.primitive("capsule", (0.2, 1.0)))
    assert top == pytest.approx(0.7)


def test_terrain_lies_on_its_samples_and_looks_up():
    data = height_map_from_values(3, 4, 2.0, 3.0, [0.1 * k for k in range(12)], 5.0, 6.0)
    surface = surfaces.height_map_surface(data, None)
    assert len(surface.vertices) == 12
    assert surface.vertices[:, :2].min(axis=0).tolist() == [-1.0, -1.5]
    a, b, c = (surface.vertices[surface.triangles[:, k]] for k in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    assert surface.glb is not None


def test_a_file_that_is_no_mesh_is_not_drawn(tmp_path):
    bad = tmp_path / "bad.obj"
    bad.write_text("nothing", encoding="utf-8")
    assert surfaces.file_surface(bad, own_colors=True) is None
    assert surfaces.file_surface(tmp_path / "missing.stl", own_colors=False) is None


def test_poses_compose_and_points_go_there_and_back():
    random = np.random.default_rng(3)
    outer, inner = random.normal(size=(2, 5, 7))
    for poses in (outer, inner):
        poses[:, 3:] /= np.linalg.norm(poses[:, 3:], axis=1)[:, None]
    point = random.normal(size=3)
    both = compose(outer, inner)
    for row in range(5):
        assert to_world(both[row], point) == pytest.approx(to_world(outer[row], to_world(inner[row], point)))
        assert to_body(outer[row], to_world(outer[row], point)) == pytest.approx(point)
    assert rotate(np.array([0, 0, math.sqrt(0.5), math.sqrt(0.5)]), np.array([1.0, 0, 0])) == pytest.approx([0, 1, 0])


@pytest.mark.parametrize("textured", [False, True], ids=["colours", "an image"])
def test_a_file_of_several_meshes_is_drawn_as_one(tmp_path, textured):
    """The page fails at files of several meshes that can be dragged."""
    import trimesh
    from PIL import Image

    parts = [trimesh.creation.box((1.0, 1.0, 1.0)), trimesh.creation.box((1.0, 1.0, 1.0))]
    parts[1].apply_translation((3.0, 0.0, 0.0))
    image = Image.new("RGB", (4, 4), (0, 0, 255)) if textured else None
    for part, color in zip(parts, ([255, 0, 0, 255], [255, 255, 255, 255]), strict=True):
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=color)
        if color[1] and image is not None:
            material.baseColorTexture = image
        part.visual = trimesh.visual.TextureVisuals(uv=np.full((len(part.vertices), 2), 0.5), material=material)
    file = tmp_path / "two.glb"
    trimesh.Scene(parts).export(file)
    surface = surfaces.file_surface(file, own_colors=True)
    drawn = trimesh.load_scene(io.BytesIO(surface.glb), file_type="glb")
    (one,) = drawn.geometry.values()
    assert one.bounds == pytest.approx(np.array([[-0.5, -0.5, -0.5], [3.5, 0.5, 0.5]]))
    colors = one.visual.to_color().vertex_colors if textured else one.visual.vertex_colors
    left = one.vertices[:, 0] < 1.0
    assert colors[left][:, 0].mean() > 200
    assert colors[left][:, 2].mean() < 60
    assert colors[~left][:, 2].mean() > 200


def materials_of(glb):
    """The materials of a binary glTF file, by primitive."""
    length = int.from_bytes(glb[12:16], "little")
    tree = json.loads(glb[20 : 20 + length])
    primitives = [one for mesh in tree["meshes"] for one in mesh["primitives"]]
    return [tree["materials"][one["material"]]["pbrMetallicRoughness"] for one in primitives]


@pytest.mark.parametrize("kind", ["terrain", "colours", "texture"])
def test_what_does_not_say_that_it_is_metal_is_none(kind, tmp_path):
    """A glTF file without a word about it is metal, and black where nothing is mirrored."""
    import trimesh
    from PIL import Image

    if kind == "terrain":
        surface = surfaces.height_map_surface(height_map_from_values(2, 2, 1.0, 1.0, [0.0] * 4), None)
    else:
        box = trimesh.creation.box((1.0, 1.0, 1.0))
        if kind == "texture":
            uv, image = np.random.default_rng(1).random((len(box.vertices), 2)), Image.new("RGB", (4, 4), (200, 100, 50))
            box.visual = trimesh.visual.TextureVisuals(uv=uv, material=trimesh.visual.material.SimpleMaterial(image=image))
            box.export(tmp_path / "box.obj")
            surface = surfaces.file_surface(tmp_path / "box.obj", own_colors=True)
        else:
            box.visual.vertex_colors = [200, 100, 50, 255]
            box.export(tmp_path / "box.ply")
            surface = surfaces.file_surface(tmp_path / "box.ply", own_colors=True)
    assert surface.glb is not None
    assert [one["metallicFactor"] for one in materials_of(surfaces.without_metal(surface.glb))] == [0.0]
    assert trimesh.load_scene(io.BytesIO(surfaces.without_metal(surface.glb)), file_type="glb").geometry


def test_the_box_around_what_is_turned_is_no_larger_than_it():
    ((surface, _, scale),) = surfaces.primitive("sphere", (0.5,))
    turned = np.array([0.0, 0.0, 1.0, *(np.sin(0.4) * np.array([0.6, 0.0, 0.8])), np.cos(0.4)])
    item = Item("ball", "sphere", True, [Part(surface, 0, scale=scale)], ("ball",), 0)
    low, high = boxes_of([item], turned[None])[0]
    assert high - low == pytest.approx(np.ones(3), rel=0.08)
    assert 0.5 * (low + high) == pytest.approx([0.0, 0.0, 1.0], abs=0.03)


@pytest.mark.parametrize("centre", [(0.0, 0.0, 0.5), (4.0, 1.0, 0.5), (9.0, 0.0, 0.0)])
def test_a_view_that_lacks_something_is_shifted_to_it(centre):
    box = np.array([np.subtract(centre, 0.6), np.add(centre, 0.6)])
    near = View((2.0, 0.0, 1.0), (0.0, 0.0, 0.5))
    shifted = view_with(box, near, 0.75)
    assert shifted is not None
    arm, former = np.subtract(shifted.position, shifted.look_at), np.subtract(near.position, near.look_at)
    assert arm / np.linalg.norm(arm) == pytest.approx(former / np.linalg.norm(former))
    assert shifted.look_at == pytest.approx(centre)
    assert view_with(box, shifted, 0.75) is None  # now it has it
    assert view_with(box, View((20.0, 0.0, 9.0), centre), 0.75) is None


@pytest.mark.parametrize("size", [(2.0, 2.0, 0.6), (0.2, 0.3, 1.8), (1.0, 0.4, 0.3), (0.5, 0.5, 0.5)])
def test_the_first_view_has_all_of_a_robot(size):
    """Of an ant, the leg in front was cut off, on the page and in pictures."""
    item = Item("robot", "articulated_system", True, [Part(surfaces.unit("block"), 0, scale=size)], ("base",), 0)
    view = fitting_view(SceneModel([item], 1), np.array([[0.0, 0.0, 0.5 * size[2], 0.0, 0.0, 0.0, 1.0]]))
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (0.0, 1.0)]) * size
    ahead = np.subtract(view.look_at, view.position) / np.linalg.norm(np.subtract(view.look_at, view.position))
    right = np.cross(ahead, (0.0, 0.0, 1.0)) / np.linalg.norm(np.cross(ahead, (0.0, 0.0, 1.0)))
    way = corners - view.position
    wide = np.tan(0.5 * view.horizontal_fov)
    assert (np.abs(way @ right) < wide * (way @ ahead)).all()
    assert (np.abs(way @ np.cross(right, ahead)) < 9.0 / 16.0 * wide * (way @ ahead)).all()


def test_what_drove_away_is_not_in_the_first_view():
    """After minutes a cart was 60 m away, and whoever opened the page saw specks."""
    places = np.array([[0.0, 0, 0.5], [1.0, 1, 0.5], [2.0, -1, 0.5], [60.0, 0, 0.5]])
    items = [Item(str(k), "sphere", True, [Part(surfaces.unit("ball"), k)], (str(k),), k) for k in range(4)]
    poses = np.column_stack((places, np.zeros((4, 3)), np.ones(4)))
    view = fitting_view(SceneModel(items, 4), poses)
    assert 2.0 < np.linalg.norm(np.subtract(view.position, view.look_at)) < 8.0
    poses[3, 0] = 8.0  # that is nothing
    assert fitting_view(SceneModel(items, 4), poses).look_at[0] == pytest.approx(4.0, abs=0.1)


def test_what_is_hardly_seen_is_looked_at_from_nearer():
    """A small arm that was dropped beside a pyramid was some pixels."""
    small, view = np.array([[2.0, 1.0, 0.0], [2.4, 1.1, 0.3]]), View((8.0, 0.0, 4.0), (0.0, 0.0, 0.0))
    assert view_with(small, view, 0.75) is None
    nearer = view_with(small, view, 0.75, closer=True)
    eye, middle = np.array(nearer.position), np.array(nearer.look_at)
    assert middle == pytest.approx([2.2, 1.05, 0.15])
    assert np.cross(eye - middle, (8.0, 0.0, 4.0)) == pytest.approx(0.0, abs=1e-9)  # from the same side
    assert 1.0 < np.linalg.norm(eye - middle) < 4.0
    assert view_with(small, nearer, 0.75, closer=True) is None
    nothing_yet = np.array([[2.0, 1.0, 0.0], [2.0, 1.0, 0.0]])
    assert view_with(nothing_yet, view, 0.75, closer=True) is None


@pytest.mark.parametrize(("size", "seen"), [(1.5, True), (40.0, False)])
def test_the_first_view_has_what_things_stand_on_unless_it_is_a_landscape(size, seen):
    """Two balls, and under one of them something that does not move."""
    ball = [Part(surfaces.unit("ball"), frame) for frame in (0, 1)]
    plate = Part(surfaces.unit("block"), 2, scale=(size, size, 0.1))
    items = [Item(f"ball_{k}", "sphere", True, [ball[k]], (), k) for k in (0, 1)]
    items.append(Item("plate", "box", False, [plate], (), 2))
    poses = np.array([[x, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0] for x in (-2.0, 2.0, 2.0)])
    alone, view = fitting_view(SceneModel(items[:2], 3), poses), fitting_view(SceneModel(items, 3), poses)
    assert (view != alone) == seen
