"""OBJ and COLLADA are read to what trimesh reads of them; what is not known here is left to it."""

from dataclasses import replace

import numpy as np
import pytest
import trimesh

from raisim_ros.description.errors import MeshError
from raisim_ros.description.limits import get_file_limits, set_file_limits
from raisim_ros.description.mesh.file import load_mesh, make_mesh
from raisim_ros.description.mesh.plain_formats import read_collada, read_obj

CUBE = """# a cube
v -1 -1 -1
v 1 -1 -1
v 1 1 -1
v -1 1 -1
v -1 -1 1
v 1 -1 1
v 1 1 1
v -1 1 1
f 4 3 2 1
f 5 6 7 8
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f 4 1 5 8
"""


def volume(mesh) -> float:
    assert mesh is not None
    closed = make_mesh(*mesh)
    assert closed.is_closed
    assert not closed.was_flipped
    return closed.volume()


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("f 4 3 2 1", "f 4/1/1 3//2 2/7 1"),
        lambda text: text.replace("v 1 1 1\n", "v 1 1 1 0.5 0.5 0.5\n"),  # one vertex with a colour
        lambda text: text.replace("v ", "v\t").replace("f ", "f  "),
        lambda text: text.replace("# a cube", "mtllib a.mtl\no cube\nvn 0 0 1\nvt 0 0\nusemtl red\ns off\ng side"),
        lambda text: text.replace("v 1 1 1\n", "v 1.0e0 +1 1.\n"),
    ],
)
def test_obj_as_it_is_written(change):
    assert volume(read_obj(change(CUBE).encode())) == pytest.approx(8.0)


def test_polygons_become_fans():
    ring = "".join(f"v {np.cos(a)} {np.sin(a)} 0\n" for a in np.linspace(0, 2 * np.pi, 7)[:-1])
    vertices, triangles = read_obj((ring + "f 1 2 3 4 5 6\nf 1 2 3\n").encode())
    assert triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5], [0, 1, 2]]
    assert vertices.shape == (6, 3)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\n",
        CUBE.replace("f 4 3 2 1", "f -4 -3 -2 -1"),
        CUBE.replace("f 4 3 2 1", "f 4 3 2 9"),
        CUBE.replace("f 4 3 2 1", "f 4 3"),
        CUBE.replace("f 4 3 2 1", "f 4 3 \\\n2 1"),
        CUBE.replace("f 4 3 2 1", "  f 4 3 2 1"),
        CUBE.replace("v 1 1 1", "v 1 1"),
        CUBE.replace("v 1 1 1", "v 1 one 1"),
        CUBE.replace("v 1 1 1", "v 1 1 1 # corner"),
        CUBE.replace("f 4 3 2 1", "f a b c"),
    ],
)
def test_other_obj_files_are_left_to_trimesh(text):
    assert read_obj(text.encode()) is None


