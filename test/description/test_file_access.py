"""Files outside the allowed folders are neither read nor written, by whatever way they are named."""

import pytest
import trimesh
from PIL import Image

from raisim_ros import (
    FileRefusedError,
    MeshError,
    RaisimError,
    World,
    get_allowed_folders,
    load_mesh,
    load_sensor_set,
    set_allowed_folders,
)
from raisim_ros.description.mesh.color import mesh_color
from raisim_ros.description.resources import resource
from raisim_ros.description.terrain import height_map_from_png, height_map_from_text
from raisim_ros.description.urdf.file import load_urdf


@pytest.fixture
def folders(tmp_path):
    """One folder that is allowed and one that is not, with the same files."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "world.xml").write_text("<raisim/>")
        (folder / "secret.txt").write_text("2 2 1 1 0 0 0 secret")
        (folder / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        (folder / "robot.urdf").write_text('<robot name="r"><link name="world"/></robot>')
        (folder / "robot.urdf.xacro").write_text('<robot name="r"><link name="world"/></robot>')
        (folder / "sensors.xml").write_bytes(resource("sensors/imu.xml").read_bytes())
    set_allowed_folders([inside])
    yield inside, outside
    set_allowed_folders(None)


@pytest.mark.parametrize("given", ["/tmp", b"/tmp", 3, [3], ["a\0b"], [None]])
def test_what_is_no_list_of_folders_is_refused(folders, given):
    """The letters of a text counted as folders: the first one of "/tmp" allowed everything."""
    before = get_allowed_folders()
    with pytest.raises(RaisimError, match="folder"):
        set_allowed_folders(given)
    assert get_allowed_folders() == before


READERS = {
    "world.xml": World,
    "secret.txt": height_map_from_text,
    "mesh.obj": load_mesh,
    "robot.urdf": load_urdf,
    "robot.urdf.xacro": load_urdf,
    "sensors.xml": load_sensor_set,
    "image.png": lambda path: height_map_from_png(path, 1, 1, 1, 0),
}


@pytest.mark.parametrize("name", READERS)
def test_reading(folders, name):
    inside, outside = folders
    link = inside / f"link_{name}"
    link.symlink_to(outside / name)
    for path in (outside / name, inside / ".." / "outside" / name, link, outside / f"missing_{name}"):
        with pytest.raises(FileRefusedError, match="allowed_folders"):
            READERS[name](path)
    if name not in ("secret.txt", "image.png"):
        READERS[name](inside / name)


def robot_with_mesh(address):
    return (
        f'<robot name="r"><link name="world"><collision><geometry><mesh filename="{address}"/></geometry></collision></link>'
        "</robot>"
    )


def test_files_named_in_files(folders):
    inside, outside = folders
    (outside / "only.obj").write_bytes((outside / "mesh.obj").read_bytes())
    for address in (outside / "only.obj", f"file://{outside}/only.obj", "../outside/only.obj", "package://outside/only.obj"):
        (inside / "robot.urdf").write_text(robot_with_mesh(address))
        with pytest.raises(RaisimError):
            load_urdf(inside / "robot.urdf")
        with pytest.raises(RaisimError):
            load_urdf(robot_with_mesh(address), res_path=inside)
    for text in (
        f'<include value="{outside}/world.xml"/>',
        f'<objects><mesh mass="1" file_name="{outside}/mesh.obj"/></objects>',
        f'<objects><heightmap text="{outside}/secret.txt"/></objects>',
        f'<objects><articulated_system urdf_path="{outside}/robot.urdf"/></objects>',
    ):
        (inside / "world.xml").write_text(f"<raisim>{text}</raisim>")
        with pytest.raises(RaisimError) as refused:
            World(inside / "world.xml")
        assert "secret" not in str(refused.value).replace("secret.txt", "")
    (inside / "robot.urdf").write_text(robot_with_mesh("mesh.obj"))
    load_urdf(inside / "robot.urdf")


def test_writing(folders):
    inside, outside = folders
    before = (outside / "world.xml").read_bytes()
    world = World()
    (inside / "link.xml").symlink_to(outside / "world.xml")
    (inside / "folder").symlink_to(outside)
    for path in (outside / "world.xml", inside / "link.xml", inside / "folder" / "world.xml", inside / "../outside/world.xml"):
        with pytest.raises(FileRefusedError):
            world.export_to_xml(path)
    assert (outside / "world.xml").read_bytes() == before
    world.export_to_xml(inside / "new" / "world.xml")
    assert len(list(outside.iterdir())) == 6


def test_messages_do_not_quote_files(folders):
    inside, _ = folders
    with pytest.raises(RaisimError) as refused:
        height_map_from_text(inside / "secret.txt")
    assert "secret" not in str(refused.value).replace("secret.txt", "")


def test_everything_is_allowed_by_default(tmp_path):
    assert get_allowed_folders() is None
    World().export_to_xml(tmp_path / "world.xml")


def test_what_meshes_refer_to(folders):
    inside, outside = folders
    (inside / "meshes").mkdir()
    red = Image.new("RGB", (4, 4), (255, 0, 0))
    red.save(outside / "red.png")
    mesh = inside / "meshes" / "mesh.obj"
    shape = "mtllib mesh.mtl\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
    (inside / "link.png").symlink_to(outside / "red.png")
    for texture in (outside / "red.png", "../../outside/red.png", "../link.png"):
        mesh.with_suffix(".mtl").write_text(f"newmtl m\nKd 1 1 1\nmap_Kd {texture}\n")
        mesh.write_text(f"{shape}# {texture}\n")
        assert mesh_color(mesh) != (1.0, 0.0, 0.0)
    red.save(inside / "red.png")
    mesh.with_suffix(".mtl").write_text("newmtl m\nKd 1 1 1\nmap_Kd ../red.png\n")
    mesh.write_text(shape)
    assert mesh_color(mesh) == (1.0, 0.0, 0.0)

    triangle = trimesh.Trimesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    for name, data in triangle.scene().export(file_type="gltf").items():
        (outside / name).write_bytes(data)
    model = inside / "meshes" / "model.gltf"
    model.write_text((outside / "model.gltf").read_text().replace('"uri":"', '"uri":"../../outside/'))
    assert "outside" in model.read_text()
    with pytest.raises(FileRefusedError):
        load_mesh(model)


@pytest.mark.parametrize("suffix", ["off", "ply", "gltf", "dae", "xyz"])
def test_damaged_meshes_are_not_quoted(tmp_path, suffix):
    texts = {
        "off": "OFF\n3 1 0\n0 0 secret\n1 0 0\n0 1 0\n3 0 1 2\n",
        "ply": "ply\nformat ascii 1.0\nelement secret 3\nproperty secret x\nend_header\n0 0 0\n",
        "gltf": '{"asset": {"version": "secret"}}',
        "dae": "<COLLADA><secret></COLLADA>",
        "xyz": "2 2 1 1 0 0 0 secret",
    }
    file = tmp_path / f"mesh.{suffix}"
    file.write_text(texts[suffix])
    with pytest.raises(MeshError) as refused:
        load_mesh(file)
    assert "secret" not in str(refused.value)
