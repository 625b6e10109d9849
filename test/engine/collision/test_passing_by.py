"""Bodies that miss each other do not feel each other; those that meet do, on the side where they meet."""

import itertools

import numpy as np
import pytest
from scipy.optimize import brentq

from raisim_ros import BodyType, MeshCollisionMode, World, load_mesh
from raisim_ros.description.resources import resource

MAKERS = {
    "sphere": lambda world, s: world.add_sphere(s, 1.0),
    "box": lambda world, s: world.add_box(2 * s, 1.4 * s, 1.8 * s, 1.0),
    "cylinder": lambda world, s: world.add_cylinder(s, 1.6 * s, 1.0),
    "capsule": lambda world, s: world.add_capsule(0.6 * s, 1.2 * s, 1.0),
    "cone": lambda world, s: world.add_cone(s, 1.5 * s, 1.0),
}


def weightless_world(dt: float = 0.005) -> World:
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_time_step(dt)
    return world


def random_unit(rng: np.random.Generator, n: int = 3) -> np.ndarray:
    v = rng.normal(size=n)
    return v / np.linalg.norm(v)


def change_of_velocity(seed: int, dt: float) -> float:
    """Two bodies thrown past each other for 0.4 s: change of their velocities against their speed."""
    rng = np.random.default_rng(seed)
    size = 10 ** rng.uniform(-1.5, 0.5)
    speed = 10 ** rng.uniform(-0.5, 1.0) * size / 0.1
    world = weightless_world(dt)
    bodies = [MAKERS[rng.choice(list(MAKERS))](world, size * factor) for factor in (1.0, rng.uniform(0.3, 2.0))]
    way = random_unit(rng)
    across = np.cross(way, random_unit(rng))
    across *= rng.uniform(1.0, 4.0) * size / np.linalg.norm(across)
    spin = rng.choice([0.0, 3.0])
    for body, side in zip(bodies, (-1.0, 1.0), strict=True):
        body.set_position(*(side * (0.2 * speed * way + 0.5 * across)))
        body.set_orientation(random_unit(rng, 4))
        body.set_linear_velocity(-side * speed * way)
        body.set_angular_velocity(spin * random_unit(rng))
    start = [body.get_linear_velocity() for body in bodies]
    world.integrate(round(0.4 / dt))
    return float(max(np.abs(b.get_linear_velocity() - v).max() for b, v in zip(bodies, start, strict=True))) / speed


def nearest_to_edges(point: np.ndarray, corners: np.ndarray) -> float:
    """Distance of a point of the plane from the edges of triangles in it (n x 3 x 2)."""
    ends, ways = corners, np.roll(corners, -1, axis=1) - corners
    along = np.clip(np.sum((point - ends) * ways, axis=2) / np.maximum(np.sum(ways * ways, axis=2), 1e-30), 0.0, 1.0)
    return float(np.linalg.norm(point - ends - along[..., None] * ways, axis=2).min())


@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
@pytest.mark.parametrize("shape", ["sphere", "capsule"])
@pytest.mark.parametrize("gap", [2e-4, 5e-4, -5e-3])
def test_what_grazes_triangles_is_struck_only_where_it_meets_them(shape, gap, dt):
    """Over a ball of triangles, so near for so long that many looks are needed. A capsule flies along its axis."""
    path = resource("meshes/unit_sphere.obj")
    mesh, radius, way = load_mesh(path), 0.1, np.array([1.0, 0.0, 0.0])
    turns = [[1.0, 0.0, 0.0, 0.0], random_unit(np.random.default_rng(0), 4)]
    for turn, start in itertools.product(turns, [-2.5, -2.52, -2.54, -2.56]):
        world = weightless_world(dt)
        ball = world.add_mesh(str(path), 1.0, collision_mode=MeshCollisionMode.ORIGINAL_MESH)
        ball.set_body_type(BodyType.STATIC)
        ball.set_orientation(turn)
        shadow = (mesh.vertices @ ball.get_rotation_matrix().T)[mesh.triangles][:, :, 1:]

        def clearance(height: float, shadow: np.ndarray = shadow) -> float:
            return nearest_to_edges(np.array([0.0, height]), shadow) - radius

        height = brentq(lambda z, clearance=clearance: clearance(z) - gap, 0.9 + radius, 1.2 + radius)
        body = world.add_sphere(radius, 1.0) if shape == "sphere" else world.add_capsule(radius, 0.3, 1.0)
        body.set_position(start, 0.0, height)
        body.set_orientation((np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0))
        body.set_linear_velocity(15.0 * way)
        world.integrate(round(0.3 / dt))
        change = np.abs(body.get_linear_velocity() - 15.0 * way).max()
        assert change <= 1e-12 if gap > 0.0 else change > 0.1


