"""What colour cameras show: links, children, meshes and terrain in their own colours, and which link a pixel shows."""

import numpy as np
import pytest
import trimesh
from PIL import Image

from raisim_ros import (
    CompoundChild,
    DepthCameraProperties,
    Light,
    Pose,
    RGBCameraModel,
    SensorSetModel,
    ShapeType,
    World,
)

WIDTH, HEIGHT = 120, 80
DOWN = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])  # the camera's x looks down, its z along world x


@pytest.fixture
def view(weightless):
    """view(position, rotation): the image from there, in light from everywhere; nothing is shaded."""
    eye = weightless.add_sphere(0.01, 1.0)
    eye.set_body_type(1)
    number = 0

    def look(position=(0, 0, 0), rotation=None):
        nonlocal number
        number += 1
        model = RGBCameraModel("color", 10.0, width=WIDTH, height=HEIGHT, horizontal_fov=1.2, far=50.0)
        pose = Pose(position, np.eye(3) if rotation is None else rotation)
        camera = weightless.add_sensor_set(eye, SensorSetModel(f"set_{number}", pose, (model,))).get_sensor("color")
        camera.light = Light(ambient=1.0, background=(0, 0, 0))
        camera.update()
        return camera.get_image_buffer().astype(int)

    return look


def pixel(point):
    """Row and column of a point (x forward, y left, z up)."""
    focal = WIDTH / 2 / np.tan(0.6)
    return int(HEIGHT / 2 - focal * point[2] / point[0]), int(WIDTH / 2 - focal * point[1] / point[0])


ROBOT = """
<robot name="painted">
  <material name="signal"><color rgba="1 0.5 0 1"/></material>
  <link name="root"><visual><geometry><box size="0.4 0.4 0.4"/></geometry><material name="signal"/></visual>
    <collision><geometry><box size="0.4 0.4 0.4"/></geometry></collision>
    <inertial><mass value="5"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="arm">
    <visual><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 0.4"/></geometry>
      <material name="own"><color rgba="0 1 0 1"/></material></visual>
    <visual><origin xyz="0 0.5 0"/><geometry><sphere radius="0.15"/></geometry>
      <material name="other"><color rgba="0 0 1 1"/></material></visual>
    <collision><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 0.4"/></geometry></collision>
    <collision><origin xyz="0 0.5 0"/><geometry><sphere radius="0.15"/></geometry></collision>
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
  <link name="tip"><visual><geometry><sphere radius="0.1"/></geometry>
      <material name="white"><color rgba="1 1 1 1"/></material></visual>
    <collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="root"/><child link="arm"/><axis xyz="1 0 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="10"/></joint>
  <joint name="weld" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0 -0.5 0"/></joint>
</robot>"""
# Where the parts are when the robot stands at (3, 0, 0), and their colours and bodies.
PARTS = {
    "base": ((2.8, 0.05, 0.05), (255, 128, 0), 0),
    "arm": ((2.9, 0.0, 0.55), (0, 255, 0), 1),
    "ball": ((2.87, 0.5, 0.0), (0, 0, 255), 1),
    "tip": ((2.92, -0.5, 0.0), (255, 255, 255), 1),
}


def painted_robot(world):
    robot = world.add_articulated_system(ROBOT)
    robot.set_base_pos((3, 0, 0))
    return robot


def test_links_have_the_colours_of_their_visuals(weightless, view):
    robot = painted_robot(weightless)
    image = view()
    for name, (point, color, _) in PARTS.items():
        assert tuple(image[pixel(point)]) == color, name
    robot.set_appearance("1 0 1")  # paints all of it
    repainted = view()
    assert {tuple(repainted[pixel(point)]) for point, _, _ in PARTS.values()} == {(255, 0, 255)}


def test_segmentation_tells_the_link(weightless):
    weightless.add_sphere(0.1, 1.0).set_position(0, 0, -50)  # so that the robot is not object 0
    robot = painted_robot(weightless)
    ball = weightless.add_sphere(0.3, 1.0)
    ball.set_position(4, 1.2, 0)
    frame = weightless.capture_depth_camera((0, 0, 0), np.eye(3), DepthCameraProperties(WIDTH, HEIGHT, 1.2))
    for name, (point, _, body) in PARTS.items():
        place = pixel(point)
        assert frame.segmentation[place] == robot.get_index_in_world(), name
        assert frame.local_ids[place] == body, name
    assert frame.local_ids[pixel((3.7, 1.2, 0))] == 0
    np.testing.assert_array_equal(frame.local_ids == -1, frame.segmentation == -1)


