"""Friction against rolling and against spinning about the normal: closed forms, MuJoCo, promises over random scenes."""

import mujoco
import numpy as np
import pytest
from random_scenes import KINDS, make_scene

from raisim_ros import BodyType, InvalidValueError, World
from raisim_ros.description.resources import resource

GRAVITY, RADIUS, MASS = 9.81, 0.1, 2.0


def plane(rolling=0.0, spinning=0.0, friction=0.8, slope=0.0, dt=0.002) -> World:
    world = World()
    world.set_time_step(dt)
    world.set_gravity((GRAVITY * np.sin(slope), 0.0, -GRAVITY * np.cos(slope)))
    world.set_default_material(friction, 0.0, 0.0, rolling_friction=rolling, spinning_friction=spinning)
    world.add_ground()
    return world


def ball_on(world: World):
    ball = world.add_sphere(RADIUS, MASS)
    ball.set_position(0.0, 0.0, RADIUS)
    return ball


def robot_on(world: World):
    """The same ball as a robot of one link."""
    inertia = 0.4 * MASS * RADIUS**2
    robot = world.add_articulated_system(
        f"""<robot name="ball"><link name="ball"><inertial><mass value="{MASS}"/>
        <inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/></inertial>
        <collision><geometry><sphere radius="{RADIUS}"/></geometry></collision></link></robot>"""
    )
    robot.set_generalized_coordinate([0, 0, RADIUS, 1, 0, 0, 0])
    return robot


@pytest.mark.parametrize("azimuth", [0.0, 2.2])
@pytest.mark.parametrize("dt", [0.0005, 0.005])
def test_a_rolling_ball_is_slowed_down(azimuth, dt):
    """By 5/7 g mu / r, with the moment mu N against its rolling, until it rests, and sleeps."""
    mu, speed = 0.004, 1.0
    world, direction = plane(mu, dt=dt), np.array([np.cos(azimuth), np.sin(azimuth), 0.0])
    ball = ball_on(world)
    axis = np.cross([0, 0, 1], direction)
    ball.set_velocity(speed * direction, speed / RADIUS * axis)
    slowing = 5 / 7 * GRAVITY * mu / RADIUS
    world.integrate(round(1.0 / dt))
    assert ball.get_linear_velocity() == pytest.approx((speed - slowing) * direction, abs=1e-9)
    (contact,) = ball.get_contacts()
    moment = contact.get_contact_frame().T @ contact.get_moment() * (1 if contact.is_object_a() else -1) / dt
    assert moment == pytest.approx(-mu * MASS * GRAVITY * axis, rel=1e-9, abs=1e-12)
    world.integrate(round(3.5 / dt))
    assert ball.get_position() == pytest.approx([0, 0, RADIUS] + speed**2 / (2 * slowing) * direction, abs=1e-5)
    assert world.is_object_sleeping(ball)


@pytest.mark.parametrize("make", [ball_on, robot_on])
@pytest.mark.parametrize("excess", [0.97, 1.03])
def test_a_ball_rests_on_a_slope_that_is_not_too_steep(make, excess):
    """Up to tan(slope) = mu / r."""
    slope = 0.05
    world = plane(excess * RADIUS * np.tan(slope), slope=slope)
    ball = make(world)
    world.integrate(1000)
    state = ball.get_base_position() if make is robot_on else ball.get_position()
    way = 0.5 * 2.0**2 * 5 / 7 * GRAVITY * np.cos(slope) * np.tan(slope) * (1 - excess)
    assert state[0] == pytest.approx(max(way, 0.0), abs=1e-7)
    assert world.is_object_sleeping(ball) == (excess > 1)


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "box"])
def test_a_spinning_body_comes_to_rest(shape):
    """After I w / (mu m g), however many points bear it. Sliding friction is left out: it would act at those points."""
    mu, spin = 0.01, 20.0
    world = plane(spinning=mu, friction=0.0)
    sizes = {"sphere": (RADIUS,), "cylinder": (RADIUS, 0.2), "box": (0.2, 0.2, 0.2)}
    body = getattr(world, f"add_{shape}")(*sizes[shape], MASS)
    body.set_position(0, 0, 0.1)
    body.set_angular_velocity((0, 0, spin))
    time = spin * body.get_inertia_matrix_b()[2, 2] / (mu * MASS * GRAVITY)
    steps = int(0.6 * time / world.get_time_step())
    world.integrate(steps)
    assert body.get_angular_velocity() == pytest.approx([0, 0, spin * (1 - steps * world.get_time_step() / time)], abs=1e-6)
    world.integrate(steps)
    assert np.abs(body.get_angular_velocity()).max() < 1e-12


def test_rolling_and_spinning_do_not_mix():
    """A ball that does both: each is braked as if it were alone."""
    world = plane(0.003, 0.002)
    ball = ball_on(world)
    ball.set_velocity((1, 0, 0), (0, 10, 8))
    world.integrate(100)
    assert ball.get_linear_velocity()[0] == pytest.approx(1 - 0.2 * 5 / 7 * GRAVITY * 0.003 / RADIUS, abs=1e-9)
    assert ball.get_angular_velocity()[2] == pytest.approx(8 - 0.2 * 0.002 * GRAVITY / (0.4 * RADIUS**2), abs=1e-9)


