"""Files that ask for too much are refused before it is made, by the name of the limit."""

import json
import os
import resource
import struct
import subprocess
import sys
import zipfile
import zlib
from dataclasses import fields, replace
from pathlib import Path

import pytest
from PIL import Image

from raisim_ros import FileMissingError, MeshBuildOptions, Recording, World, load_mesh
from raisim_ros.cli.open_file import open_world
from raisim_ros.description.errors import InvalidValueError, ParseError, RaisimError
from raisim_ros.description.limits import FileLimits, get_file_limits, set_file_limits
from raisim_ros.description.mesh.color import mesh_color
from raisim_ros.description.sensor import file as sensor_file
from raisim_ros.description.terrain import height_map_from_png, height_map_from_text
from raisim_ros.description.world_file import load_world_file

CHECK = """
import json, resource, sys
from raisim_ros import World, RaisimError, load_mesh
from raisim_ros.cli.open_file import open_world
from raisim_ros.description.terrain import height_map_from_text, height_map_from_png
import trimesh, scipy.spatial  # not what a file costs
readers = {"world": World, "mesh": load_mesh, "heights": height_map_from_text,
           "any": open_world, "robot": lambda path: World().add_articulated_system(path),
           "image": lambda path: height_map_from_png(path, 1.0, 1.0, 1.0, 0.0)}
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
answers = {}
for name, (kind, path) in json.load(sys.stdin).items():
    try:
        readers[kind](path)
        text = "accepted"
    except RaisimError as error:
        text = str(error)
    answers[name] = (text, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
print(json.dumps(answers))
"""


def world(tmp_path, inside):
    path = tmp_path / "world.xml"
    path.write_text(f"<raisim>{inside}</raisim>")
    return path


def loops(depth, passes):
    text = '<sphere name="s"><dim radius="1"/></sphere>'
    for level in range(depth):
        text = f'<array idx="@@i{level}" start="1" end="{passes}">{text}</array>'
    return f"<objects>{text}</objects>"


LAUGHS = "<params><a value='{}'/>{}</params>".format(
    "x" * 1000, "".join(f'<p{k} value="{f"@@p{k - 1}" * 50 if k else "@@a" * 50}"/>' for k in range(8))
)


def soft(inside, count=1):
    return f"<objects>{inside * count}</objects>"


def sheet(cells, build=""):
    return f'<deformable><rectangle x="1" y="1" x_cells="{cells}" y_cells="{cells}"/>{build}</deformable>'


GRID = '<emit_box min="0 0 0" max="{0} {0} {0}" radius="0.05"/>'
RANDOM = '<granular><emit_box_random min="0 0 0" max="9 9 9" count="150000" radius="0.01"/></granular>'
STRUTS = '<build mode="surface" internal_struts="pairs_within_radius" strut_radius="9"/>'
MANY = '<b n="@@a"/>' * 40
WORLDS = {
    "one long loop": (loops(1, 10**12), "max_elements"),
    "loops in loops": (loops(5, 100), "max_elements"),
    "parameters of parameters": (LAUGHS, "max_text"),
    "a long parameter in many places": (
        f'<params><a value="{"x" * 900_000}"/></params><objects>{MANY}</objects>',
        "max_expanded_text",
    ),
    "many parameters": (
        "<params>" + "".join(f'<p{k} value="1"/>' for k in range(20_000)) + "</params>",
        "max_parameters",
    ),
    "many elements": ("<a/>" * 2_000_000, "max_elements"),
    "many objects": ("<objects>" + '<ground height="0"/>' * 150_000 + "</objects>", "max_objects"),
    "millions of grains": (soft(f"<granular>{GRID.format(20)}</granular>"), "max_particles"),
    "many boxes of grains": (soft(f"<granular>{GRID.format(5) * 10}</granular>"), "max_particles"),
    "grains in many objects": (soft(f"<granular>{GRID.format(5)}</granular>", 10), "max_particles"),
    "many grains at random places": (soft(RANDOM, 10), "max_random_grains"),
    "a sheet of millions of vertices": (soft(sheet(2000)), "max_particles"),
    "many sheets": (soft(sheet(400), 10), "max_particles"),
    "a very fine surface": (soft(sheet(1, '<build mode="surface" spacing="1e-4"/>')), "max_particles"),
    "all pairs of vertices": (soft(sheet(100, STRUTS)), "max_struts"),
}


