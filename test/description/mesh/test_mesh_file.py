"""Reading and repairing mesh files."""

import os
import re
import struct

import numpy as np
import pytest
import trimesh

from raisim_ros.description.errors import FileMissingError, InvalidValueError, MeshError
from raisim_ros.description.limits import FileLimits, get_file_limits
from raisim_ros.description.mesh.file import convex_hull, load_mesh, make_mesh


@pytest.fixture
def box():
    return trimesh.creation.box(extents=(1.0, 2.0, 3.0))


def export(mesh, path):
    mesh.export(path)
    return path


@pytest.mark.parametrize("suffix", ["obj", "stl", "ply", "off", "glb", "gltf", "dae"])
def test_formats_give_the_same_closed_box(tmp_path, box, suffix):
    mesh = load_mesh(export(box, tmp_path / f"box.{suffix}"))
    assert mesh.is_closed
    assert mesh.vertices.shape == (8, 3)  # STL repeats each vertex; they are merged
    assert mesh.triangles.shape == (12, 3)
    assert mesh.triangles.dtype == np.int32
    assert mesh.volume() == pytest.approx(6.0, rel=1e-6)


def test_scene_parts_are_joined_at_their_places(tmp_path):
    scene = trimesh.Scene()
    scene.add_geometry(
        trimesh.creation.box(extents=(1, 1, 1)),
        transform=trimesh.transformations.translation_matrix((5, 0, 0)),
    )
    turned = trimesh.transformations.rotation_matrix(np.pi / 2, (0, 0, 1))
    turned[:3, 3] = (0, -3, 0)
    scene.add_geometry(trimesh.creation.box(extents=(2, 1, 1)), transform=turned)
    scene.export(tmp_path / "scene.glb")
    mesh = load_mesh(tmp_path / "scene.glb")
    low, high = mesh.bounds()
    np.testing.assert_allclose(low, (-0.5, -4.0, -0.5), atol=1e-6)
    np.testing.assert_allclose(high, (5.5, 0.5, 0.5), atol=1e-6)
    assert mesh.volume() == pytest.approx(3.0, rel=1e-6)


def test_scale_uses_all_three_components(tmp_path, box):
    mesh = load_mesh(export(box, tmp_path / "box.obj"), scale=(2.0, 0.5, 1.0))
    low, high = mesh.bounds()
    np.testing.assert_allclose(high - low, (2.0, 1.0, 3.0))


def test_negative_scale_keeps_the_outside_outside(tmp_path):
    cone = trimesh.creation.cone(radius=1.0, height=2.0)
    mesh = load_mesh(export(cone, tmp_path / "cone.obj"), scale=(1.0, 1.0, -1.0))
    assert mesh.volume() == pytest.approx(cone.volume, rel=1e-6)
    assert not mesh.was_flipped  # the mirror was undone, the file itself was right
    assert mesh.bounds()[0][2] == pytest.approx(-2.0)


def test_inverted_closed_mesh_is_turned(tmp_path, box):
    box.invert()
    mesh = load_mesh(export(box, tmp_path / "inverted.obj"))
    assert mesh.was_flipped
    assert mesh.volume() == pytest.approx(6.0)


def test_open_mesh_is_fine_and_says_so(tmp_path, box):
    box.update_faces(np.arange(12) != 4)
    mesh = load_mesh(export(box, tmp_path / "open.obj"))
    assert not mesh.is_closed
    assert len(mesh.triangles) == 11


def test_inconsistent_winding_is_not_closed(box):
    triangles = box.faces.copy()
    triangles[3] = triangles[3][::-1]
    assert not make_mesh(box.vertices, triangles).is_closed


def test_degenerate_triangles_are_dropped(tmp_path):
    path = tmp_path / "degenerate.obj"
    path.write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nv 9 9 9\n"
        "f 1 2 3\n"
        "f 1 2 2\n"  # a vertex twice
        "f 1 2 4\n"  # three vertices on a line
    )
    mesh = load_mesh(path)
    assert mesh.dropped_triangles == 2
    assert len(mesh.triangles) == 1
    assert len(mesh.vertices) == 3  # the unused vertex is gone


def test_all_triangles_degenerate(tmp_path):
    path = tmp_path / "line.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")
    with pytest.raises(MeshError, match=r"line\.obj: none of the 1 triangles has an area"):
        load_mesh(path)