def test_whether_bodies_meet_does_not_depend_on_the_step():
    """What passes by at steps of 0.05 ms passes by at steps of 5 ms."""
    misses = 0
    for seed in range(80):
        if change_of_velocity(seed, 0.00005) > 1e-12:
            continue
        misses += 1
        assert change_of_velocity(seed, 0.005) <= 1e-12, f"seed {seed}"
    assert misses > 20


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
def test_a_box_falls_past_the_edge_of_a_table(dt):
    for miss in (1e-4, 2e-3, 2e-2):
        for speed in (0.5, 2.0, 8.0):
            world = weightless_world(dt)
            table = world.add_box(1.0, 1.0, 0.05, 1.0)
            table.set_body_type(BodyType.STATIC)
            box = world.add_box(0.2, 0.2, 0.2, 1.0)
            box.set_position(0.6 + miss, 0.0, 0.502)
            box.set_linear_velocity((0.0, 0.0, -speed))
            world.integrate(round(1.0 / speed / dt))
            assert box.get_linear_velocity() == pytest.approx([0.0, 0.0, -speed], abs=1e-12)
            assert box.get_angular_velocity() == pytest.approx([0.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize("swept", [False, True])
def test_balls_that_miss_by_a_centimetre(swept):
    for offset in np.linspace(0.0, 0.2, 11):  # where in the step they are closest
        world = weightless_world()
        settings = world.get_contact_settings()
        settings.swept_ccd_enabled = swept
        world.set_contact_settings(settings)
        balls = [world.add_sphere(0.1, 1.0) for _ in range(2)]
        for ball, side in zip(balls, (-1.0, 1.0), strict=True):
            ball.set_position(side * 2.0 + offset, side * 0.105, 0.0)
            ball.set_linear_velocity((-20.0 * side, 0.0, 0.0))
        world.integrate(40)
        for ball, side in zip(balls, (-1.0, 1.0), strict=True):
            assert ball.get_linear_velocity() == pytest.approx([-20.0 * side, 0.0, 0.0], abs=1e-12)


def test_a_turning_bar_passes_a_post_that_it_does_not_reach():
    """The tip moves faster than the middle: what it misses by 1 mm does not stop it, what it reaches does."""
    for gap, stopped in ((0.001, False), (-0.02, True)):
        world = weightless_world()
        world.set_default_material(0.0, 0.0, 0.0)
        bar = world.add_box(1.0, 0.05, 0.05, 1.0)
        bar.set_angular_velocity((0.0, 0.0, 7.0))
        post = world.add_cylinder(0.05, 1.0, 1.0)
        post.set_body_type(BodyType.STATIC)
        post.set_position(0.0, float(np.hypot(0.5, 0.025)) + 0.05 + gap, 0.0)
        world.integrate(200)
        turn = bar.get_angular_velocity()[2]
        assert (abs(turn - 7.0) > 0.5) == stopped


def test_a_corner_that_is_met_is_met_on_the_side_where_it_is_met():
    """A box thrown flat against the side of a block, past its upper edge, is stopped and not lifted."""
    for height in (0.01, 0.05, 0.09):
        world = weightless_world()
        world.set_default_material(0.0, 0.0, 0.0)
        block = world.add_box(1.0, 1.0, 1.0, 1.0)
        block.set_body_type(BodyType.STATIC)
        box = world.add_box(0.2, 0.2, 0.2, 1.0)
        box.set_position(-1.003, 0.0, 0.6 - height)
        box.set_linear_velocity((3.0, 0.0, 0.0))
        world.integrate(1)
        while world.read_contacts().size == 0:
            world.integrate(1)
        assert np.abs(world.get_contact_problem()[0].get_normal()) == pytest.approx([1.0, 0.0, 0.0], abs=1e-9)
