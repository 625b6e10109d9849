"""Random legal scenes with contacts, for tests of properties that must hold on every one of them."""

from dataclasses import dataclass

import numpy as np

from raisim_ros import BodyType, World
from raisim_ros.description.resources import resource

KINDS = ("pile", "wall", "stack", "grasp", "impact", "rope", "robots")


@dataclass
class RandomScene:
    """A world whose energy only falls: no motors, no moving supports; wrenches only where `driven` says so."""

    name: str
    world: World
    seconds: float
    driven: bool = False

    @property
    def moving(self):
        return [o for o in self.world.get_obj_list() if o.get_body_type() == BodyType.DYNAMIC]


def make_scene(seed: int) -> RandomScene:
    """The scene of a seed; consecutive seeds go through all kinds."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    world = World()
    world.set_sleeping_enabled(False)
    world.set_time_step(float(rng.choice([0.001, 0.002, 0.005, 0.01])))
    friction, restitution = float(rng.uniform(0.0, 1.2)), float(rng.choice([0.0, 0.0, 0.4, 0.9]))
    world.set_default_material(friction, restitution, 0.05)
    scene = _MAKERS[kind](world, rng)
    dt = world.get_time_step()
    scene.name = f"seed {seed}: {kind}, dt {dt}, friction {friction:.2f}, restitution {restitution}"
    return scene


def _random_body(world: World, rng: np.random.Generator, size: float):
    mass = float(10 ** rng.uniform(-1.5, 1.5))
    lengths = size * rng.uniform(0.4, 1.6, 3)
    shape = int(rng.integers(5))
    if shape == 0:
        return world.add_sphere(lengths[0], mass)
    if shape == 1:
        return world.add_capsule(0.6 * lengths[0], lengths[1], mass)
    if shape == 2:
        return world.add_cylinder(lengths[0], lengths[1], mass)
    if shape == 3:
        return world.add_cone(lengths[0], 2 * lengths[1], mass)
    return world.add_box(*(2 * lengths), mass)


def _turn(body, rng: np.random.Generator) -> None:
    quaternion = rng.normal(size=4)
    body.set_orientation(quaternion / np.linalg.norm(quaternion))


def _pile(world: World, rng: np.random.Generator) -> RandomScene:
    size = float(10 ** rng.uniform(-2.0, 0.5))
    world.add_ground()
    for k in range(int(rng.integers(4, 16))):
        body = _random_body(world, rng, size)
        _turn(body, rng)
        body.set_position(*(size * rng.uniform(-2, 2, 2)), size * (2.5 + 2.5 * k))
    return RandomScene("", world, 1.0)


def make_jam(seed: int) -> RandomScene:
    """Boxes of 1 and 100 kg in one heap under friction 2: many states of the contacts are near each other."""
    rng = np.random.default_rng(seed)
    world = World()
    world.set_sleeping_enabled(False)
    world.set_time_step(0.005)
    world.set_default_material(2.0, 0.0, 0.0)
    world.add_ground()
    for k in range(20):
        box = world.add_box(*rng.uniform(0.1, 0.4, 3), 1.0 if k % 2 else 100.0)
        _turn(box, rng)
        box.set_position(*rng.uniform(-0.3, 0.3, 2), 0.4 + 0.35 * k)
    return RandomScene(f"jam, seed {seed}", world, 2.5)


def _wall(world: World, rng: np.random.Generator) -> RandomScene:
    world.add_ground()
    side = int(rng.integers(2, 5))
    for row in range(side):
        for column in range(side):
            world.add_box(0.4, 0.2, 0.2, 2.0).set_position((column + 0.5 * (row % 2)) * 0.4, 0, 0.1 + 0.2 * row)
    ball = world.add_sphere(0.2, float(rng.uniform(1, 50)))
    ball.set_position(side * 0.2, -1, side * 0.1)
    ball.set_linear_velocity((0, float(rng.uniform(5, 20)), 1))
    return RandomScene("", world, 0.5)


def _stack(world: World, rng: np.random.Generator) -> RandomScene:
    world.add_ground()
    z, ratio = 0.0, float(10 ** rng.uniform(-1.5, 1.5))
    for k in range(int(rng.integers(3, 9))):
        height = float(rng.uniform(0.1, 0.3))
        box = world.add_box(0.3, 0.3, height, ratio ** (k / 4))
        box.set_position(*rng.uniform(-0.02, 0.02, 2), z + 0.5 * height)
        z += height
    return RandomScene("", world, 0.5)


def _grasp(world: World, rng: np.random.Generator) -> RandomScene:
    world.set_gravity((0, 0, 0))
    world.add_box(0.1, 0.1, 0.1, 0.2)
    for side in (-1, 1):
        finger = world.add_box(0.02, 0.08, 0.08, 0.5)
        finger.set_position(side * 0.0605, *rng.uniform(-0.02, 0.02, 2))
        finger.set_command_wrench((-side * float(rng.uniform(1, 30)), 0, 0), (0, 0, 0))
    return RandomScene("", world, 0.5, driven=True)


def _impact(world: World, rng: np.random.Generator) -> RandomScene:
    world.set_gravity((0, 0, 0))
    world.add_ground()
    for k in range(3):
        body = _random_body(world, rng, 0.2)
        _turn(body, rng)
        body.set_position(1.5 * k, 0, 1.2)
        body.set_linear_velocity((*rng.uniform(-4, 4, 2), -4.0))
        body.set_angular_velocity(rng.uniform(-5, 5, 3))
    return RandomScene("", world, 0.6)


def _rope(world: World, rng: np.random.Generator) -> RandomScene:
    last = world.add_sphere(0.05, 1.0)
    last.set_body_type(BodyType.STATIC)
    links, step = int(rng.integers(3, 15)), rng.normal(size=3)
    step *= 0.2 / np.linalg.norm(step)
    for k in range(links):
        heavy = k == links - 1
        body = world.add_sphere(0.05, float(10 ** rng.uniform(0, 2)) if heavy else 0.1)
        body.set_position(*((k + 1) * step))
        world.add_stiff_wire(last, 0, (0, 0, 0), body, 0, (0, 0, 0), 0.2)
        last = body
    return RandomScene("", world, 1.0)


def _robots(world: World, rng: np.random.Generator) -> RandomScene:
    world.add_ground()
    robot = world.add_articulated_system(resource(f"robots/{rng.choice(['quadruped', 'wheeled_base'])}.urdf"))
    q = np.asarray(robot.get_generalized_coordinate()).copy()
    q[:3] = 0, 0, 0.8
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    robot.set_generalized_coordinate(q)
    box = _random_body(world, rng, 0.15)
    box.set_position(0.1, 0, 1.8)
    return RandomScene("", world, 0.8)


_MAKERS = {"pile": _pile, "wall": _wall, "stack": _stack, "grasp": _grasp, "impact": _impact, "rope": _rope, "robots": _robots}
