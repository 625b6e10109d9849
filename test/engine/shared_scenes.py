"""Scenes that several tests run."""

import numpy as np

from raisim_ros import BodyType, CompoundChild, ShapeType, World


def busy_world() -> World:
    """Every primitive, a compound and terrain, falling into a heap."""
    world = World()
    world.add_ground(-0.2)
    random = np.random.default_rng(7)
    world.add_height_map(12, 12, 4.0, 4.0, 0.0, 0.0, random.uniform(-0.1, 0.1, 144))
    for k in range(4):
        bodies = [
            world.add_sphere(0.1, 1.0),
            world.add_box(0.2, 0.15, 0.1, 0.8),
            world.add_cylinder(0.08, 0.2, 1.2),
            world.add_cone(0.1, 0.2, 0.5),
            world.add_capsule(0.06, 0.15, 0.7),
            world.add_compound(
                [
                    CompoundChild(ShapeType.BOX, (0.2, 0.05, 0.05)),
                    CompoundChild(ShapeType.SPHERE, (0.06,), (0.1, 0.0, 0.0)),
                ],
                1.0,
            ),
        ]
        for i, body in enumerate(bodies):
            turn = random.normal(size=4)
            body.set_pose(random.uniform(-0.3, 0.3, 3) + np.array([0.0, 0.0, 0.6 + 0.4 * k + 0.05 * i]), turn)
    return world


def field_of_things(seed: int) -> World:
    """Towers, tiles and balls that soon sleep, balls that roll among them, something that moves by itself, and a far box."""
    rng = np.random.default_rng(seed)
    world = World()
    world.add_ground()
    for x, y in np.argwhere(np.ones((9, 9))) * 0.5:
        for level in range(int(rng.integers(1, 3))):
            body = world.add_box(0.3, 0.3, 0.3, 1.0) if rng.random() < 0.7 else world.add_sphere(0.15, 1.0)
            body.set_position(x, y, 0.15 + 0.3 * level)
    tile = world.add_box(1.0, 1.0, 0.2, 1.0)
    tile.set_body_type(BodyType.STATIC)
    tile.set_position(-2.0, 0.0, 0.1)
    for k in range(4):
        world.add_box(0.2, 0.2, 0.2, 1.0).set_position(-2.0 + 0.3 * (k % 2), 0.3 * (k // 2), 0.3)
    world.add_stiff_wire(tile, 0, np.zeros(3), world.get_obj_list()[3], 0, np.zeros(3), 9.0)
    far = world.add_box(1.0, 1.0, 1.0, 1.0)
    far.set_body_type(BodyType.STATIC)
    far.set_position(100.0, 0.0, 50.0)
    world.integrate(300)
    for _ in range(5):
        ball = world.add_sphere(0.1, 0.5)
        ball.set_position(*rng.uniform(-1.0, 4.5, 2), 1.5)
        ball.set_velocity(2.0 * rng.normal(size=3), rng.normal(size=3))
    pusher = world.add_box(0.3, 0.3, 0.3, 1.0)
    pusher.set_body_type(BodyType.KINEMATIC)
    pusher.set_position(-0.8, 1.0, 0.2)
    pusher.set_velocity((0.2, 0.0, 0.0), (0.0, 0.0, 0.0))
    return world