COLLADA = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="24">-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1</float_array>
<technique_common><accessor source="#pa" count="8" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
PRIMITIVES
</mesh></geometry></library_geometries>
<library_nodes><node id="n"><translate>0 0 9</translate><instance_geometry url="#g"/></node></library_nodes>
<library_visual_scenes><visual_scene id="s">
<node><matrix>1 0 0 5 0 1 0 0 0 0 1 0 0 0 0 1</matrix><rotate>0 0 1 90</rotate><scale>2 1 1</scale>
<instance_geometry url="#g"/><node><instance_node url="#n"/></node></node>
</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>"""
CORNERS = [[3, 2, 1, 0], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
VERTEX = '<input semantic="VERTEX" source="#v" offset="1"/><input semantic="NORMAL" source="#p" offset="0"/>'


def words(corners) -> str:
    return " ".join(f"0 {corner}" for corner in corners)


def collada(kind: str) -> str:
    if kind == "triangles":
        corners = [corner for a, b, c, d in CORNERS for corner in (a, b, c, a, c, d)]
        part = f'<triangles count="12">{VERTEX}<p>{words(corners)}</p></triangles>'
    elif kind == "polylist":
        corners = [corner for face in CORNERS for corner in face]
        part = f'<polylist count="6">{VERTEX}<vcount>4 4 4 4 4 4</vcount><p>{words(corners)}</p></polylist>'
    else:
        part = f'<polygons count="6">{VERTEX}' + "".join(f"<p>{words(face)}</p>" for face in CORNERS) + "</polygons>"
    return COLLADA.replace("PRIMITIVES", part)


@pytest.mark.parametrize("kind", ["triangles", "polylist", "polygons"])
def test_collada_puts_its_parts_where_its_scene_says(kind):
    vertices, triangles = read_collada(collada(kind).encode())
    assert volume((vertices, triangles)) == pytest.approx(2 * 16e-6)
    # Two cubes, twice as long along y after the turn by 90°, the second one 9 higher; in centimetres.
    assert vertices.min(axis=0) == pytest.approx([0.04, -0.02, -0.01])
    assert vertices.max(axis=0) == pytest.approx([0.06, 0.02, 0.10])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<triangles", "<tristrips"),
        ('stride="3"', 'stride="4"'),
        ("<scale>2 1 1</scale>", "<skew>1 0 0 0 1 0 0</skew>"),
        ('<instance_geometry url="#g"/><node>', '<instance_controller url="#g"/><node>'),
        ('url="#s"', 'url="#t"'),
        ("0 3 0 2 0 1", "0 3 0 2 0 99"),
        ("0 3 0 2 0 1", "0 3 0 2"),
        ("-1 -1 -1 1", "-1 -1 minus 1"),
        ('<instance_geometry url="#g"/></node></library_nodes>', '<instance_node url="#n"/></node></library_nodes>'),
        ("</COLLADA>", ""),
        ("COLLADA", "HTML"),
    ],
)
def test_other_collada_files_are_left_to_trimesh(old, new):
    text = collada("triangles")
    assert old in text
    assert read_collada(text.replace(old, new).encode()) is None


def bomb(content: str) -> str:
    """Thirty nodes of which each has the next one twice."""
    nodes = "".join(f'<node id="n{k}"><instance_node url="#n{k + 1}"/><instance_node url="#n{k + 1}"/></node>' for k in range(30))
    text = collada("triangles").replace("<library_nodes>", f'<library_nodes>{nodes}<node id="n30">{content}</node>')
    return text.replace('<instance_node url="#n"/>', '<instance_node url="#n0"/>')


@pytest.mark.parametrize(("content", "limit"), [("", "max_elements"), ('<instance_geometry url="#g"/>', "max_triangles")])
def test_nodes_that_name_each_other_without_end_are_refused(tmp_path, content, limit):
    file = tmp_path / "bomb.dae"
    file.write_text(bomb(content))
    before = get_file_limits()
    set_file_limits(replace(before, max_elements=2000, max_triangles=5000))
    try:
        with pytest.raises(MeshError, match=rf"bomb\.dae: more than .*limit {limit}"):
            load_mesh(file)
    finally:
        set_file_limits(before)


def test_what_is_left_to_trimesh_is_still_read(tmp_path):
    file = tmp_path / "cube.obj"
    file.write_text(CUBE.replace("f 4 3 2 1", "f 4 3 \\\n2 1"))
    assert read_obj(file.read_bytes()) is None
    assert load_mesh(file).volume() == pytest.approx(8.0)


@pytest.mark.parametrize("suffix", ["obj", "dae"])
def test_random_solids_are_those_that_trimesh_writes(tmp_path, suffix):
    for seed in range(5):
        solid = trimesh.convex.convex_hull(np.random.default_rng(seed).normal(size=(40, 3)))
        file = tmp_path / f"solid.{suffix}"
        solid.export(file)
        read = read_obj(file.read_bytes()) if suffix == "obj" else read_collada(file.read_bytes())
        assert volume(read) == pytest.approx(solid.volume, rel=1e-5)
