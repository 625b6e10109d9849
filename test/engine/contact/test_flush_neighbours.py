"""Sliding over tiles, planks and bricks that lie flush: their inner edges stop nothing, real steps and walls do."""

import numpy as np
import pytest

from raisim_ros import BodyType, CompoundChild, MeshCollisionMode, MeshData, ShapeType, World

SLIDERS = {
    "box": lambda world, s: (world.add_box(2 * s, 2.4 * s, 1.6 * s, 1.0), 0.8 * s),
    "cylinder": lambda world, s: (world.add_cylinder(s, 1.2 * s, 1.0), 0.6 * s),
    "sphere": lambda world, s: (world.add_sphere(s, 1.0), s),
    "cone": lambda world, s: (world.add_cone(s, 1.2 * s, 1.0), 0.3 * s),
    "hull": lambda world, s: (prism(world, 5, s, 1.2 * s), 0.6 * s),
    "compound": lambda world, s: (
        world.add_compound(
            [CompoundChild(ShapeType.BOX, (s, 2 * s, s), (side * 0.5 * s, 0.0, 0.0)) for side in (-1, 1)], 1.0
        ),
        0.5 * s,
    ),
}


def prism(world: World, sides: int, radius: float, height: float, turn: float = 0.0):
    """A convex mesh with a regular polygon as its base."""
    angles = turn + 2 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    corners = np.vstack([np.column_stack([ring, np.full(sides, z)]) for z in (-0.5 * height, 0.5 * height)])
    faces = []
    for i in range(sides):
        j = (i + 1) % sides
        faces += [[i, j, sides + j], [i, sides + j, sides + i]]
    for i in range(1, sides - 1):
        faces += [[0, i + 1, i], [sides, sides + i, sides + i + 1]]
    mesh = MeshData(corners, np.array(faces), is_closed=True)
    return world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.CONVEX_HULL)


def frictionless_world(dt: float) -> World:
    world = World()
    world.set_time_step(dt)
    world.set_default_material(0.0, 0.0, 0.0)
    world.set_sleeping_enabled(False)
    return world


def lay(world: World, kind: str, size: float, reach: float, depth: float) -> None:
    """Tiles with their upper side at z = 0, from -reach to reach along x and y."""
    if kind == "triangles":
        rows, across = int(np.ceil(reach / (1.5 * size))) + 1, int(np.ceil(0.3 * reach / size)) + 1
        for i in range(-rows, rows + 1):
            for j in range(-across, across + 1):
                for up in (0, 1):
                    tile = prism(world, 3, size, depth, np.pi / 2 * (1 - 2 * up))
                    x = np.sqrt(3) * size * (i + 0.5 * (j % 2) + 0.5 * up)
                    tile.set_position(x, 1.5 * size * j + 0.5 * size * up, -0.5 * depth)
                    tile.set_body_type(BodyType.STATIC)
        return
    count = int(np.ceil(reach / size)) + 1
    width = size if kind != "planks" else 3.0 * size
    places = [(size * i, width * j, -0.5 * depth) for i in range(-count, count + 1) for j in (-2, -1, 0, 1, 2)]
    if kind == "compound":
        children = [CompoundChild(ShapeType.BOX, (size, width, depth), place) for place in places]
        world.add_compound(children, 1.0).set_body_type(BodyType.STATIC)
        return
    for place in places:
        tile = world.add_box(size, width, depth, 1.0)
        tile.set_position(*place)
        tile.set_body_type(BodyType.STATIC)


@pytest.mark.parametrize("kind", ["tiles", "planks", "compound", "triangles"])
@pytest.mark.parametrize("slider", SLIDERS)
def test_a_frictionless_body_keeps_its_velocity(kind, slider):
    rng = np.random.default_rng(sum(map(ord, kind + slider)))
    for _ in range(2):
        dt = float(rng.choice([0.0005, 0.002, 0.005, 0.01]))
        scale = 10 ** rng.uniform(-1.0, 0.5)
        speed = 10 ** rng.uniform(-0.5, 0.7)
        tile = scale * rng.uniform(0.3, 2.0)
        world = frictionless_world(dt)
        lay(world, kind, tile, 4.0 * scale, scale * rng.uniform(0.1, 1.0))
        body, height = SLIDERS[slider](world, 0.5 * scale)
        yaw = rng.uniform(0.0, 2.0 * np.pi)
        body.set_orientation((np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)))
        heading = rng.uniform(-0.1, 0.1)
        velocity = speed * np.array([np.cos(heading), np.sin(heading), 0.0])
        body.set_position(-2.0 * scale, 0.1 * scale, height)
        body.set_linear_velocity(velocity)
        world.integrate(round(4.0 * scale / speed / dt))
        what = f"dt {dt}, scale {scale:.3g}, speed {speed:.3g}, tile {tile:.3g}, yaw {yaw:.3g}"
        assert body.get_linear_velocity() == pytest.approx(velocity, abs=1e-3 * speed), what
        assert body.get_position()[2] == pytest.approx(height, abs=1e-4 * scale), what


