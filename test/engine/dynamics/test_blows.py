"""What strikes or pulls a body with different moments of inertia changes its momentum and energy by just that."""

from itertools import pairwise

import numpy as np
import pytest
from random_tree import make_body, tree_of

from raisim_ros import World
from raisim_ros.description.robot.kinematic_tree import JointType

SIZE = np.array([0.6, 0.3, 0.1])
MASS = 3.0


def empty_world(dt, friction=0.8, restitution=1.0):
    world = World()
    world.set_time_step(dt)
    world.set_gravity((0, 0, 0))
    world.set_default_material(friction, restitution, 0.0)
    return world


def body_momentum(body):
    """Angular momentum about the world's origin."""
    turn = np.array(body.get_rotation_matrix()).reshape(3, 3)
    inertia = turn @ np.array(body.get_inertia_matrix_b()).reshape(3, 3) @ turn.T
    own = inertia @ body.get_angular_velocity()
    return own + body.get_mass() * np.cross(body.get_position(), body.get_linear_velocity())


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("friction", [0.0, 0.8])
@pytest.mark.parametrize("seed", range(4))
def test_a_blow_keeps_angular_momentum_and_energy(seed, friction, dt):
    rng = np.random.default_rng(seed)
    world = empty_world(dt, friction)
    box, ball = world.add_box(*SIZE, MASS), world.add_sphere(0.1, 5.0)
    box.set_angular_velocity(3 * rng.normal(size=3))
    way = rng.normal(size=3)
    way /= np.linalg.norm(way)
    ball.set_position(0.6 * way)
    ball.set_linear_velocity(-5 * way + 0.5 * rng.normal(size=3))
    first = body_momentum(box) + body_momentum(ball)
    energy, spin = box.get_kinetic_energy() + ball.get_kinetic_energy(), box.get_angular_velocity().copy()
    while not box.get_contacts():
        world.integrate()
    world.integrate()
    assert np.linalg.norm(box.get_angular_velocity() - spin) > 0.1
    assert body_momentum(box) + body_momentum(ball) == pytest.approx(first, abs=1e-12 * np.linalg.norm(first))
    assert box.get_kinetic_energy() + ball.get_kinetic_energy() <= energy * (1 + 1e-12)


BOX_ROBOT = f"""<robot name="box"><link name="box"><inertial><origin xyz="0.1 0 0"/><mass value="{MASS}"/>
<inertia ixx="{MASS / 12 * (SIZE[1] ** 2 + SIZE[2] ** 2)}" iyy="{MASS / 12 * (SIZE[0] ** 2 + SIZE[2] ** 2)}"
izz="{MASS / 12 * (SIZE[0] ** 2 + SIZE[1] ** 2)}" ixy="0" ixz="0" iyz="0"/></inertial><collision><origin xyz="0.1 0 0"/>
<geometry><box size="{SIZE[0]} {SIZE[1]} {SIZE[2]}"/></geometry></collision></link></robot>"""


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("kind", ["body", "robot of one link", "both ends of a wire"])
@pytest.mark.parametrize("seed", range(4))
def test_an_elastic_blow_gives_back_the_speed_at_the_point_that_is_struck(seed, kind, dt):
    """The box turns by itself until then: its point has another velocity than at the beginning of the step."""
    rng = np.random.default_rng(seed)
    world = empty_world(dt, friction=0.0)
    spin, way = 4 * rng.normal(size=3), rng.normal(size=3)
    if kind == "robot of one link":
        box = world.add_articulated_system(BOX_ROBOT)
        box.set_generalized_velocity([0, 0, 0, *spin])
    else:
        box = world.add_box(*SIZE, MASS)
        box.set_angular_velocity(spin)
    ball = world.add_sphere(0.1, 5.0)
    ball.set_position(0.8 * way / np.linalg.norm(way))
    ball.set_linear_velocity(-5 * way / np.linalg.norm(way) + 0.5 * rng.normal(size=3))
    if kind == "both ends of a wire":
        world.add_stiff_wire(box, 0, (0, 0, 0), ball, 0, (0, 0, 0), 10.0)
    first, before = box.get_kinetic_energy() + ball.get_kinetic_energy(), ball.get_linear_velocity().copy()
    world.integrate(round(0.3 / dt))
    assert np.linalg.norm(ball.get_linear_velocity() - before) > 0.1
    assert box.get_kinetic_energy() + ball.get_kinetic_energy() == pytest.approx(first, rel=1e-12)


@pytest.mark.parametrize("dt", [0.001, 0.005])
def test_a_pull_on_a_robot_of_one_link_changes_its_momentum_by_itself(dt):
    """A wire with a tension, at a link with different moments."""
    world = empty_world(dt)
    rng = np.random.default_rng(2)
    inertia = MASS / 12 * np.diag([SIZE[1] ** 2 + SIZE[2] ** 2, SIZE[0] ** 2 + SIZE[2] ** 2, SIZE[0] ** 2 + SIZE[1] ** 2])
    link = make_body(0, -1, JointType.FLOATING, rng, mass=MASS, com=np.zeros(3), inertia=inertia)
    robot = world.add_articulated_system(tree_of([link]))
    robot.set_generalized_velocity([0, 0, 0, 4, -3, 5])
    ball = world.add_sphere(0.05, 1.0, collision_mask=0)
    ball.set_position(0.9, 0.1, 0)
    ball.set_linear_velocity((3, 1, 2))
    world.add_custom_wire(robot, 0, (0.2, 0.1, 0.02), ball, 0, (0, 0, 0), 0.0).set_tension(200.0)

    def momentum():
        return np.array(robot.get_angular_momentum((0, 0, 0))) + body_momentum(ball)

    first = momentum()
    for _ in range(20):
        world.integrate()
        assert momentum() == pytest.approx(first, abs=1e-11 * np.linalg.norm(first))


@pytest.mark.parametrize("seed", range(6))
def test_springs_between_turning_boxes_keep_energy(seed):
    rng = np.random.default_rng(seed)
    world = empty_world(0.005)
    boxes, springs = [], []
    for k in range(4):
        box = world.add_box(*rng.uniform(0.1, 0.6, 3), rng.uniform(0.5, 3), collision_mask=0)
        box.set_position(k, *rng.normal(size=2) * 0.1)
        box.set_angular_velocity(6 * rng.normal(size=3))
        box.set_linear_velocity(rng.normal(size=3))
        boxes.append(box)
    for a, b in pairwise(boxes):
        ends, stiffness = (0.1 * rng.normal(size=3), 0.1 * rng.normal(size=3)), 10 ** rng.uniform(1, 4)
        world.add_compliant_wire(a, 0, ends[0], b, 0, ends[1], 0.9, stiffness)
        springs.append((a, ends[0], b, ends[1], stiffness))

    def at(body, point):
        return body.get_position() + np.array(body.get_rotation_matrix()).reshape(3, 3) @ point

    def energy():
        strains = [max(0.0, np.linalg.norm(at(a, p) - at(b, q)) - 0.9) for a, p, b, q, _ in springs]
        stored = sum(0.5 * spring[4] * strain**2 for spring, strain in zip(springs, strains, strict=True))
        return stored + sum(box.get_kinetic_energy() for box in boxes)

    first = energy()
    for _ in range(300):
        world.integrate()
        assert energy() == pytest.approx(first, rel=1e-6)