def test_it_acts_between_moving_things():
    """A ball on a turntable that takes it along: spinning friction lets the ball turn with it."""
    world = World()
    world.set_time_step(0.002)
    world.set_default_material(0.8, 0.0, 0.0, spinning_friction=0.02)
    table = world.add_cylinder(0.5, 0.1, 1.0)
    table.set_body_type(BodyType.KINEMATIC)
    table.set_position(0, 0, -0.05)
    table.set_angular_velocity((0, 0, 2))
    ball = ball_on(world)
    world.integrate(1000)
    assert ball.get_angular_velocity() == pytest.approx([0, 0, 2], abs=1e-9)


def test_moments_are_what_changes_the_spin():
    """I dw = sum of arm x impulse + moment, for every ball of a heap in every step."""
    world, rng = plane(0.01, 0.01, dt=0.005), np.random.default_rng(3)
    balls = [world.add_sphere(0.1, float(rng.uniform(0.5, 5))) for _ in range(12)]
    for k, ball in enumerate(balls):
        ball.set_position(*rng.uniform(-0.15, 0.15, 2), 0.2 + 0.2 * k)
        ball.set_angular_velocity(rng.uniform(-20, 20, 3))
    world.integrate(60)
    for _ in range(60):
        before = [(ball.get_angular_velocity(), ball.get_position() + 0.0025 * ball.get_linear_velocity()) for ball in balls]
        world.integrate()
        for ball, (spin, middle) in zip(balls, before, strict=True):
            turned = np.zeros(3)
            for contact in ball.get_contacts():
                sign, frame = (1 if contact.is_object_a() else -1), contact.get_contact_frame().T
                arm = contact.get_position() - middle
                turned += sign * (np.cross(arm, frame @ contact.get_impulse()) + frame @ contact.get_moment())
            change = 0.4 * ball.get_mass() * 0.1**2 * (ball.get_angular_velocity() - spin)
            assert change == pytest.approx(turned, abs=1e-9 * np.abs(turned).max() + 1e-12)


@pytest.mark.parametrize(("rolling", "stands"), [(0.0, False), (0.005, True)])
def test_balls_stand_on_each_other(rolling, stands):
    world = plane(rolling, dt=0.005)
    balls = [world.add_sphere(0.1, 1.0) for _ in range(4)]
    for k, ball in enumerate(balls):
        ball.set_position(0.001 * (k % 2), 0, 0.1 + 0.2 * k)
    world.integrate(600)
    assert (balls[-1].get_position()[2] > 0.69) == stands
    assert not stands or world.get_collision_counters().solver_error < 1e-7


def test_a_wheel_of_a_robot_is_slowed_down():
    """A bar that hangs between two wheels on massless-like axles: all the friction there is, is that of rolling."""
    wheel = """<link name="{0}"><inertial><mass value="1"/><inertia ixx="0.003" iyy="0.005" izz="0.003" ixy="0" ixz="0" iyz="0"/>
    </inertial><collision><geometry><sphere radius="0.1"/></geometry></collision></link>
    <joint name="{0}_axle" type="continuous"><parent link="bar"/><child link="{0}"/><origin xyz="0 {1} 0"/><axis xyz="0 1 0"/></joint>"""
    world = plane(0.005, dt=0.001)
    robot = world.add_articulated_system(
        f"""<robot name="cart"><link name="bar"><inertial><origin xyz="0 0 -0.05"/><mass value="3"/>
        <inertia ixx="0.1" iyy="0.01" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        {wheel.format("left", 0.3)}{wheel.format("right", -0.3)}</robot>"""
    )
    robot.set_generalized_coordinate([0, 0, 0.1, 1, 0, 0, 0, 0, 0])
    robot.set_generalized_velocity([1, 0, 0, 0, 0, 0, 10, 10])
    world.integrate(1000)
    u = robot.get_generalized_velocity()
    slowing = 0.005 * 5 * GRAVITY / 0.1 / (5 + 2 * 0.005 / 0.01)
    assert u[0] == pytest.approx(1 - slowing, rel=2e-2)  # the bar swings a little
    assert u[6:] == pytest.approx(10 * u[0] - u[4], abs=1e-6)


