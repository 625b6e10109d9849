"""Bullet through paper: fast bodies against thin walls, with and without swept collision detection."""

import numpy as np
import pytest

from raisim_ros import (
    BodyType,
    CompoundChild,
    ContactSettings,
    MeshCollisionMode,
    MeshData,
    ShapeType,
    World,
)

WALL = 0.01  # thickness [m]


def world_with_wall(swept: bool, dt: float = 0.005) -> World:
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_contact_settings(ContactSettings(swept_ccd_enabled=swept))
    wall = world.add_box(WALL, 4.0, 4.0, 1.0)
    wall.set_body_type(BodyType.STATIC)
    return world


SHAPES = {
    "sphere": lambda world: world.add_sphere(0.05, 1.0),
    "box": lambda world: world.add_box(0.1, 0.12, 0.08, 1.0),
    "cylinder": lambda world: world.add_cylinder(0.05, 0.12, 1.0),
    "cone": lambda world: world.add_cone(0.05, 0.12, 1.0),
    "capsule": lambda world: world.add_capsule(0.05, 0.1, 1.0),
    "compound": lambda world: world.add_compound(
        [
            CompoundChild(ShapeType.SPHERE, (0.05,), (0.0, 0.1, 0.0)),
            CompoundChild(ShapeType.BOX, (0.05, 0.05, 0.05), (0.0, -0.1, 0.0)),
        ],
        1.0,
    ),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("speed", [20.0, 100.0, 300.0])
def test_swept_detection_stops_every_shape_wherever_it_starts(shape, speed):
    """All phases of the step against the wall, head-on and turned."""
    for offset in np.linspace(0.0, 1.0, 9):
        world = world_with_wall(swept=True)
        body = SHAPES[shape](world)
        start = -0.2 - offset * speed * 0.005
        body.set_pose((start, 0.2, -0.1), (0.8, 0.0, 0.36, -0.48))
        body.set_linear_velocity((speed, 0.0, 0.0))
        world.integrate(round(2.0 * abs(start) / speed / 0.005) + 20)
        assert body.get_position()[0] < 0.0, f"passed from x = {start}"
        if shape == "sphere":  # others may be thrown back by the turn that the blow gives them
            assert body.get_position()[0] == pytest.approx(-WALL / 2 - 0.05, abs=1e-3)


def test_a_swept_ball_hits_ground_and_terrain():
    world = World()
    world.set_contact_settings(ContactSettings(swept_ccd_enabled=True))
    world.add_ground()
    heights = 1.0 + 0.1 * np.arange(25.0) % 0.3
    world.add_height_map(5, 5, 4.0, 4.0, 20.0, 0.0, heights)
    on_ground, on_terrain = world.add_sphere(0.05, 1.0), world.add_sphere(0.05, 1.0)
    for ball, x in ((on_ground, 0.0), (on_terrain, 20.3)):
        ball.set_position(x, 0.1, 5.0)
        ball.set_linear_velocity((0.0, 0.0, -200.0))
    world.integrate(50)
    assert on_ground.get_position()[2] == pytest.approx(0.05, abs=1e-3)
    assert on_terrain.get_position()[2] > 1.0


def mesh_wall(world: World) -> None:
    """The wall as triangles."""
    half = np.array([WALL / 2, 2.0, 2.0])
    corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)]) * half
    triangles = [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]  # fmt: skip
    mesh = MeshData(corners, np.array(triangles), is_closed=True)
    wall = world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH)
    wall.set_body_type(BodyType.STATIC)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_wall_of_triangles_stops_bullets(shape):
    for offset in np.linspace(0.0, 1.0, 7):
        world = World()
        world.set_gravity((0.0, 0.0, 0.0))
        world.set_contact_settings(ContactSettings(swept_ccd_enabled=True))
        mesh_wall(world)
        body = SHAPES[shape](world)
        start = -0.2 - offset * 100.0 * 0.005
        body.set_pose((start, 0.2, -0.1), (0.8, 0.0, 0.36, -0.48))
        body.set_linear_velocity((100.0, 0.0, 0.0))
        world.integrate(40)
        assert body.get_position()[0] < 0.0, f"passed from x = {start}"


