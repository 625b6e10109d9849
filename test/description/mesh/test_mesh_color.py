"""Which files have colours of their own: told without reading them as meshes."""

import numpy as np
import pytest

from raisim_ros.description.mesh.color import brings_materials, has_colors

trimesh = pytest.importorskip("trimesh")

CORNERS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


def block(kind):
    made = trimesh.creation.box((1.0, 1.0, 1.0))
    if kind == "vertices":
        made.visual = trimesh.visual.ColorVisuals(made, vertex_colors=np.tile([200, 100, 50, 255], (8, 1)))
    elif kind == "material":
        material = trimesh.visual.material.PBRMaterial(baseColorFactor=[200, 30, 30, 255])
        made.visual = trimesh.visual.TextureVisuals(uv=np.zeros((8, 2)), material=material)
    return made


@pytest.mark.parametrize(
    ("kind", "suffix", "colored"),
    [("", "stl", False), ("", "ply", False), ("vertices", "ply", True), ("vertices", "glb", True), ("material", "glb", True)],
)
def test_files_that_trimesh_writes(tmp_path, kind, suffix, colored):
    file = tmp_path / f"block.{suffix}"
    block(kind).export(file)
    assert has_colors(file) == colored
    assert brings_materials(file) == (suffix == "glb" and kind == "material")


@pytest.mark.parametrize(
    ("text", "colored"),
    [(CORNERS, False), ("mtllib some.mtl\n" + CORNERS, True), ("# mtllib no.mtl\n" + CORNERS, False),
     (CORNERS.replace("v 0 0 0", "v 0 0 0 1.0"), False), (CORNERS.replace("v 0 0 0", "v 0 0 0 0.5 0.2 1e-1"), True)],
)
def test_files_of_text(tmp_path, text, colored):
    file = tmp_path / "tetrahedron.obj"
    file.write_text(text)
    assert has_colors(file) == colored


def test_a_file_that_is_written_anew_or_gone(tmp_path):
    file = tmp_path / "tetrahedron.obj"
    assert not has_colors(file)
    file.write_text(CORNERS)
    assert not has_colors(file)
    file.write_text("mtllib a.mtl\n" + CORNERS)
    assert has_colors(file)