def test_not_a_number_is_refused(tmp_path):
    path = tmp_path / "nan.obj"
    path.write_text("v 0 0 0\nv 1 0 nan\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(MeshError, match=r"nan\.obj: vertex 1 is .* expected finite"):
        load_mesh(path)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.stl", b"", "the file is empty"),
        ("noise.obj", b"this is not a mesh\n", "noise.obj"),
        ("noise.stl", bytes(range(256)) * 3, "noise.stl"),
        ("noise.ply", b"ply\nformat binary_little_endian 1.0\nelement ver", "noise.ply"),
        ("noise.glb", b"glTF\x02\x00\x00\x00" + b"\xff" * 40, "noise.glb"),
        ("points.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no triangles|not a readable"),
        ("file.docx", b"PK\x03\x04", "unknown mesh format 'docx', expected one of .*obj"),
        ("truncated.stl", b"\0" * 80 + struct.pack("<I", 1000) + b"\0" * 500, "truncated.stl"),
    ],
)
def test_wrong_files_are_refused_with_their_name(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MeshError, match=message):
        load_mesh(path)


def test_a_binary_file_that_speaks_of_text_is_no_text(tmp_path, box):
    path = export(box, tmp_path / "box.ply")
    content = path.read_bytes()
    assert b"binary_little_endian 1.0\n" in content
    path.write_bytes(content.replace(b" 1.0\n", b" 1.0\ncomment format ascii before\n", 1))
    assert len(load_mesh(path).triangles) == len(box.faces)


def test_collada_with_a_broken_material_keeps_its_shape(tmp_path, box):
    path = export(box, tmp_path / "box.dae")
    text = path.read_text()
    assert "<bind_material" in text
    path.write_text(re.sub(r"<library_effects>.*</library_effects>", "", text, flags=re.DOTALL))
    assert len(load_mesh(path).triangles) == 12


@pytest.mark.parametrize("up_axis", ["X_UP", "Y_UP", "Z_UP"])
def test_collada_says_its_unit_and_is_not_turned(tmp_path, box, up_axis):
    box.apply_translation((5.0, 0.0, -1.0))
    path = export(box, tmp_path / "box.dae")
    unit = f'<unit name="millimeter" meter="0.001"/><up_axis>{up_axis}</up_axis>'
    path.write_text(re.sub("<up_axis>.*</up_axis>", unit, path.read_text()))
    mesh = load_mesh(path)
    np.testing.assert_allclose(mesh.vertices.min(0), (0.0045, -0.001, -0.0025), atol=1e-12)
    np.testing.assert_allclose(mesh.vertices.max(0), (0.0055, 0.001, 0.0005), atol=1e-12)


@pytest.mark.parametrize(("suffix", "package"), [("dae", "pycollada"), ("3mf", "networkx")])
def test_formats_of_optional_packages_say_what_to_install(tmp_path, monkeypatch, suffix, package):
    monkeypatch.setattr(trimesh, "available_formats", lambda: {"obj", "stl"})
    path = tmp_path / f"robot.{suffix}"
    path.write_text("something")
    with pytest.raises(MeshError, match=f"needs the Python package {package}"):
        load_mesh(path)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(FileMissingError, match=r"mesh file '.*nowhere\.obj' does not exist"):
        load_mesh(tmp_path / "nowhere.obj")
    with pytest.raises(FileMissingError, match="is a folder"):
        load_mesh(tmp_path)


@pytest.mark.parametrize("scale", [0.0, (1.0, 0.0, 1.0), (1.0, 2.0), float("nan"), (1.0, float("inf"), 1.0)])
def test_bad_scale(tmp_path, box, scale):
    with pytest.raises(InvalidValueError, match="scale is"):
        load_mesh(export(box, tmp_path / "box.obj"), scale=scale)