def test_a_convex_mesh_is_swept_too():
    corners = np.array([[0.1, 0.0, -0.03], [-0.05, 0.08, -0.03], [-0.05, -0.08, -0.03], [0.0, 0.0, 0.09]])
    mesh = MeshData(corners, np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]), is_closed=True)
    for offset in np.linspace(0.0, 1.0, 7):
        world = world_with_wall(swept=True)
        body = world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL)
        body.set_position(-0.2 - offset * 0.5, 0.2, -0.1)
        body.set_linear_velocity((100.0, 0.0, 0.0))
        world.integrate(40)
        assert body.get_position()[0] < 0.0


def test_a_swept_projectile_keeps_to_its_parabola():
    """The step after a launch is made with the new velocity throughout: off by g dt^2 / 2, once."""
    world = World()
    world.set_contact_settings(ContactSettings(swept_ccd_enabled=True))
    world.add_ground()
    ball = world.add_sphere(0.05, 1.0)
    ball.set_position(0.0, 0.0, 50.0)
    ball.set_linear_velocity((100.0, 0.0, 20.0))
    world.integrate(200)
    expected = [100.0, 0.0, 50.0 + 20.0 - 0.5 * 9.81]
    assert ball.get_position() == pytest.approx(expected, abs=0.5 * 9.81 * 0.005**2 + 1e-9)


def test_without_swept_detection_a_bullet_passes():
    """Off by default: contacts are foreseen only half a body's size ahead, so a bullet can fly through paper."""
    assert World().get_contact_settings().swept_ccd_enabled is False
    passed = 0
    for offset in np.linspace(0.0, 0.5, 20):
        world = world_with_wall(swept=False)
        ball = world.add_sphere(0.05, 1.0)
        ball.set_position(-0.5 - offset, 0.0, 0.0)
        ball.set_linear_velocity((100.0, 0.0, 0.0))
        world.integrate(20)
        passed += ball.get_position()[0] > 0.0
    assert passed > 10


def test_bodies_slower_than_the_minimum_speed_are_not_swept():
    world = world_with_wall(swept=True)
    settings = world.get_contact_settings()
    settings.swept_ccd_min_speed = 200.0
    world.set_contact_settings(settings)
    slow, fast = world.add_sphere(0.05, 1.0), world.add_sphere(0.05, 1.0)
    slow.set_position(-0.7, -1.0, 0.0)
    fast.set_position(-0.7, 1.0, 0.0)
    slow.set_linear_velocity((100.0, 0.0, 0.0))
    fast.set_linear_velocity((250.0, 0.0, 0.0))
    world.integrate(20)
    assert slow.get_position()[0] > 0.0
    assert fast.get_position()[0] < 0.0


def test_two_bullets_do_not_pass_through_each_other():
    for offset in np.linspace(0.0, 0.5, 9):
        world = world_with_wall(swept=True)
        world.set_default_material(0.0, 1.0, 0.0)
        a, b = world.add_sphere(0.02, 1.0), world.add_sphere(0.02, 1.0)
        a.set_position(5.0, 0.0, 0.0)
        b.set_position(8.0 + offset, 0.0, 0.0)
        a.set_linear_velocity((100.0, 0.0, 0.0))
        b.set_linear_velocity((-100.0, 0.0, 0.0))
        world.integrate(10)
        assert a.get_linear_velocity()[0] == pytest.approx(-100.0, abs=1e-3), f"from {offset}"
        assert a.get_position()[0] < b.get_position()[0]


def test_a_swept_body_passing_beside_a_box_is_not_touched():
    world = world_with_wall(swept=True)
    ball = world.add_sphere(0.05, 1.0)
    ball.set_position(-1.0, 2.2, 0.0)
    ball.set_linear_velocity((100.0, 0.0, 0.0))
    world.integrate(10)
    assert ball.get_linear_velocity() == pytest.approx([100.0, 0.0, 0.0], abs=1e-12)
    assert ball.get_position() == pytest.approx([4.0, 2.2, 0.0], abs=1e-12)


def test_swept_detection_at_moderate_speed_changes_nothing_for_a_bounce():
    heights = []
    for swept in (False, True):
        world = World()
        world.set_time_step(0.001)
        world.set_contact_settings(ContactSettings(swept_ccd_enabled=swept))
        world.set_default_material(0.5, 0.8, 0.0)
        world.add_ground()
        ball = world.add_sphere(0.1, 1.0)
        ball.set_position(0.0, 0.0, 1.0)
        world.integrate(1000)
        heights.append(ball.get_position()[2])
    assert heights[0] == pytest.approx(heights[1], abs=1e-3)