def test_files_that_include_each_other_without_end(tmp_path):
    for level in range(40):
        (tmp_path / f"{level}.xml").write_text(f'<raisim><include value="{level + 1}.xml"/></raisim>')
    with pytest.raises(ParseError, match="max_include_depth"):
        load_world_file(tmp_path / "0.xml")


def test_files_that_are_included_twice_by_files_that_are_included_twice(tmp_path):
    for level in range(25):
        (tmp_path / f"{level}.xml").write_text(f'<raisim>{f"""<include value="{level + 1}.xml"/>""" * 2}</raisim>')
    (tmp_path / "25.xml").write_text("<raisim/>")
    with pytest.raises(ParseError, match="max_includes"):
        load_world_file(tmp_path / "0.xml")
    for level in range(25):
        (tmp_path / f"{level}.xml").write_text(f'<mujoco>{f"""<include file="{level + 1}.xml"/>""" * 2}</mujoco>')
    (tmp_path / "25.xml").write_text("<mujoco/>")
    with pytest.raises(ParseError, match="max_includes"):
        load_world_file(tmp_path / "0.xml")


MODELS = {
    "copies": ('<worldbody><replicate count="100000000"><geom size="1"/></replicate></worldbody>', "max_elements"),
    "copies of copies": (
        "<worldbody>" + '<replicate count="99">' * 9 + "<site/>" + "</replicate>" * 9 + "</worldbody>", "max_elements"),
    "copies of a file": ('<worldbody><replicate count="9999"><include file="inner.xml"/></replicate></worldbody>', "max_elements"),
    "models of models": (
        '<asset><model name="m" file="inner.xml"/></asset><worldbody>' + '<attach model="m"/>' * 9999 + "</worldbody>",
        "max_elements"),
    "many bodies": ("<worldbody>" + "<body/>" * 50_000 + "</worldbody>", "max_model_bodies"),
    "bodies in bodies": ("<worldbody>" + '<replicate count="150"><body>' * 2 + "</body></replicate>" * 2 + "</worldbody>",
                         "max_model_bodies"),
    "many geoms": ("<worldbody>" + '<geom size="1"/>' * 50_000 + "</worldbody>", "max_model_geoms"),
    "bodies of models": (
        '<asset><model name="m" file="bodies.xml"/></asset><worldbody>' + '<attach model="m"/>' * 200 + "</worldbody>",
        "max_model_bodies"),
    "points that are bodies": ('<worldbody><flexcomp name="f" type="grid" count="40 40 40"/></worldbody>', "max_model_bodies"),
    "points in an attribute": (f'<worldbody><flexcomp name="f" type="direct" point="{"1 2 3 " * 11_000}"/></worldbody>',
                               "max_model_bodies"),
    "vertices of a cable": (f'<worldbody><composite type="cable" vertex="{"1 2 3 " * 11_000}"/></worldbody>',
                            "max_model_bodies"),
    **{f"points of a file, {name}": (
        f'<worldbody><replicate count="2"><flexcomp name="f" type="mesh" file="{name}"/></replicate></worldbody>',
        "max_model_bodies") for name in ("points.obj", "points.stl", "points.msh", "nodes.msh", "entities.msh", "binary.msh")},
    "points of attached models": (
        '<asset><model name="m" file="soft.xml"/></asset><worldbody>' + '<attach model="m"/>' * 2 + "</worldbody>",
        "max_model_bodies"),
    "a soft grid": ('<worldbody><flexcomp name="f" type="grid" count="2000 2000 2000"/></worldbody>', "max_particles"),
    "a cable": ('<worldbody><body><composite type="cable" count="1e9 1 1"/></body></worldbody>', "max_particles"),
    "heights": ('<asset><hfield name="h" nrow="60000" ncol="60000" size="1 1 1 1"/></asset>', "max_samples"),
    "pixels": ('<asset><texture type="2d" builtin="checker" width="40000" height="40000"/></asset>', "max_texture_pixels"),
    "user data": ('<size nuser_body="1000000000"/><worldbody><body/></worldbody>', "max_samples"),
    "an image of heights": ('<asset><hfield file="large.png" size="1 1 1 1"/></asset>', "max_samples"),
    "an image": ('<asset><texture type="2d" file="large.png"/></asset>', "max_texture_pixels"),
}  # fmt: skip


