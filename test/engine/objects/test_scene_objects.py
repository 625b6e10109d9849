"""Lights, cameras of viewers and the viewpoint: in the world without mass and shape."""

import math

import numpy as np
import pytest

from raisim_ros import (
    BodyType,
    InterfaceSettings,
    InvalidValueError,
    LightObject,
    LightSettings,
    ObjectRemovedError,
    ObjectType,
    ParseError,
    RGBCameraModel,
    SensorSetModel,
    ViewCamera,
    ViewCameraSettings,
    Viewpoint,
    World,
    WrongTypeError,
)
from raisim_ros.description.world_file import load_world_file

SPOT = LightSettings("spot", (1.0, 0.5, 0.25), 0.3, True)
WIDE = ViewCameraSettings(2.0, 0.1, 50.0)


@pytest.fixture
def scene():
    world = World()
    world.add_ground()
    light = world.add_light(SPOT)
    light.set_name("lamp")
    light.set_pose((1.0, 2.0, 3.0), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
    camera = world.add_view_camera(WIDE)
    camera.set_name("view")
    camera.set_velocity((0.1, 0.2, 0.3), (0.0, 0.0, 0.5))
    return world


def test_they_are_kinematic_objects_like_others(scene):
    lamp, view = scene.get_object("lamp"), scene.get_object("view")
    assert (lamp.get_object_type(), view.get_object_type()) == (ObjectType.LIGHT, ObjectType.VIEW_CAMERA)
    assert [type(one).__name__ for one in scene.get_obj_list()] == ["Ground", "LightObject", "ViewCamera"]
    for one in (lamp, view):
        assert one.get_body_type() == BodyType.KINEMATIC
        assert (one.get_mass(), one.get_collision_group(), one.get_collision_mask()) == (0.0, 0, 0)
        assert one.get_collision_body_list() == []
    assert lamp.get_direction() == pytest.approx((0, 1, 0))
    scene.integrate(200)
    assert lamp.get_position() == pytest.approx((1, 2, 3))
    assert view.get_position() == pytest.approx((0.1, 0.2, 0.3))
    assert view.get_quaternion() == pytest.approx((math.cos(0.25), 0, 0, math.sin(0.25)))
    np.testing.assert_allclose(scene.read_states().twists[2], (0.1, 0.2, 0.3, 0, 0, 0.5))


def test_nothing_touches_or_sees_them(scene):
    scene.get_object("lamp").set_position(0, 0, 1)
    scene.get_object("view").set_pose((0, 0, 0.5), (1, 0, 0, 0))
    scene.get_object("view").set_velocity((0, 0, 0), (0, 0, 0))
    ball = scene.add_sphere(0.1, 1.0)
    ball.set_position(0, 0, 2)
    scene.integrate(1000)
    assert ball.get_position()[2] == pytest.approx(0.1, abs=1e-4)
    hits = scene.ray_test((0, 0, 5), (0, 0, -1), 10)
    assert [hit.get_object() for hit in hits] == [ball]


def test_what_bodies_have_and_they_do_not_is_refused(scene):
    lamp = scene.get_object("lamp")
    for change in (
        lambda: lamp.set_mass(2.0),
        lambda: lamp.set_body_type(BodyType.DYNAMIC),
        lambda: lamp.set_inertia(np.eye(3)),
        lambda: lamp.set_command_pose((0, 0, 0), (1, 0, 0, 0)),
    ):
        with pytest.raises(WrongTypeError):
            change()
    assert not scene.set_object_material(lamp, "steel")
    assert not scene.set_object_collision_filter(lamp, 1, 1)
    for bad in ({"kind": "laser"}, {"color": (1, 2, 0)}, {"color": (1, 0)}, {"cutoff": 0.0}, {"cutoff": math.nan}):
        with pytest.raises(InvalidValueError):
            LightSettings(**bad)
    for bad in ({"horizontal_fov": 4.0}, {"near": 2.0, "far": 1.0}, {"far": math.inf}, {"near": 0.0}):
        with pytest.raises(InvalidValueError):
            ViewCameraSettings(**bad)
    with pytest.raises(InvalidValueError, match="LightSettings"):
        lamp.set_settings(WIDE)
    for wrong in (
        lambda: scene.add_light("bright"),
        lambda: scene.add_view_camera("wide"),
        lambda: scene.set_viewpoint("here"),
        lambda: InterfaceSettings(min_rate_hz=0.0),
        lambda: InterfaceSettings(max_rate_hz=math.nan),
    ):
        with pytest.raises(InvalidValueError, match="expected"):
            wrong()
    with pytest.raises(InvalidValueError):
        Viewpoint("x", (0, 0, math.nan))


def test_removed_restored_and_replaced(scene):
    scene.set_viewpoint(Viewpoint("lamp", (1, 2, 3)))
    snapshot = scene.save_snapshot()
    lamp = scene.get_object("lamp")
    lamp.set_settings(LightSettings("point"))
    lamp.set_interface(InterfaceSettings(publish_children_names=True))
    scene.set_viewpoint(None)
    scene.remove_object(lamp)
    with pytest.raises(ObjectRemovedError):
        lamp.set_settings(SPOT)
    scene.restore_snapshot(snapshot)
    assert scene.get_object("lamp") is lamp
    assert lamp.get_settings() == SPOT
    assert lamp.get_interface() == InterfaceSettings()
    assert scene.get_viewpoint() == Viewpoint("lamp", (1, 2, 3))


def test_copies_shine_alike(scene):
    copy = scene.clone_object(scene.get_object("lamp"), "second")
    assert copy.get_settings() == SPOT
    assert copy.get_direction() == pytest.approx((0, 1, 0))
    copy.set_settings(LightSettings("point"))
    assert scene.get_object("lamp").get_settings() == SPOT


def test_they_come_from_files_and_go_to_files(scene, tmp_path):
    scene.set_viewpoint(Viewpoint("lamp", (1.5, -2.0, 0.1)))
    scene.get_object("view").set_interface(InterfaceSettings(publish_joint_names=False))
    scene.export_to_xml(tmp_path / "scene.xml")
    copy = World(tmp_path / "scene.xml")
    lamp, view = copy.get_object("lamp"), copy.get_object("view")
    assert isinstance(lamp, LightObject)
    assert isinstance(view, ViewCamera)
    assert lamp.get_settings() == SPOT
    assert view.get_settings() == WIDE
    assert view.get_interface() == InterfaceSettings(publish_joint_names=False)
    assert copy.get_viewpoint() == scene.get_viewpoint()
    scene.integrate(100)
    copy.integrate(100)
    assert copy.get_state_hash() == scene.get_state_hash()


def test_a_file_without_a_camera_leaves_the_viewpoint_and_replacing_the_world_forgets_it(scene, tmp_path):
    file = tmp_path / "world.xml"
    file.write_text('<raisim><camera follow="ball" x="1"/><objects/></raisim>')
    scene.load(file)
    assert scene.get_viewpoint() == Viewpoint("ball", (1, 0, 0))
    file.write_text("<raisim><objects/></raisim>")
    scene.load(file)
    assert scene.get_viewpoint() == Viewpoint("ball", (1, 0, 0))
    scene.replace(load_world_file(file))
    assert scene.get_viewpoint() is None
    World(file).export_to_xml(tmp_path / "empty.xml")
    assert "<camera" not in (tmp_path / "empty.xml").read_text()


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ('<light type="laser"/>', 'type="laser".*directional, point or spot'),
        ('<light color="2 0 0"/>', '<light>: attribute color="2 0 0".*expected red, green, blue'),
        ('<light cutoff="7"/>', "<light>: cutoff is 7"),
        ('<view_camera horizontal_fov="3.5"/>', "<view_camera>: horizontal_fov is 3.5"),
        ('<viewCamera near="5" far="4"/>', "<viewCamera>: near and far are 5 and 4"),
    ],
)
def test_mistakes_are_told_with_their_line(tmp_path, inside, message):
    file = tmp_path / "world.xml"
    file.write_text(f"<raisim>\n<objects>\n{inside}</objects></raisim>")
    with pytest.raises(ParseError, match=message) as caught:
        World(file)
    assert ":3:" in str(caught.value)