MODEL = """<mujoco><option timestep="0.001" cone="elliptic" impratio="100"/><worldbody>
<geom type="plane" size="9 9 1" friction="0.8 0.003 0.004" condim="6"/>
<body name="ball" pos="0 0 0.1"><freejoint/><geom size="0.1" mass="2" friction="0.8 0.003 0.004" condim="6"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize("velocity", [(1, 0, 0, 0, 10, 0), (0, 0, 0, 0, 0, 8)])
def test_mujoco_agrees(tmp_path, velocity):
    """The file is read with its condim; contacts that MuJoCo softens differ a little."""
    (tmp_path / "ball.xml").write_text(MODEL)
    world = World(tmp_path / "ball.xml")
    ball = next(o for o in world.get_obj_list() if o.get_name() == "ball")
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    data.qvel[:] = velocity
    ball.set_velocity(velocity[:3], velocity[3:])
    world.set_time_step(0.001)
    world.integrate(400)
    for _ in range(400):
        mujoco.mj_step(model, data)
    assert ball.get_linear_velocity()[:2] == pytest.approx(data.qvel[:2], abs=5e-3)
    assert ball.get_angular_velocity() == pytest.approx(data.qvel[3:], abs=5e-2)


def test_condim_of_mjcf_decides_what_acts(tmp_path):
    (tmp_path / "model.xml").write_text(
        """<mujoco><worldbody><geom type="plane" size="1 1 1" friction="0.4 0.2 0.1"/>
        <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" friction="0.7 0.3 0.05" condim="6"/></body>
        <body name="b" pos="1 0 1"><freejoint/><geom size="0.1" condim="4"/></body>
        <body name="c" pos="2 0 1"><freejoint/><geom size="0.1" condim="6" priority="1"/></body></worldbody></mujoco>"""
    )
    world = World(tmp_path / "model.xml")
    ground, a, b, c = (world.get_object_material(handle) for handle in world.get_obj_list())
    wanted = {(ground, ground): (0, 0), (ground, a): (0.3, 0.1), (ground, b): (0.2, 0), (a, b): (0.3, 0.05),
              (ground, c): (0.005, 0.0001), (a, c): (0.005, 0.0001)}  # fmt: skip
    for (first, second), (spinning, rolling) in wanted.items():
        pair = world.get_material_pair_properties(first, second)
        assert (pair.spinning_friction, pair.rolling_friction) == (spinning, rolling)


def test_it_is_taken_along(tmp_path):
    """By world files, and by snapshots to the same bits."""
    world = plane(0.003, 0.002)
    ball = ball_on(world)
    ball.set_velocity((1, 0.5, 0), (0, 10, 8))
    world.integrate(50)
    world.export_to_xml(tmp_path, "rolling.xml")
    read = World(tmp_path / "rolling.xml")
    pair = read.get_material_pair_properties("default", "default")
    assert (pair.rolling_friction, pair.spinning_friction) == (0.003, 0.002)
    kept = world.save_snapshot()
    world.integrate(50)
    after = ball.get_position(), ball.get_angular_velocity()
    world.restore_snapshot(kept)
    world.integrate(50)
    assert (ball.get_position() == after[0]).all()
    assert (ball.get_angular_velocity() == after[1]).all()


def test_a_sleeping_ball_wakes_when_its_friction_goes():
    world = plane(0.01, slope=0.05)
    ball = ball_on(world)
    world.integrate(500)
    assert world.is_object_sleeping(ball)
    world.set_default_material(0.8, 0.0, 0.0)
    world.integrate(100)
    assert ball.get_linear_velocity()[0] > 0.05
    assert (ball.get_contacts()[0].get_moment() == 0).all()


@pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
@pytest.mark.parametrize("name", ["rolling_friction", "spinning_friction"])
def test_wrong_numbers_are_refused(name, wrong):
    world = plane(0.01, 0.02)
    with pytest.raises(InvalidValueError, match=name.replace("_", " ")):
        world.set_default_material(0.5, 0.0, 0.0, **{name: wrong})
    assert world.get_material_pair_properties("a", "b").rolling_friction == 0.01


@pytest.mark.parametrize("seed", range(3 * len(KINDS)))
def test_random_scenes_keep_what_contacts_promise(seed):
    """No energy, moments within their limits, laws that are obeyed."""
    scene = make_scene(seed)
    world, rng = scene.world, np.random.default_rng(seed)
    rolling, spinning = 10 ** rng.uniform(-4, -1, 2)
    before = world.get_material_pair_properties("a", "b")
    world.set_default_material(before.friction, before.restitution, before.restitution_threshold, rolling_friction=rolling,
                               spinning_friction=spinning)  # fmt: skip
    errors = []
    for _ in range(round(0.6 * scene.seconds / world.get_time_step())):
        world.integrate()
        counters = world.get_collision_counters()
        errors.append(counters.solver_relative_error)
        assert counters.contact_work <= 1e-9
    for contact in (c for o in scene.moving for c in o.get_contacts()):
        moment, load = contact.get_moment(), contact.get_impulse()[2]
        assert np.hypot(*moment[:2]) <= rolling * load * (1 + 1e-9) + 1e-15
        assert abs(moment[2]) <= spinning * load * (1 + 1e-9) + 1e-15
    assert np.quantile(errors, 0.8) <= 1e-4


def test_the_quadruped_falls_and_rests_with_it():
    world = plane(0.002, 0.002)
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    q = np.asarray(robot.get_generalized_coordinate()).copy()
    q[2] = 0.8
    robot.set_generalized_coordinate(q)
    energy = robot.get_energy()
    for _ in range(1500):
        world.integrate()
        assert robot.get_energy() <= energy + 1e-2
        energy = robot.get_energy()
    assert np.abs(robot.get_generalized_velocity()).max() < 1e-2