def test_what_is_soft_but_moved_by_few_bodies_is_given_to_mujoco(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr("raisim_ros.description.mjcf.file.compile_mjcf", lambda *them: given.append(them))
    for more in ('rigid="true"', 'dof="trilinear"'):
        grid = f'<flexcomp name="f" type="grid" count="40 40 40" {more}/>'
        (tmp_path / "model.xml").write_text(f"<mujoco><worldbody>{grid}</worldbody></mujoco>")
        with pytest.raises(AttributeError):  # what the compiler would have answered
            load_world_file(tmp_path / "model.xml")
    assert len(given) == 2


def test_names_of_many_sensors_are_compared_once(tmp_path, monkeypatch):
    """Each was compared with all others: 30,000 sensors took half a minute."""
    compared = []

    class Name(str):
        def __eq__(self, other):
            compared.append(other)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    usual = sensor_file._sensor
    monkeypatch.setattr(sensor_file, "_sensor", lambda *given: replace((one := usual(*given)), name=Name(one.name)))
    sensors = "".join(f'<sensor name="{number}" type="imu" update_rate="10"/>' for number in range(300))
    assert len(sensor_file.sensor_set_of_text(f'<sensor_set name="s">{sensors}</sensor_set>').sensors) == 300
    assert len(compared) < 3000


POINTS = {  # of 6000 points
    "soft.xml": b'<mujoco><worldbody><flexcomp name="f" type="mesh" file="points.obj"/></worldbody></mujoco>',
    "points.obj": b"v 1 2 3\n" * 6000,
    "points.stl": bytes(84 + 50 * 12_000),
    "points.msh": struct.pack("<4i", 6000, 0, 0, 1),
    "nodes.msh": b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n6000\n1 0 0 0\n",
    "entities.msh": b"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 6000 1 6000\n",
    "binary.msh": b"$MeshFormat\n4.1 1 8\n$EndMeshFormat\n$Nodes\n" + struct.pack("<4Q", 1, 6000, 1, 6000),
}


@pytest.mark.parametrize("name", MODELS)
def test_models_that_ask_for_too_much_are_not_given_to_mujoco(tmp_path, name, monkeypatch):
    """Its process took gigabytes and minutes for them."""
    monkeypatch.setattr("raisim_ros.description.mjcf.file.compile_mjcf", lambda *_: pytest.fail("given to MuJoCo"))
    inside, limit = MODELS[name]
    (tmp_path / "model.xml").write_text(f"<mujoco>{inside}</mujoco>")
    (tmp_path / "inner.xml").write_text(f"<mujoco><worldbody>{'<site/>' * 100}</worldbody></mujoco>")
    (tmp_path / "bodies.xml").write_text(f"<mujoco><worldbody>{'<body/>' * 100}</worldbody></mujoco>")
    (tmp_path / "large.png").write_bytes(PNG)
    for file, content in POINTS.items():
        (tmp_path / file).write_bytes(content)
    with pytest.raises(ParseError, match=limit):
        load_world_file(tmp_path / "model.xml")


def glb(document, data=b""):
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(data), 0x004E4942) + data
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


MESHES = {
    "vertices.ply": b"ply\nformat binary_little_endian 1.0\nelement vertex 2000000000\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n",
    "vertices.off": b"OFF\n2000000000 1 0\n0 0 0\n",
    "sparse.glb": glb({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"componentType": 5126, "count": 2_000_000_000, "type": "VEC3"}],
    }),
    "zeros.obj": bytes(5_000_000),
    "zeros.stl": bytes(5_000_000),
    "text with zeros.stl": b"solid " + bytes(5_000_000),
}  # fmt: skip