@pytest.mark.timeout(60)  # against hanging
def test_ten_million_triangles_are_refused_quickly(tmp_path):
    path = tmp_path / "huge.stl"
    with path.open("wb") as stream:
        stream.write(b"\0" * 80 + struct.pack("<I", 10_000_000))
        stream.truncate(84 + 50 * 10_000_000)  # sparse: no disk is used
    with pytest.raises(MeshError, match=f"10000000 triangles, at most {get_file_limits().max_triangles}"):
        load_mesh(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("huge.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nelement face 10000000\nend_header\n"),
        ("huge.off", b"OFF\n3 10000000 0\n"),
    ],
)
def test_declared_size_is_enough_to_refuse(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(MeshError, match="10000000 triangles, at most"):
        load_mesh(path)


def test_too_many_text_faces_are_refused_without_parsing(tmp_path, monkeypatch):
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_triangles=1000))
    path = tmp_path / "many.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n" + "f 1 2 3\n" * 1001)
    with pytest.raises(MeshError, match="1001 triangles, at most 1000"):
        load_mesh(path)


def test_a_file_is_read_once_until_it_changes(tmp_path, box):
    path = export(box, tmp_path / "box.obj")
    first = load_mesh(path)
    assert load_mesh(path) is first
    assert load_mesh(path, scale=2.0) is not first
    export(trimesh.creation.box(extents=(4, 4, 4)), path)
    os.utime(path, ns=(1, 1))
    assert load_mesh(path).volume() == pytest.approx(64.0)


def test_shared_arrays_cannot_be_written(tmp_path, box):
    mesh = load_mesh(export(box, tmp_path / "box.obj"))
    with pytest.raises(ValueError, match="read-only"):
        mesh.vertices[0, 0] = 1.0


def test_box_inertia_is_that_of_the_bounding_box():
    mesh = make_mesh(
        [[1, 0, 0], [3, 0, 0], [1, 4, 0], [1, 0, 6]], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
    )
    np.testing.assert_allclose(mesh.box_center(), (2.0, 2.0, 3.0))
    expected = trimesh.creation.box(extents=(2, 4, 6))
    expected.density = 12.0 / expected.volume
    np.testing.assert_allclose(mesh.box_inertia(12.0), expected.moment_inertia, rtol=1e-9, atol=1e-9)


def test_convex_hull_of_a_concave_mesh():
    rng = np.random.default_rng(3)
    ball = trimesh.creation.icosphere(subdivisions=3)
    points = ball.vertices * rng.uniform(0.7, 1.3, size=(len(ball.vertices), 1))
    hull = convex_hull(make_mesh(points, ball.faces))
    assert hull.is_closed
    assert hull.volume() == pytest.approx(trimesh.Trimesh(points, ball.faces).convex_hull.volume, rel=1e-9)


def test_flat_mesh_has_no_hull():
    flat = make_mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]], source="flat.obj")
    with pytest.raises(MeshError, match=r"flat\.obj.* plane"):
        convex_hull(flat)


def test_arrays_of_wrong_form():
    with pytest.raises(MeshError, match="expected N x 3 and M x 3"):
        make_mesh([[0, 0], [1, 0]], [[0, 1, 0]])
    with pytest.raises(MeshError, match=r"outside 0\.\.2"):
        make_mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 3]])
    with pytest.raises(MeshError, match="no triangles"):
        make_mesh(np.empty((0, 3)), np.empty((0, 3), dtype=int))


def test_usd_units_axes_and_transforms(tmp_path):
    usd = pytest.importorskip("pxr.Usd")
    from pxr import Gf, UsdGeom

    stage = usd.Stage.CreateNew(str(tmp_path / "box.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    group = UsdGeom.Xform.Define(stage, "/group")
    group.AddTranslateOp().Set(Gf.Vec3d(0, 100, 0))
    mesh = UsdGeom.Mesh.Define(stage, "/group/box")
    corners = [(x, y, z) for x in (-50, 50) for y in (-50, 50) for z in (-50, 50)]
    mesh.CreatePointsAttr(corners)
    mesh.CreateFaceVertexCountsAttr([4] * 6)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.CreateFaceVertexIndicesAttr([i for quad in quads for i in quad])
    stage.Save()
    box = load_mesh(tmp_path / "box.usda")
    np.testing.assert_allclose(box.bounds()[0], (-0.5, -0.5, 0.5), atol=1e-9)
    np.testing.assert_allclose(box.bounds()[1], (0.5, 0.5, 1.5), atol=1e-9)
    assert box.is_closed
    assert not box.was_flipped


def test_usd_without_the_extra_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pxr", None)
    path = tmp_path / "scene.usda"
    path.write_text("#usda 1.0\n")
    with pytest.raises(MeshError, match=r"pip install 'raisim_ros\[usd\]'"):
        load_mesh(path)
