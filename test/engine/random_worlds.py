"""Random legal worlds made of everything there is: shapes, compounds, meshes, terrain, moving supports, robots, wires.

Sizes go from a millimetre to tens of metres, masses over four decades within a world, friction to 2, restitution to 1, steps
from 0.5 to 10 ms. The same seed gives the same world.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.transform import Rotation

from raisim_ros import BodyType, CompoundChild, HeightMapData, MeshCollisionMode, ShapeType, World
from raisim_ros.description.resources import resource

SUPPORTS = ("ground", "ground", "terrain", "tiles", "bowl", "lift", "turntable", "nothing")
EXTRAS = ("none", "none", "none", "wires", "springs", "robot", "tree", "motors")


@dataclass
class RandomWorld:
    """A world, and what may add energy or carry momentum in it."""

    name: str
    world: World
    seconds: float
    size: float  # of a typical body [m]
    robots: list = field(default_factory=list)
    wires: list = field(default_factory=list)
    driven: bool = False  # motors or moving supports

    @property
    def moving(self):
        """Bodies and robots; robots on a fixed base, too, though that does not move."""
        return [o for o in self.world.get_obj_list() if o.get_body_type() == BodyType.DYNAMIC or o in self.robots]


def make_world(seed: int) -> RandomWorld:
    """The world of a seed."""
    rng = np.random.default_rng(seed)
    support, extra = SUPPORTS[rng.integers(len(SUPPORTS))], EXTRAS[rng.integers(len(EXTRAS))]
    size = float(10 ** rng.uniform(-3, 1)) if extra not in ("robot", "tree", "motors") else 0.15
    dt = float(np.exp(rng.uniform(np.log(0.0005), np.log(0.01)))) * min(1.0, (size / 0.05) ** 0.5)
    made = RandomWorld("", World(), min(1.0, 150 * dt), size)
    world = made.world
    world.set_time_step(max(dt, 1e-4))
    world.set_sleeping_enabled(bool(rng.integers(2)))
    friction, restitution = float(rng.choice([0.0, rng.uniform(0, 1), rng.uniform(0, 2)])), float(rng.choice([0, 0, rng.uniform(0, 1)]))
    turning = size * 10 ** rng.uniform(-3, -1, 2) if rng.random() < 0.2 else (0.0, 0.0)
    world.set_default_material(friction, restitution, 0.01, None, 0.0, *map(float, turning))
    _SUPPORTS[support](made, rng, size)
    mass = float(np.clip(1000 * size**3, 1e-3, 1e5)) if extra not in ("robot", "tree", "motors") else 1.0
    bodies = [add_body(world, rng, size, mass) for _ in range(int(rng.integers(1, 9)))]
    for k, body in enumerate(bodies):
        body.set_position(*(size * rng.uniform(-1.5, 1.5, 2)), size * (2.0 + 2.2 * k))
        body.set_orientation(Rotation.random(random_state=rng).as_quat()[[3, 0, 1, 2]])
        if rng.random() < 0.3:
            speed = np.sqrt(9.81 * size)
            body.set_velocity(2 * speed * rng.normal(size=3), 2 * speed / size * rng.normal(size=3))
    _EXTRAS[extra](made, rng, size, bodies)
    made.name = (f"seed {seed}: {len(bodies)} bodies of {size:.2g} m on {support} with {extra}, dt {world.get_time_step():.2g}, "
                 f"friction {friction:.2g}, restitution {restitution:.2g}, turning {turning[0]:.2g}")  # fmt: skip
    return made


# ---- bodies ----


def add_body(world: World, rng: np.random.Generator, size: float, mass: float):
    """Any shape of about the size; the masses of a world differ by up to 1e4."""
    mass = float(np.clip(mass * 10 ** rng.uniform(-2, 2), 1e-3, 1e5))
    a, b, c = map(float, size * rng.uniform(0.3, 1.2, 3))
    kinds = {
        "sphere": lambda: world.add_sphere(a, mass),
        "box": lambda: world.add_box(a, b, c, mass),
        "plank": lambda: world.add_box(a, 0.1 * b, 2 * c, mass),
        "capsule": lambda: world.add_capsule(0.5 * a, b, mass),
        "cylinder": lambda: world.add_cylinder(a, b, mass),
        "cone": lambda: world.add_cone(a, b, mass),
        "compound": lambda: world.add_compound(_children(rng, size), mass),
        "hull": lambda: world.add_mesh(str(resource("meshes/unit_sphere.obj")), mass, scale=(a, b, c),
                                       collision_mode=MeshCollisionMode.CONVEX_HULL),
        "mesh": lambda: world.add_mesh(str(resource("meshes/unit_sphere.obj")), mass, scale=(a, a, a),
                                       collision_mode=MeshCollisionMode.ORIGINAL_MESH),
    }  # fmt: skip
    return kinds[str(rng.choice(list(kinds)))]()


def _children(rng: np.random.Generator, size: float) -> list[CompoundChild]:
    arm = 0.5 * size
    places = [(0, 0, 0), (arm, 0, 0), (0, arm, 0.5 * arm)]
    shapes = [(ShapeType.BOX, (size, 0.4 * size, 0.3 * size)), (ShapeType.SPHERE, (0.3 * size,)),
              (ShapeType.CAPSULE, (0.2 * size, 0.5 * size)), (ShapeType.CYLINDER, (0.3 * size, 0.4 * size))]  # fmt: skip
    chosen = rng.choice(len(shapes), size=len(places))
    return [CompoundChild(*shapes[k], place) for k, place in zip(chosen, places, strict=True)]


# ---- what they fall on ----


def _ground(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    made.world.add_ground()


def _terrain(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    heights = 0.4 * size * rng.uniform(-1, 1, (24, 24))
    made.world.add_height_map(HeightMapData(24, 24, 20 * size, 20 * size, 0.0, 0.0, heights))


def _tiles(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    for x in range(-3, 4):
        for y in range(-3, 4):
            tile = made.world.add_box(2 * size, 2 * size, size, 1.0)
            tile.set_body_type(BodyType.STATIC)
            tile.set_position(2 * size * x, 2 * size * y, -0.5 * size)


def _bowl(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    wide, thick, high = 8 * size, size, 4 * size
    walls = [CompoundChild(ShapeType.BOX, (wide, wide, thick), (0, 0, -0.5 * thick))]
    for sign in (-1, 1):
        walls.append(CompoundChild(ShapeType.BOX, (thick, wide, high), (sign * 0.5 * wide, 0, 0.5 * high)))
        walls.append(CompoundChild(ShapeType.BOX, (wide, thick, high), (0, sign * 0.5 * wide, 0.5 * high)))
    made.world.add_compound(walls, 1.0).set_body_type(BodyType.STATIC)


def _lift(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    table = made.world.add_box(20 * size, 20 * size, size, 1.0)
    table.set_body_type(BodyType.KINEMATIC)
    table.set_position(0, 0, -0.5 * size)
    table.set_linear_velocity(np.sqrt(size) * rng.uniform(-1, 1, 3))
    made.driven = True


def _turntable(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    table = made.world.add_cylinder(10 * size, size, 1.0)
    table.set_body_type(BodyType.KINEMATIC)
    table.set_position(0, 0, -0.5 * size)
    table.set_angular_velocity((0, 0, float(rng.uniform(-1, 1) / np.sqrt(size))))
    made.driven = True


def _nothing(made: RandomWorld, rng: np.random.Generator, size: float) -> None:
    made.world.set_gravity((0, 0, 0))


_SUPPORTS = {"ground": _ground, "terrain": _terrain, "tiles": _tiles, "bowl": _bowl, "lift": _lift, "turntable": _turntable,
             "nothing": _nothing}  # fmt: skip


# ---- what else there is ----


def _none(made: RandomWorld, rng: np.random.Generator, size: float, bodies: list) -> None:
    pass


def _wires(made: RandomWorld, rng: np.random.Generator, size: float, bodies: list) -> None:
    for first, second in itertools.pairwise(bodies):
        length = float(np.linalg.norm(first.get_position() - second.get_position())) * float(rng.choice([1.0, 1.2]))
        made.wires.append(made.world.add_stiff_wire(first, 0, (0, 0, 0), second, 0, (0, 0, 0), length))


def _springs(made: RandomWorld, rng: np.random.Generator, size: float, bodies: list) -> None:
    for first, second in itertools.pairwise(bodies):
        length = float(np.linalg.norm(first.get_position() - second.get_position()))
        mass = min(first.get_mass(), second.get_mass())
        stiffness = mass * 9.81 / size * float(10 ** rng.uniform(0, 2))
        made.wires.append(made.world.add_compliant_wire(first, 0, (0, 0, 0), second, 0, (0, 0, 0), length, stiffness))


def _robot(made: RandomWorld, rng: np.random.Generator, size: float, bodies: list) -> None:
    name = str(rng.choice(["quadruped", "wheeled_base", "four_bar", "chain", "cartpole", "arm"]))
    robot = made.world.add_articulated_system(resource(f"robots/{name}.urdf"))
    q = np.array(robot.get_generalized_coordinate())
    if len(q) > robot.get_dof() and name in ("quadruped", "wheeled_base"):
        q[:3] = 0, 0, 0.9
        q[3:7] = Rotation.random(random_state=rng).as_quat()
        robot.set_generalized_coordinate(q)
    if name == "four_bar":
        robot.set_generalized_coordinate([0.0, np.arctan2(4, 3), np.pi / 2])  # where its loop is closed
    made.robots.append(robot)


def _tree(made: RandomWorld, rng: np.random.Generator, size: float, bodies: list) -> None:
    made.robots.append(made.world.add_articulated_system(random_urdf(rng, int(rng.integers(2, 9)))))
    robot = made.robots[0]
    q = np.array(robot.get_generalized_coordinate())
    q[:3] = 0, 0, 1.0
    q[3:7] = Rotation.random(random_state=rng).as_quat()
    robot.set_generalized_coordinate(q)


def _motors(made: RandomWorld, rng: np.random.Generator, size: float, bodies: list) -> None:
    _tree(made, rng, size, bodies)
    robot = made.robots[0]
    joints = robot.get_dof() - 6
    gains = 10 ** rng.uniform(0, 4)
    robot.set_pd_gains([0.0] * 6 + [gains] * joints, [0.0] * 6 + [0.05 * gains] * joints)
    made.driven = True


_EXTRAS = {"none": _none, "wires": _wires, "springs": _springs, "robot": _robot, "tree": _tree, "motors": _motors}


def random_urdf(rng: np.random.Generator, links: int) -> str:
    """A floating tree of capsules with all kinds of joints, limits, friction, damping and a mimic."""
    text, revolute = '<robot name="tree">', []
    for k in range(links):
        mass, length = float(10 ** rng.uniform(-1, 1)), float(rng.uniform(0.1, 0.3))
        inertia = mass * length**2 / 12
        text += f"""<link name="l{k}"><inertial><origin xyz="0 0 {-length / 2}"/><mass value="{mass}"/>
        <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia / 10}" ixy="0" ixz="0" iyz="0"/></inertial><collision>
        <origin xyz="0 0 {-length / 2}"/><geometry><capsule radius="0.03" length="{0.5 * length}"/></geometry></collision></link>"""
        if k == 0:
            continue
        kind = str(rng.choice(["revolute", "revolute", "continuous", "prismatic", "spherical"]))
        axis, turn = rng.normal(size=3), rng.uniform(-1, 1, 3)
        axis /= np.linalg.norm(axis)
        limit = {"revolute": 'lower="-1" upper="0.8"', "prismatic": 'lower="-0.1" upper="0.1"', "spherical": 'lower="0.7"'}
        bounds = f'<limit {limit[kind]} effort="50" velocity="50"/>' if kind in limit else ""
        mimic = ""
        if kind == "revolute" and revolute and rng.random() < 0.3:
            mimic = f'<mimic joint="{revolute[-1]}" multiplier="{rng.uniform(0.5, 1.0)}"/>'
        elif kind == "revolute":
            revolute.append(f"j{k}")
        text += f"""<joint name="j{k}" type="{kind}"><parent link="l{rng.integers(k)}"/><child link="l{k}"/>
        <origin xyz="0 0 {-float(rng.uniform(0.1, 0.3))}" rpy="{turn[0]} {turn[1]} {turn[2]}"/>
        <axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>{bounds}{mimic}
        <dynamics damping="{rng.choice([0.0, 0.05])}" friction="{rng.choice([0.0, 0.1])}"/></joint>"""
    return text + "</robot>"