def scene(nodes, parts=1, triangles=1):
    """A glTF file of a mesh in many places."""
    return json.dumps({
        "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * parts}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3 * triangles, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 36 * triangles}],
        "buffers": [{"byteLength": 36 * triangles, "uri": f"data:;base64,{'A' * 48 * triangles}"}],
    }).encode()  # fmt: skip


NUMBER = b"1" * 50_000_000
LINES = {
    "number.obj": b"v " + NUMBER + b" 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
    "number.off": b"OFF\n3 1 0\n" + NUMBER + b" 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
    "number.stl": b"solid s\nfacet normal 0 0 1\nouter loop\nvertex " + NUMBER + b" 0 0\n",
    "number.ply": b"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n" + NUMBER,
}
SCENES = {
    "deep.gltf": scene([{"children": [k + 1]} for k in range(5000)] + [{"mesh": 0}]),
    "wide.gltf": scene([{"children": list(range(1, 300_001))}] + [{"mesh": 0}] * 300_000),
    "twice.gltf": scene([{"children": [k + 1, k + 1]} for k in range(30)] + [{"mesh": 0}]),
    "circle.gltf": scene([{"children": [1]}, {"children": [0]}]),
    "values.gltf": b'{"asset":{"version":"2.0"},"x":[' + b"[]," * 5_000_000 + b"[]]}",
    "tags.dae": b"<COLLADA>" + b"<a/>" * 5_000_000 + b"</COLLADA>",
    "tags.xaml": b"<R>" + b"<a/>" * 5_000_000 + b"</R>",
    "parts.gltf": scene([{"mesh": 0}], parts=300_000),
    "parts in places.gltf": scene([{"children": list(range(1, 1001))}] + [{"mesh": 0}] * 1000, parts=300),
}
PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 46000, 46000, 16, 0, 0, 0, 0) + b"\0" * 64
# A second header says another size; it is the one that counts while the image is read.
TWO_HEADERS = b"\x89PNG\r\n\x1a\n"
for side in (4, 13000):
    header = b"IHDR" + struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    TWO_HEADERS += struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header))