def floor_from_above(world):
    """The image of a white floor, 2 m below a colour camera that looks down with +x up in the image, and where on it."""
    world.add_ground().set_appearance("1 1 1")
    eye = world.add_view_camera()
    eye.set_pose((0.0, 0.0, 2.0), (math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0))
    model = RGBCameraModel("color", 10.0, width=64, height=64, horizontal_fov=math.pi / 2)
    camera = world.add_sensor_set(eye, SensorSetModel("eye", sensors=(model,))).get_sensor("color")
    camera.update()
    pixel = (np.arange(64) + 0.5 - 32) / 32
    y, x = np.meshgrid(-2 * pixel, -2 * pixel)
    return camera.get_image_buffer(), x, y


def test_colour_cameras_see_by_the_first_light():
    """Against Lambert's law, with the camera's ambient light of 0.4: a spot off the centre, in orange."""
    world = World()
    lamp = world.add_light(LightSettings("spot", (1.0, 0.5, 0.0), 0.4))
    world.add_light(LightSettings("directional"))
    lamp.set_position(0.5, -0.2, 1.5)
    image, x, y = floor_from_above(world)
    distance = np.sqrt((x - 0.5) ** 2 + (y + 0.2) ** 2 + 1.5**2)
    cosine = 1.5 / distance
    lit = np.where(cosine >= math.cos(0.4), cosine, 0.0)
    for channel, share in enumerate((1.0, 0.5, 0.0)):
        expected = 255 * (0.4 + 0.6 * lit * share)
        assert np.abs(image[..., channel] - expected).max() <= 1.0


def test_a_far_light_shines_alike_everywhere_and_a_point_all_around():
    world = World()
    lamp = world.add_light()
    angle = 0.6
    lamp.set_orientation(math.cos(angle / 2), math.sin(angle / 2), 0.0, 0.0)
    image, x, y = floor_from_above(world)
    assert np.abs(image - 255 * (0.4 + 0.6 * math.cos(angle))).max() <= 1.0
    lamp.set_settings(LightSettings("point"))
    lamp.set_position(1.0, 0.0, 0.5)
    camera = world.get_sensor_sets(world.get_obj_list()[-1])[0].get_sensor("color")
    camera.update()
    expected = 255 * (0.4 + 0.6 * 0.5 / np.sqrt((x - 1.0) ** 2 + y**2 + 0.25))
    assert np.abs(camera.get_image_buffer()[..., 1] - expected).max() <= 1.0


def test_lights_throw_shadows_when_told_to():
    world = World()
    world.add_light(LightSettings("point", shadows=True)).set_position(0.0, 0.0, 1.0)
    plate = world.add_box(0.2, 0.2, 0.01, 1.0)
    plate.set_pose((0.3, 0.0, 0.5), (1, 0, 0, 0))
    image, x, y = floor_from_above(world)
    shaded = (np.abs(x - 0.6) < 0.25) & (np.abs(y) < 0.25)  # twice as large as the plate, and a little more
    inside = (x > 0.56) & (x < 0.75) & (np.abs(y) < 0.15)  # the plate itself hides the rest from the camera
    dark = (image == 102).all(axis=-1)
    assert dark[inside].all()
    assert not dark[~shaded].any()