@pytest.mark.parametrize("slider", ["box", "cylinder", "hull", "compound"])
@pytest.mark.parametrize("in_one", [False, True])
def test_a_real_step_and_a_wall_still_stop_it(slider, in_one):
    for raised in (0.01, 0.15):
        for yaw in (0.0, 0.3):
            world = frictionless_world(0.005)
            places = [(0.3 * i, 0.3 * j, -0.1 + (raised if i >= 6 else 0.0)) for i in range(12) for j in (-1, 0, 1)]
            if in_one:
                children = [CompoundChild(ShapeType.BOX, (0.3, 0.3, 0.2), place) for place in places]
                world.add_compound(children, 1.0).set_body_type(BodyType.STATIC)
            for place in () if in_one else places:
                tile = world.add_box(0.3, 0.3, 0.2, 1.0)
                tile.set_position(*place)
                tile.set_body_type(BodyType.STATIC)
            body, height = SLIDERS[slider](world, 0.1)
            body.set_orientation((np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)))
            body.set_position(0.5, 0.03, height)
            body.set_linear_velocity((2.0, 0.0, 0.0))
            world.integrate(150)
            assert body.get_linear_velocity()[0] < 1.0


def test_bricks_that_lie_loose_are_slid_over():
    """Not only what is fixed: a heavy floor of loose bricks, resting on the ground."""
    world = frictionless_world(0.005)
    world.add_ground()
    for i in range(20):
        for j in (-1, 0, 1):
            world.add_box(0.3, 0.3, 0.2, 50.0).set_position(0.3 * i, 0.3 * j, 0.1)
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_orientation((np.cos(0.15), 0.0, 0.0, np.sin(0.15)))
    box.set_position(0.5, 0.03, 0.3)
    box.set_linear_velocity((3.0, 0.0, 0.0))
    world.integrate(300)
    assert box.get_linear_velocity()[0] == pytest.approx(3.0, abs=3e-3)


def lay_surface(world: World, kind: str, height: float) -> None:
    """A surface of triangles, 2 m wide, in ground at z = 0."""
    world.add_ground()
    if kind == "heightmap":
        world.add_height_map(10, 7, 2.0, 2.0, 0.0, 0.0, np.full(70, height))
        return
    corners = np.array([[i, j, k + height] for i in (-1, 1) for j in (-1, 1) for k in (-0.5, 0.0)])
    faces = [
        [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
        [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
    ]  # fmt: skip
    mesh = MeshData(corners, np.array(faces), is_closed=True)
    world.add_mesh(mesh, 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH).set_body_type(BodyType.STATIC)


@pytest.mark.parametrize("kind", ["heightmap", "mesh"])
@pytest.mark.parametrize("slider", SLIDERS)
def test_terrain_and_meshes_flush_with_the_ground_stop_nothing(kind, slider):
    rng = np.random.default_rng(sum(map(ord, kind + slider)))
    for height in (0.0, -1e-9, 1e-9, *rng.uniform(-1e-6, 1e-6, 2)):
        world = frictionless_world(float(rng.choice([0.002, 0.005])))
        lay_surface(world, kind, height)
        body, lift = SLIDERS[slider](world, 0.05)
        body.set_position(-1.3, rng.uniform(-0.3, 0.3), lift)
        velocity = np.array([2.0, rng.uniform(-0.3, 0.3), 0.0])
        body.set_linear_velocity(velocity)
        for _ in range(60):
            world.integrate(round(0.02 / world.get_time_step()))
            now = body.get_linear_velocity()
            assert now[:2] == pytest.approx(velocity[:2], abs=1e-4)
            # Beyond the surface the slider comes down by its height.
            assert -1e-4 - np.sqrt(2 * 9.81 * max(height, 0.0)) < now[2] < 1e-4
            assert abs(body.get_position()[2] - lift) < 1e-5
