"""Nothing falls asleep that would move: slow falls, turning points, small forces, slow rolling, moving supports."""

from collections.abc import Callable

import numpy as np
import pytest

from raisim_ros import BodyType, World

PENDULUM = """<robot name="p"><link name="world"/><link name="rod"><inertial><origin xyz="0 0 -.5"/><mass value="1"/>
<inertia ixx=".0834" iyy=".0834" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="world"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def fall(world: World, rng: np.random.Generator):
    world.set_gravity((0.0, 0.0, -(10 ** rng.uniform(-4.0, -1.0))))
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 10.0)
    return ball


def hang(world: World, rng: np.random.Generator):
    length, angle = rng.uniform(1.0, 20.0), 10 ** rng.uniform(-3.5, -1.5)
    hook, ball = world.add_sphere(0.1, 1.0), world.add_sphere(0.1, 1.0)
    hook.set_body_type(BodyType.STATIC)
    ball.set_position(length * np.sin(angle), 0.0, -length * np.cos(angle))
    world.add_stiff_wire(hook, 0, (0, 0, 0), ball, 0, (0, 0, 0), length)
    return ball


def push(world: World, rng: np.random.Generator):
    world.set_gravity((0.0, 0.0, 0.0))
    box = world.add_box(1.0, 1.0, 1.0, 10 ** rng.uniform(2.0, 5.0))
    box.set_command_wrench(20.0 * rng.normal(size=3), rng.choice([0.0, 1.0]) * rng.normal(size=3))
    return box


def push_on_ice(world: World, rng: np.random.Generator):
    world.set_default_material(0.0, 0.0, 0.0)
    world.add_ground()
    box = world.add_box(1.0, 1.0, 1.0, 10 ** rng.uniform(2.0, 5.0))
    box.set_position(0.0, 0.0, 0.5)
    box.set_command_wrench((1.0, 0.5, 0.0), (0.0, 0.0, 0.0))
    return box


def slip(world: World, rng: np.random.Generator):
    mu = rng.uniform(0.2, 1.0)
    angle = np.arctan(mu) + np.radians(10 ** rng.uniform(-2.0, 0.0))
    world.set_gravity((9.81 * np.sin(angle), 0.0, -9.81 * np.cos(angle)))
    world.set_default_material(mu, 0.0, 0.0)
    world.add_ground()
    box = world.add_box(0.4, 0.3, 0.1, 1.0)
    box.set_position(0.0, 0.0, 0.05)
    return box


def roll(world: World, rng: np.random.Generator):
    world.add_ground()
    radius, speed = rng.uniform(0.05, 0.5), 10 ** rng.uniform(-5.0, -2.0)
    ball = world.add_sphere(radius, 1.0)
    ball.set_position(0.0, 0.0, radius)
    ball.set_velocity((speed, 0.0, 0.0), (0.0, speed / radius, 0.0))
    return ball


def ride(world: World, rng: np.random.Generator):
    lift = world.add_box(2.0, 2.0, 0.2, 1.0)
    lift.set_body_type(BodyType.KINEMATIC)
    lift.set_velocity(10 ** rng.uniform(-5.0, -3.0) * rng.normal(size=3), (0.0, 0.0, 0.0))
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 0.2)
    return box


def turn(world: World, rng: np.random.Generator):
    world.set_gravity((0.0, 0.0, 0.0))
    box = world.add_box(0.2, 0.3, 0.4, 1.0)
    box.set_angular_velocity(10 ** rng.uniform(-5.0, -2.0) * rng.normal(size=3))
    return box


SCENES: dict[str, Callable] = {f.__name__: f for f in (fall, hang, push, push_on_ice, slip, roll, ride, turn)}


@pytest.mark.parametrize("scene", SCENES)
def test_sleeping_changes_no_motion(scene):
    """Each scene with and without it: the same way, to a thousandth of it."""
    for seed in range(6):
        ends, starts = [], []
        for enabled in (True, False):
            rng = np.random.default_rng(seed)
            world = World()
            world.set_time_step(float(rng.choice([0.001, 0.005, 0.01])))
            world.set_sleeping_enabled(enabled)
            body = SCENES[scene](world, rng)
            starts.append(np.concatenate([body.get_position(), body.get_quaternion()]))
            world.integrate(600)
            ends.append(np.concatenate([body.get_position(), body.get_quaternion()]))
        way = float(np.abs(ends[1] - starts[1]).max())
        assert np.abs(ends[0] - ends[1]).max() <= 1e-3 * way + 1e-9, f"seed {seed}, way {way:.3g}"


@pytest.mark.parametrize("angle", [1e-4, 1e-3, 4e-3, 0.05])
def test_a_robot_never_sleeps_at_a_turning_point(angle):
    world = World()
    robot = world.add_articulated_system(PENDULUM)
    robot.set_generalized_coordinate([angle])
    lowest = 0.0
    for _ in range(400):
        world.integrate()
        lowest = min(lowest, float(robot.get_generalized_coordinate()[0]))
    assert lowest == pytest.approx(-angle, rel=0.01)


def test_what_lies_sleeps():
    """Stacks, a leaning box, a hanging weight and a heap come to rest."""
    world = World()
    world.add_ground()
    rng = np.random.default_rng(3)
    bodies = []
    for k in range(5):
        bodies.append(world.add_box(0.2, 0.2, 0.2, 1.0))
        bodies[-1].set_position(0.0, 0.0, 0.1 + 0.2 * k)
    for _ in range(12):
        bodies.append(world.add_box(*rng.uniform(0.1, 0.3, 3), 1.0))
        bodies[-1].set_position(3.0 + rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), rng.uniform(0.3, 2.0))
        q = rng.normal(size=4)
        bodies[-1].set_orientation(q / np.linalg.norm(q))
    hook, weight = world.add_sphere(0.1, 1.0), world.add_sphere(0.1, 1.0)
    hook.set_position(-3.0, 0.0, 3.0)
    hook.set_body_type(BodyType.STATIC)
    weight.set_position(-3.0, 0.0, 2.0)
    world.add_stiff_wire(hook, 0, (0, 0, 0), weight, 0, (0, 0, 0), 1.0)
    world.integrate(3000)
    assert [world.is_object_sleeping(body) for body in [*bodies, weight]] == [True] * 18


WAKERS: dict[str, Callable] = {
    "time step": lambda world: world.set_time_step(0.004),
    "contact settings": lambda world: world.set_contact_settings(world.get_contact_settings()),
    "solver": lambda world: world.set_contact_solver_param(1.0, 1.0, 1.0, 10, 1e-8),
    "correction of overlaps": lambda world: world.set_erp(0.1, 0.0),
}


@pytest.mark.parametrize("waker", WAKERS)
def test_settings_that_could_move_a_sleeper_wake_it(waker):
    world = World()
    world.add_ground()
    box = world.add_box(0.2, 0.2, 0.2, 1.0)
    box.set_position(0.0, 0.0, 0.1)
    world.integrate(100)
    assert world.is_object_sleeping(box)
    WAKERS[waker](world)
    assert not world.is_object_sleeping(box)
