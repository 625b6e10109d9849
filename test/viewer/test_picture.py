"""Pictures by the engine's rays: what is seen where, in which colours and light."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from raisim_ros import LightSettings, MeshCollisionMode, View, ViewCameraSettings, Viewpoint, World
from raisim_ros.description.errors import RaisimError
from raisim_ros.description.mesh.file import make_mesh
from raisim_ros.description.resources import resource

FRONT = View((0.0, -6.0, 1.0), (0.0, 0.0, 1.0), 0.8)


def ball_world(appearance="red", ground=True):
    world = World()
    if ground:
        world.add_ground()
    ball = world.add_sphere(0.5, 1.0)
    ball.set_name("ball")
    ball.set_appearance(appearance)
    ball.set_position(0, 0, 1.0)
    return world, ball


def reds(picture):
    """Middle of the red pixels, as shares of width and height."""
    picture = picture.astype(int)
    rows, columns = np.nonzero(picture[..., 0] > 2 * np.maximum(picture[..., 1], picture[..., 2]))
    assert len(rows)
    return columns.mean() / picture.shape[1], rows.mean() / picture.shape[0], len(rows)


@pytest.mark.parametrize("quality", ["draft", "good"])
def test_things_are_seen_where_they_are(quality):
    world, ball = ball_world()
    x, y, count = reds(world.render(FRONT, 160, 90, quality))
    assert (x, y) == pytest.approx((0.5, 0.5), abs=0.02)
    focal = 80 / np.tan(0.4)
    assert count == pytest.approx(np.pi * (focal * 0.5 / 6.0) ** 2, rel=0.1)
    ball.set_position(1.0, 0.0, 1.5)
    x, y, _ = reds(world.render(FRONT, 160, 90, quality))
    assert x == pytest.approx(0.5 + focal / 6.0 / 160, abs=0.02)
    assert y == pytest.approx(0.5 - focal * 0.5 / 6.0 / 90, abs=0.02)


def test_the_same_world_gives_the_same_picture_and_rendering_changes_nothing():
    world, _ = ball_world()
    before = world.get_state_hash()
    first = world.render(FRONT, 80, 45)
    assert np.array_equal(first, world.render(FRONT, 80, 45))
    assert world.get_state_hash() == before


def test_a_shadow_is_soft_and_under_the_ball():
    world, ball = ball_world()
    above = View((0.0, -0.01, 8.0), (0.0, 0.0, 0.0), 0.8)
    with_ball = world.render(above, 120, 120, "good").astype(int).sum(axis=2)
    ball.set_appearance("hidden")
    without = world.render(above, 120, 120, "good").astype(int).sum(axis=2)
    darker = np.clip((without - with_ball) / np.maximum(without, 1), 0, 1)
    shadow = darker[:, :52]  # the sun shines from +x, the ball hides the middle
    assert shadow.max() > 0.2
    assert ((shadow > 0.25 * shadow.max()) & (shadow < 0.75 * shadow.max())).any()


def test_edges_are_smooth():
    world, _ = ball_world("white", ground=False)
    picture = world.render(View((0.0, -6.0, 1.0), (0.0, 0.0, 1.0), 0.8), 80, 80).astype(int)
    row = picture[40, :, 0]
    assert len(np.unique(row)) > 4


def test_visual_meshes_are_drawn_and_hidden_things_are_not():
    world = World()
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    view = View((2.0, -2.0, 1.0), (0.0, 0.0, 0.0))
    shown = world.render(view, 80, 45)
    robot.set_appearance("hidden")
    assert not np.array_equal(shown, world.render(view, 80, 45))


@pytest.mark.parametrize("suffix", ["glb", "obj"])
@pytest.mark.parametrize("mirror", [1.0, -1.0])
def test_textures_lie_on_meshes_as_their_files_say(tmp_path, suffix, mirror):
    import trimesh
    from PIL import Image

    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[:32, :32], pixels[:32, 32:] = (255, 0, 0), (0, 255, 0)
    pixels[32:, :32], pixels[32:, 32:] = (0, 0, 255), (255, 255, 0)
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    visual = trimesh.visual.TextureVisuals(uv=corners[:, :2], image=Image.fromarray(pixels))
    square = trimesh.Trimesh(corners, [[0, 1, 2], [0, 2, 3]], process=False, visual=visual)
    file = tmp_path / f"square.{suffix}"
    square.export(file)
    world = World()
    mesh = world.add_mesh(file, 1.0, scale=(mirror, 1.0, 1.0), collision_mode=MeshCollisionMode.ORIGINAL_MESH)
    mesh.set_position(0.0 if mirror > 0 else 1.0, 0.0, 0.0)
    picture = world.render(View((0.5, 0.5, 3.0), (0.5, 0.5001, 0.0)), 200, 200, "draft").astype(int)
    seen = [tuple(picture[row, column] > 100) for row in (80, 120) for column in (80, 120)]  # +y is up
    red, green, blue, yellow = (True, False, False), (False, True, False), (False, False, True), (True, True, False)
    assert seen == ([red, green, blue, yellow] if mirror > 0 else [green, red, yellow, blue])


def test_grains_and_cloth_are_drawn_where_they_are():
    world = World()
    grains = world.add_granular_particles([[0.0, 0.0, 1.3]], [0.4])
    grains.set_appearance("red")
    x, y, size = reds(world.render(FRONT, 160, 90))
    assert x == pytest.approx(0.5, abs=0.01)
    assert y < 0.5  # above the middle of the picture
    assert size == pytest.approx(np.pi * (0.4 / 6.0 * 80 / np.tan(0.4)) ** 2, rel=0.1)
    grains.set_appearance("hidden")
    sheet = [[-0.5, 0.0, 0.2], [0.1, 0.0, 0.2], [0.1, 0.0, 0.8], [-0.5, 0.0, 0.8]]
    cloth = world.add_deformable_cloth(np.array(sheet), np.array([[0, 1, 2], [0, 2, 3]]))
    cloth.set_appearance("red")
    x, y, _ = reds(world.render(FRONT, 160, 90))
    assert x < 0.5 < y  # to the left, below the middle


def test_wires_and_contact_forces_are_drawn():
    world = World(resource("worlds/newtons_cradle.xml"))
    view = View((0.2, -2.0, 1.0), (0.2, 0.0, 0.9))
    assert world.render(view, 160, 90).shape == (90, 160, 3)
    world = World()
    world.add_ground()
    world.add_box(0.5, 0.5, 0.02, 1.0).set_position(0, 0, 0.0099)  # arrows rise above a plate
    world.integrate()
    assert len(world.read_contacts())
    view = View((2.0, -2.0, 1.0), (0.0, 0.0, 0.3))
    assert not np.array_equal(world.render(view, 80, 45), world.render(view, 80, 45, contacts=True))
    assert len(world.get_obj_list()) == 2


def test_wires_have_their_own_width_and_colour():
    world = World()
    ends = [world.add_sphere(0.01, 1.0) for _ in range(2)]
    for ball, z in zip(ends, (0.0, 2.0), strict=True):
        ball.set_appearance("hidden")
        ball.set_position(0.0, 0.0, z)
    wire = world.add_stiff_wire(ends[0], 0, (0, 0, 0), ends[1], 0, (0, 0, 0), 2.0)
    sizes = {}
    for width in (0.3, 0.9):
        wire.set_visualization_width(width)
        wire.set_color("1 0 0 1")
        x, y, sizes[width] = reds(world.render(FRONT, 160, 90))
        assert (x, y) == pytest.approx((0.5, 0.5), abs=0.01)
    assert 2.5 < sizes[0.9] / sizes[0.3] < 4.0  # the nearer side of a thick one is larger, borders of thin ones are paler
    wire.set_color("0 1 0 1")
    with pytest.raises(AssertionError):
        reds(world.render(FRONT, 160, 90))


@pytest.mark.parametrize("kind", ["directional", "spot"])
def test_a_light_high_above_changes_nothing_of_the_first_view(kind):
    def picture(lit):
        world, _ = ball_world()
        if lit:
            world.add_light(LightSettings(kind), position=(0, 0, 30))
        return world.render(width=80, height=60)

    assert (picture(True) == picture(False)).all()


def test_the_worlds_own_views():
    world, ball = ball_world()
    world.set_viewpoint(Viewpoint("ball", (0.0, -6.0, 0.0)))
    assert reds(world.render(None, 80, 45))[:2] == pytest.approx((0.5, 0.5), abs=0.03)
    ball.set_position(3.0, 4.0, 2.0)
    assert reds(world.render(None, 80, 45))[:2] == pytest.approx((0.5, 0.5), abs=0.03)
    camera = world.add_view_camera(ViewCameraSettings(horizontal_fov=0.8))
    camera.set_position(-3.0, 4.0, 2.0)
    assert reds(world.render(camera, 80, 45))[:2] == pytest.approx((0.5, 0.5), abs=0.03)
    assert World().render(width=16, height=9).shape == (9, 16, 3)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"quality": "superb"}, "superb"),
        ({"width": 0}, "width"),
        ({"camera": View((1.0, 1.0, 1.0), (1.0, 1.0, 1.0))}, "two different points"),
        ({"camera": View("abc", (1.0, 1.0, 1.0))}, "position of the camera"),
        ({"camera": View((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), 7.0)}, "horizontal_fov"),
        ({"width": {}}, "width"),
        ({"height": 2.5}, "height"),
        ({"quality": []}, "quality"),
        ({"camera": "front"}, "front"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, told):
    world, _ = ball_world()
    with pytest.raises(RaisimError, match=told):
        world.render(**wrong)


def picture_of(add):
    """A grey thing before the sky, without its edges: they are where one pixel sees several things."""
    world = World()
    add(world)
    return world.render(View((0.0, -4.0, 1.5), (0.0, 0.0, 1.0), 0.5), 120, 90, "good").astype(int)


def solid_mesh(mesh, appearance="grey"):
    def add(world):
        body = world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH)
        body.set_appearance(appearance)
        body.set_position(0.0, 0.0, 1.0)

    return add


def test_triangles_look_round_where_they_meet_at_small_angles():
    def add(world):
        ball = world.add_sphere(0.5, 1.0)
        ball.set_appearance("grey")
        ball.set_position(0.0, 0.0, 1.0)

    ball = trimesh.creation.icosphere(3, 0.5)
    exact = picture_of(add)
    inside = np.abs(picture_of(solid_mesh(make_mesh(ball.vertices, ball.faces))) - exact).sum(axis=2)[25:65, 40:80]
    assert np.percentile(inside, 95) <= 6  # of 765; flat triangles: 10


def test_edges_of_a_box_stay_sharp():
    def add(world):
        box = world.add_box(0.6, 0.5, 0.4, 1.0)
        box.set_appearance("grey")
        box.set_position(0.0, 0.0, 1.0)

    box = trimesh.creation.box((0.6, 0.5, 0.4))
    difference = np.abs(picture_of(solid_mesh(make_mesh(box.vertices, box.faces))) - picture_of(add)).sum(axis=2)
    assert np.percentile(difference, 99) <= 12


def bowl_picture(samples):
    world = World()
    x, y = np.meshgrid(*[np.linspace(-2, 2, samples)] * 2)
    bowl = world.add_height_map(samples, samples, 4.0, 4.0, 0.0, 0.0, (0.25 * (x**2 + y**2)).ravel())
    bowl.set_color("grey")
    return world.render(View((0.0, -0.01, 6.0), (0.0, 0.0, 0.0), 0.5), 90, 90, "good").astype(int)[15:75, 15:75]


def test_a_coarse_heightmap_is_lit_like_the_fine_one():
    difference = np.abs(bowl_picture(9) - bowl_picture(81)).sum(axis=2)
    assert np.percentile(difference, 95) <= 10  # of 765; flat triangles: 24