TWO_HEADERS += struct.pack(">I4s", 64, b"IDAT") + bytes(68)
SPARSE = {  # beginnings of files that are gigabytes long without using the disk
    "heights beyond those announced": ("heights", b"2 2 1 1 0 0 0 0 ", "for each height that it announces"),
    "a huge robot": ("robot", b"<robot name='r'>", "max_file_bytes"),
    "a huge mesh": ("mesh", b"v 0 0 0\n", "max_mesh_bytes"),
    "a huge file of any kind": ("any", b"", "max_file_bytes"),
}
SUFFIXES = {"mesh": "obj", "any": "xml"}
SMALL = {
    "too many heights": ("heights", "heights.txt", b"40000 40000 1 1 0", "max_samples"),
    "an image of two sizes": ("image", "two.png", TWO_HEADERS, "two sizes"),
    "an image of gigapixels": ("image", "image.png", PNG, "max_samples"),
    "gz": ("mesh", "mesh.obj.gz", b"anything", "unpack it first"),
    "bz2": ("mesh", "mesh.obj.bz2", b"anything", "unpack it first"),
    "tar": ("mesh", "mesh.obj.tar", b"anything", "unpack it first"),
    **{name: ("mesh", name, content, name) for name, content in MESHES.items()},
    **{name: ("mesh", name, content, "max_elements") for name, content in SCENES.items()},
    **{name: ("mesh", name, content, "max_line_bytes") for name, content in LINES.items()},
    "places.gltf": ("mesh", "places.gltf",
                    scene([{"children": list(range(1, 50_001))}] + [{"mesh": 0}] * 50_000, triangles=100), "max_triangles"),
    "many links": ("robot", "robot.urdf", b"<robot name='r'>" + b"<link name='a'/>" * 60_000 + b"</robot>", "max_links"),
}
ARCHIVES = ("3mf", "zip", "usdz")
BOMBS = [*WORLDS, *SPARSE, *SMALL, *ARCHIVES, "tags"]


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What a process of 3 GB says to each of the files, and by how many MB it has grown until then."""
    folder = tmp_path_factory.mktemp("bombs")
    files = {}
    for number, (name, (inside, _)) in enumerate(WORLDS.items()):
        files[name] = ("world", folder / f"world_{number}.xml")
        files[name][1].write_text(f"<raisim>{inside}</raisim>")
    for number, (name, (kind, content, _)) in enumerate(SPARSE.items()):
        files[name] = (kind, folder / f"sparse_{number}.{SUFFIXES.get(kind, 'urdf')}")
        with files[name][1].open("wb") as stream:
            stream.write(content)
            stream.truncate(5 << 30)
    for name, (kind, file, content, _) in SMALL.items():
        files[name] = (kind, folder / file)
        files[name][1].write_bytes(content)
    for suffix in ARCHIVES:
        files[suffix] = ("mesh", folder / f"bomb.{suffix}")
        with zipfile.ZipFile(files[suffix][1], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr("3D/3dmodel.model", bytes(201 << 20))
    files["tags"] = ("mesh", folder / "tags.zae")
    with zipfile.ZipFile(files["tags"][1], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.dae", b"<a/>" * 3_000_000)

    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    given = json.dumps({name: (kind, str(path)) for name, (kind, path) in files.items()})
    run = subprocess.run(
        [sys.executable, "-c", CHECK], input=given, capture_output=True, text=True, preexec_fn=bound
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", BOMBS)
def test_what_asks_for_too_much_is_refused_before_it_is_made(answers, name):
    expected = {**WORLDS, **SPARSE, **SMALL, **dict.fromkeys(ARCHIVES, ("max_archive_bytes",)),
                "tags": ("max_elements",)}[name][-1]
    text, grown = answers[name]
    assert expected in text
    assert grown < 200


def test_sheets_made_of_meshes_count_when_they_are_read(tmp_path, monkeypatch):
    """How many vertices there are is not in the world file."""
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_particles=10))
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 4 3\n")
    there = World()
    there.load(world(tmp_path, soft('<deformable file_name="m.obj"/>', 2)))
    with pytest.raises(RaisimError, match=r"12 particles; expected at most 10 .limit max_particles."):
        there.load(world(tmp_path, soft('<deformable file_name="m.obj"/>', 3)))
    assert len(there.get_obj_list()) == 2


def test_a_box_that_is_long_and_too_thin_for_any_grain_has_none():
    """Its long side was written out: terabytes."""
    grains = World().add_granular_particles([(0.0, 0.0, 0.0)], 0.1)
    grains.emit_box((0.0, 0.0, 0.0), (1e12, 1e-3, 1e-3), 0.1)
    assert grains.get_num_particles() == 1


def test_a_body_whose_struts_are_too_many_is_not_added(monkeypatch):
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_struts=2))
    there = World()
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)]
    options = MeshBuildOptions(spacing=2.0, internal_struts="pairs_within_radius", strut_radius=2.0)
    with pytest.raises(RaisimError, match=r"more than 2 pairs .* .limit max_struts."):
        there.add_deformable_object(square, options=options)
    assert there.get_obj_list() == []


@pytest.mark.parametrize(("most", "shown"), [(15, False), (16, True)])
def test_a_huge_texture_is_not_shown(tmp_path, monkeypatch, most, shown):
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_texture_pixels=most))
    Image.new("RGB", (4, 4), (255, 0, 0)).save(tmp_path / "red.png")
    (tmp_path / "m.mtl").write_text("newmtl m\nKd 1 1 1\nmap_Kd red.png\n")
    (tmp_path / "m.obj").write_text(
        "mtllib m.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    )
    assert (mesh_color(tmp_path / "m.obj") == (1.0, 0.0, 0.0)) == shown


def test_every_limit_stands_in_the_page_on_security():
    page = (Path(__file__).parents[2] / "SECURITY.md").read_text()
    table = [line for line in page.splitlines() if line.startswith("| `max_")]
    assert [one.name for one in fields(FileLimits) if not any(f"`{one.name}`" in line for line in table)] == []


def test_limits_are_settings(tmp_path, monkeypatch):
    monkeypatch.setattr("raisim_ros.description.limits._limits", get_file_limits())
    path = world(tmp_path, "<objects>" + "<ground/>" * 3 + "</objects>")
    load_world_file(path)
    set_file_limits(FileLimits(max_objects=2))
    with pytest.raises(ParseError, match="more than 2 objects and wires"):
        load_world_file(path)
    with pytest.raises(InvalidValueError):
        FileLimits(max_objects=0)
    with pytest.raises(InvalidValueError):
        set_file_limits({"max_objects": 3})


def test_limits_come_from_the_environment(tmp_path):
    path = world(tmp_path, "<objects>" + "<ground/>" * 3 + "</objects>")
    command = "import sys; from raisim_ros import World; World(sys.argv[1])"
    environment = {**os.environ, "RAISIM_MAX_OBJECTS": "2"}
    run = subprocess.run([sys.executable, "-c", command, path], env=environment, capture_output=True, text=True)
    assert "more than 2 objects and wires (limit max_objects)" in run.stderr


def test_a_wide_name_costs_nothing(tmp_path):
    with pytest.raises(RaisimError):
        load_world_file(tmp_path / ("x" * 5000))


ENDLESS = {
    "a pipe": lambda path: os.mkfifo(path) or path,
    "a link to a device": lambda path: path.symlink_to("/dev/zero") or path,
    "a file that the kernel writes for ever": lambda path: path.symlink_to("/proc/kmsg") or path,  # says it is regular
}
READERS = {
    "world.xml": World,
    "any.xml": open_world,
    "saved.bin": World.from_saved,
    "robot.urdf": lambda path: World().add_articulated_system(path),
    "model.xml": load_world_file,
    "mesh.obj": load_mesh,
    "mesh.stl": lambda path: World().add_mesh(path, 1.0),
    "heights.txt": height_map_from_text,
    "heights.png": lambda path: height_map_from_png(path, 1.0, 1.0, 1.0, 0.0),
    "film.raisim": Recording,
    "sensors.xml": sensor_file.load_sensor_set,
    "materials.xml": lambda path: World().update_material_prop(path),
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", ENDLESS)
def test_what_never_ends_is_not_read(tmp_path, kind, name):
    path = ENDLESS[kind](tmp_path / name)
    with pytest.raises(FileMissingError, match="is not a regular file"):
        READERS[name](path)


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_never_ends_is_not_read_where_another_file_names_it(tmp_path, kind):
    ENDLESS[kind](tmp_path / "endless.png")
    (tmp_path / "model.xml").write_text('<mujoco><asset><texture type="2d" file="endless.png"/></asset></mujoco>')
    (tmp_path / "world.xml").write_text('<raisim><include value="endless.png"/></raisim>')
    (tmp_path / "mesh.obj").write_text("mtllib endless.png\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    with pytest.raises(ParseError, match="is not a regular file"):
        load_world_file(tmp_path / "model.xml")
    with pytest.raises(RaisimError, match=r"is not a regular file|does not exist"):
        load_world_file(tmp_path / "world.xml")
    mesh_color(tmp_path / "mesh.obj")


@pytest.mark.parametrize(("most", "read"), [(11, False), (12, True)])
def test_lines_count_from_end_to_end(tmp_path, monkeypatch, most, read):
    """However the pieces fall in which the file is read."""
    monkeypatch.setattr("raisim_ros.description.limits._limits", FileLimits(max_line_bytes=most))
    path = tmp_path / "mesh.obj"
    path.write_text("v 0 0 0\nv 1.000000 0 0\nv 0 1 0\nf 1 2 3\n".replace("1.000000", "1.0000"))
    if read:
        load_mesh(path)
    else:
        with pytest.raises(RaisimError, match=r"a line has more than 11 bytes .limit max_line_bytes."):
            load_mesh(path)