def test_mjcf_bodies_have_the_colours_of_their_geoms(tmp_path):
    file = tmp_path / "scene.xml"
    file.write_text("""<mujoco><asset><material name="pine" rgba="0 0.6 0 1"/></asset><worldbody>
      <geom type="box" size="0.2 0.2 0.2" pos="3 0.8 0" rgba="0 0 1 1"/>
      <body name="arm" pos="3 -0.8 0"><joint type="hinge" axis="0 0 1"/>
        <geom type="sphere" size="0.2" rgba="1 0 0 1"/>
        <geom type="box" size="0.1 0.1 0.1" pos="0 0 0.6" material="pine"/></body>
      </worldbody></mujoco>""")
    world = World(file)
    eye = world.add_sphere(0.01, 1.0)
    model = RGBCameraModel("color", 10.0, width=WIDTH, height=HEIGHT, horizontal_fov=1.2, far=50.0)
    camera = world.add_sensor_set(eye, SensorSetModel("set", sensors=(model,))).get_sensor("color")
    camera.light = Light(ambient=1.0)
    camera.update()
    image = camera.get_image_buffer()
    assert tuple(image[pixel((2.8, 0.8, 0))]) == (0, 0, 255)
    assert tuple(image[pixel((2.8, -0.8, 0))]) == (255, 0, 0)
    assert tuple(image[pixel((2.9, -0.8, 0.6))]) == (0, 153, 0)


def test_children_of_a_compound_have_their_own_colours(weightless, view):
    children = [
        CompoundChild(ShapeType.BOX, (0.4, 0.4, 0.4), (0, 0.6, 0), appearance="1 0 0"),
        CompoundChild(ShapeType.SPHERE, (0.2,), (0, -0.6, 0)),
    ]
    body = weightless.add_compound(children, 1.0)
    body.set_position(3, 0, 0)
    body.set_appearance("0 0 1")
    image = view()
    assert tuple(image[pixel((2.8, 0.6, 0))]) == (255, 0, 0)
    assert tuple(image[pixel((2.8, -0.6, 0))]) == (0, 0, 255)


def test_hidden_objects_are_not_seen_and_cast_no_shadow(weightless, view):
    weightless.add_box(0.1, 9, 9, 1.0).set_position(5, 0, 0)
    weightless.get_obj_list()[-1].set_appearance("0 1 0")
    ghost = weightless.add_box(0.2, 1, 1, 1.0)
    ghost.set_position(3, 0, 0)
    ghost.set_appearance("hidden")
    assert (view() == (0, 255, 0)).all()
    assert weightless.ray_test((0.5, 0, 0), (1, 0, 0), 9)[0].get_object() is ghost  # but rays hit it


def colored_terrain(world):
    """3 x 2 samples, 4 m x 2 m: red and green grow with x, blue with y."""
    terrain = world.add_height_map(3, 2, 4.0, 2.0, 0.0, 0.0, np.zeros(6))
    colors = [[(ix / 2, 0.5 * ix / 2, iy) for ix in range(3)] for iy in range(2)]
    terrain.set_color(np.array(colors))
    return terrain


def test_terrain_blends_the_colours_of_its_samples(weightless, view):
    colored_terrain(weightless)
    image = view((0, 0, 1.5), DOWN)
    focal = WIDTH / 2 / np.tan(0.6)
    column, row = np.meshgrid(np.arange(WIDTH) + 0.5, np.arange(HEIGHT) + 0.5)
    y, x = 1.5 * (WIDTH / 2 - column) / focal, 1.5 * (HEIGHT / 2 - row) / focal
    on_map = (np.abs(x) < 1.99) & (np.abs(y) < 0.99)
    red, blue = (x + 2) / 4, (y + 1) / 2
    expected = 255 * np.stack((red, 0.5 * red, blue), axis=-1)
    assert on_map.sum() > 3000
    np.testing.assert_allclose(image[on_map], expected[on_map], atol=0.51)


def test_one_colour_for_a_terrain(weightless, view):
    terrain = weightless.add_height_map(2, 2, 40.0, 40.0, 0.0, 0.0, np.zeros(4))
    terrain.set_color("1 0 1")
    assert (view((0, 0, 1), DOWN) == (255, 0, 255)).all()


def textured_box(path, color):
    """A box with a texture of two halves, whose mean is `color`."""
    box = trimesh.creation.box((1, 1, 1))
    half = np.zeros((4, 4, 3), np.uint8)
    half[:2] = np.minimum(2 * np.array(color), 255)
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=Image.fromarray(half))
    box.visual = trimesh.visual.TextureVisuals(uv=np.zeros((len(box.vertices), 2)), material=material)
    box.export(path)


def test_a_mesh_has_the_mean_colour_of_its_texture(weightless, view, tmp_path):
    textured_box(tmp_path / "box.glb", (100, 40, 0))
    mesh = weightless.add_mesh(tmp_path / "box.glb", 1.0)
    mesh.set_position(4, 0, 0)
    place = pixel((3.5, 0, 0))
    np.testing.assert_allclose(view()[place], (100, 40, 0), atol=1)
    mesh.set_appearance("0 0 1")
    assert tuple(view()[place]) == (0, 0, 255)


def test_a_mesh_without_colour_takes_that_of_an_object(weightless, view, tmp_path):
    trimesh.creation.box((1, 1, 1)).export(tmp_path / "box.stl")
    mesh = weightless.add_mesh(tmp_path / "box.stl", 1.0)
    mesh.set_position(4, 0, 0)
    assert view()[pixel((3.5, 0, 0))].any()
