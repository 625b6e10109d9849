"""Sensors against closed forms: inertial, lidar, cameras, contacts; their timing and their files on robots."""

import numpy as np
import pytest

from raisim_ros import (
    IMU,
    ContactModel,
    DepthCameraModel,
    FileMissingError,
    ForceTorqueModel,
    ImuModel,
    InvalidValueError,
    LidarModel,
    Light,
    MeasurementSource,
    NoiseModel,
    ParseError,
    Pose,
    RGBCameraModel,
    SensorSetModel,
    SensorType,
    World,
    WrongTypeError,
)

GRAVITY = np.array([0.0, 0.0, -9.81])


def turned(axis, angle):
    """Rotation matrix about an axis."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def mount(world, body, *sensors, origin=None, link="", name="set"):
    return world.add_sensor_set(body, SensorSetModel(name, origin or Pose(), sensors), link)


# ---- inertial ----


def test_imu_at_rest_feels_the_ground(world):
    world.add_ground()
    box = world.add_box(0.4, 0.4, 0.4, 2.0)
    box.set_position(0, 0, 0.2)
    tilt = turned((1, 2, 3), 0.8)
    imu = mount(world, box, ImuModel("imu", 1000.0), origin=Pose((0.1, -0.05, 0.2), tilt)).get_sensor("imu", IMU)
    world.integrate(300)
    np.testing.assert_allclose(imu.get_linear_acceleration(), tilt.T @ -GRAVITY, atol=1e-9)
    np.testing.assert_allclose(imu.get_angular_velocity(), 0, atol=1e-12)


def test_imu_in_free_fall_feels_nothing(world):
    ball = world.add_sphere(0.1, 1.0)
    ball.set_velocity((1, 2, 3), (0, 0, 0))
    imu = mount(world, ball, ImuModel("imu", 1000.0)).get_sensor("imu")
    world.integrate(100)
    np.testing.assert_allclose(imu.get_linear_acceleration(), 0, atol=1e-9)


def test_imu_off_the_axis_of_a_spinning_body(weightless):
    """A ball that spins about z: at radius r the specific force is -w^2 r towards the axis."""
    ball = weightless.add_sphere(0.5, 1.0)
    ball.set_angular_velocity((0, 0, 7.0))
    imu = mount(weightless, ball, ImuModel("imu", 1000.0), origin=Pose((0.3, 0, 0.1))).get_sensor("imu")
    weightless.integrate(123)
    np.testing.assert_allclose(imu.get_linear_acceleration(), (-49 * 0.3, 0, 0), atol=1e-9)
    np.testing.assert_allclose(imu.get_angular_velocity(), (0, 0, 7), atol=1e-12)


PENDULUM = """
<robot name="pendulum">
  <link name="world"/>
  <link name="arm"><inertial><mass value="2"/><origin xyz="0 0 -0.5"/>
    <inertia ixx="1e-9" ixy="0" ixz="0" iyy="1e-9" iyz="0" izz="1e-9"/></inertial></link>
  <link name="tip"/>
  <joint name="hinge" type="revolute"><parent link="world"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-100" upper="100" effort="1000" velocity="1000"/></joint>
  <joint name="weld" type="fixed"><parent link="arm"/><child link="tip"/><origin xyz="0 0 -0.8"/></joint>
</robot>"""


def test_imu_on_a_swinging_arm(world):
    """A point mass at length l: angular acceleration -g sin(q) / l; the sensor sits at distance d from the hinge."""
    robot = world.add_articulated_system(PENDULUM)
    robot.set_state([0.9], [1.5])
    imu = mount(world, robot, ImuModel("imu", 1000.0), link="tip").get_sensor("imu")
    assert imu.get_pos_in_sensor_frame() == pytest.approx((0, 0, -0.8))
    world.integrate(40)
    q, u = robot.get_generalized_coordinate()[0], robot.get_generalized_velocity()[0]
    udot = -9.81 * np.sin(q) / 0.5
    # sensor frame: x tangential (for q about y, x moves by -d * q), z along the arm towards the hinge
    expected = np.array([-0.8 * udot, 0, 0.8 * u**2]) + turned((0, 1, 0), q).T @ -GRAVITY
    # the last step's acceleration is that of half a step ago
    np.testing.assert_allclose(imu.get_linear_acceleration(), expected, atol=0.02)
    np.testing.assert_allclose(imu.get_angular_velocity(), (0, u, 0), atol=1e-12)
    exact = imu.get_linear_acceleration()[0] - (turned((0, 1, 0), q).T @ -GRAVITY)[0]
    assert exact == pytest.approx(-0.8 * robot.get_generalized_acceleration()[0], abs=1e-9)


ARM = """
<robot name="arm">
  <link name="world"/>
  <link name="arm"><inertial><mass value="2"/><origin xyz="0.4 0 0"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <joint name="axis" type="continuous"><parent link="world"/><child link="arm"/><axis xyz="0 0 1"/></joint>
</robot>"""


def test_imu_on_an_arm_that_spins_evenly(world):
    """At radius r of a vertical axis: -w^2 r along the arm and the weight, in the tilted frame of the sensor."""
    robot = world.add_articulated_system(ARM)
    robot.set_state([0.3], [4.0])
    tilt = turned((2, -1, 1), 0.7)
    imu = mount(world, robot, ImuModel("imu", 1000.0), origin=Pose((0.8, 0.0, 0.1), tilt), link="arm").get_sensor("imu")
    world.integrate(777)
    np.testing.assert_allclose(imu.get_linear_acceleration(), tilt.T @ (-16 * 0.8, 0, 9.81), atol=1e-6)
    np.testing.assert_allclose(imu.get_angular_velocity(), tilt.T @ (0, 0, 4), atol=1e-9)


def test_imu_saturates_axis_by_axis(weightless):
    ball = weightless.add_sphere(0.5, 1.0)
    ball.set_angular_velocity((0.5, -9.0, 20.0))
    imu = mount(weightless, ball, ImuModel("imu", 1000.0, ang_vel_limit=7.0)).get_sensor("imu")
    weightless.update_sensors()
    np.testing.assert_allclose(imu.get_angular_velocity(), (0.5, -7.0, 7.0), atol=1e-12)


def test_imu_is_cut_off_at_its_limits_and_noisy(world):
    world.add_ground()
    box = world.add_box(1, 1, 1, 1.0)
    box.set_position(0, 0, 0.5)
    noise = NoiseModel("gaussian", 0.5, 0.1, seed=3)
    sensors = mount(world, box, ImuModel("limited", 1000.0, acc_limit=4.0), ImuModel("noisy", 1000.0, acc_noise=noise))
    values = []
    for _ in range(400):
        world.integrate()
        values.append(sensors.get_sensor("noisy").get_linear_acceleration())
    assert sensors.get_sensor("limited").get_linear_acceleration()[2] == 4.0
    np.testing.assert_allclose(np.mean(values, axis=0), (0.5, 0.5, 10.31), atol=0.03)
    np.testing.assert_allclose(np.std(values, axis=0), 0.1, rtol=0.15)


# ---- lidar ----


def room(world):
    """Four walls of boxes whose inner faces are at x, y = ±3."""
    for x, y in ((3.5, 0), (-3.5, 0), (0, 3.5), (0, -3.5)):
        world.add_box(1 if x else 8, 1 if y else 8, 6, 1.0).set_position(x, y, 0)
        world.get_obj_list()[-1].set_body_type(2)


def kinematic_ball(world):
    ball = world.add_sphere(0.2, 1.0)
    ball.set_body_type(1)
    return ball


def test_lidar_sees_the_walls_but_not_its_carrier(weightless):
    room(weightless)
    ball = kinematic_ball(weightless)
    turn = turned((0, 0, 1), 0.4)
    ball.set_pose((0.5, -0.3, 0.2), (np.cos(0.2), 0, 0, np.sin(0.2)))
    lidar = mount(weightless, ball, LidarModel("lidar", 10.0, yaw_samples=90, pitch_samples=4)).get_sensor("lidar")
    weightless.update_sensors()
    points = lidar.get_scan()
    assert lidar.get_type() == SensorType.SPINNING_LIDAR
    assert points.shape == (360, 3)  # nothing of the ball around it
    np.testing.assert_allclose(np.abs((points @ turn.T + [0.5, -0.3, 0.2])[:, :2]).max(axis=1), 3.0, atol=1e-9)


def test_lidar_sweeps_its_share_of_a_revolution(weightless):
    room(weightless)
    ball = kinematic_ball(weightless)
    model = LidarModel("lidar", 40.0, yaw_samples=90, pitch_samples=1, pitch_min=0, pitch_max=0, spin_rate=10.0)
    lidar = mount(weightless, ball, model).get_sensor("lidar")
    angles, sizes = [], []
    for _ in range(8):  # two revolutions
        lidar.update()
        scan = lidar.get_scan()
        angles.append(np.arctan2(scan[:, 1], scan[:, 0]) % (2 * np.pi))
        sizes.append(len(scan))
    assert sum(sizes) == 180
    assert set(sizes) == {22, 23}
    np.testing.assert_allclose(np.concatenate(angles), np.tile(np.arange(90) * 2 * np.pi / 90, 2), atol=1e-9)


def test_lidar_noise_and_dropout(weightless):
    room(weightless)
    ball = kinematic_ball(weightless)
    noise = NoiseModel("uniform", 0.2, 0.1, dropout=0.25, seed=11)
    flat = {"yaw_samples": 20000, "pitch_samples": 1, "pitch_min": 0, "pitch_max": 0}
    sensors = mount(weightless, ball, LidarModel("exact", 10.0, **flat), LidarModel("noisy", 10.0, **flat, noise=noise))
    weightless.update_sensors()
    noisy, exact = sensors.get_sensor("noisy").get_scan(), sensors.get_sensor("exact").get_scan()
    assert len(noisy) == pytest.approx(15000, abs=300)
    index = np.round(np.arctan2(noisy[:, 1], noisy[:, 0]) % (2 * np.pi) * 20000 / (2 * np.pi)).astype(int) % 20000
    error = np.linalg.norm(noisy, axis=1) - np.linalg.norm(exact[index], axis=1)
    assert 0.1 <= error.min() < 0.105
    assert 0.295 < error.max() <= 0.3
    assert error.mean() == pytest.approx(0.2, abs=0.002)
    assert error.std() == pytest.approx(0.1 / np.sqrt(3), rel=0.02)
    first = noisy
    sensors.get_sensor("noisy").update()
    assert len(sensors.get_sensor("noisy").get_scan()) != len(first)  # every measurement has its own noise


def noisy_run(seed, updates=3):
    """What a noisy lidar, camera and IMU measure in a world of their own."""
    world = World()
    room(world)
    noise = NoiseModel("gaussian", 0.0, 0.05, dropout=0.1, seed=seed)
    sensors = mount(
        world,
        kinematic_ball(world),
        LidarModel("lidar", 10.0, yaw_samples=50, pitch_samples=2, noise=noise),
        DepthCameraModel("depth", 10.0, width=20, height=15, noise=noise),
        ImuModel("imu", 10.0, acc_noise=noise, ang_vel_noise=noise),
    )
    results = []
    for _ in range(updates):
        for sensor in sensors:
            sensor.update()
        lidar, depth, imu = (sensors.get_sensor(name) for name in ("lidar", "depth", "imu"))
        results.append((lidar.get_scan(), depth.get_depth_array(), imu.get_linear_acceleration(), imu.get_angular_velocity()))
    return results


def test_noise_repeats_with_its_seed_only():
    first, again, other = noisy_run(8), noisy_run(8), noisy_run(9)
    for one, same, different in zip(first, again, other, strict=True):
        for numbers, equal, unequal in zip(one, same, different, strict=True):
            np.testing.assert_array_equal(numbers, equal)
            assert not np.array_equal(numbers, unequal, equal_nan=True)
    for numbers, later in zip(first[0], first[1], strict=True):
        assert not np.array_equal(numbers, later, equal_nan=True)


# ---- cameras ----


def test_depth_camera_points_lie_on_the_wall(weightless):
    room(weightless)
    ball = kinematic_ball(weightless)
    tilt = turned((0, 0, 1), 0.3)
    model = DepthCameraModel("depth", 10.0, width=64, height=48, horizontal_fov=0.8, far=20.0)
    camera = mount(weightless, ball, model, origin=Pose((0.1, 0.2, 0.0), tilt)).get_sensor("depth")
    weightless.update_sensors()
    depth, points = camera.get_depth_array(), camera.get_3d_points()
    assert depth.shape == (48, 64)
    assert np.isfinite(depth).all()
    np.testing.assert_allclose(points[..., 0], 3.0, atol=1e-5)
    in_sensor = camera.depth_to_point_cloud(in_sensor_frame=True)
    np.testing.assert_allclose(in_sensor[..., 0], depth, atol=1e-6)
    assert in_sensor[0, 0, 1] > 0 > in_sensor[0, -1, 1]  # columns run from left to right
    assert in_sensor[0, 0, 2] > 0 > in_sensor[-1, 0, 2]  # rows run downwards
    camera.set_depth_array(np.full((48, 64), 2.0))
    assert camera.get_depth_array()[3, 4] == 2.0


def test_color_image_shows_colors_light_and_shadow(weightless):
    floor = weightless.add_box(20, 20, 1, 1.0)
    floor.set_position(0, 0, -0.5)
    floor.set_appearance("1 0 0")
    roof = weightless.add_box(1, 1, 0.1, 1.0)
    roof.set_position(3, 0, 2)
    roof.set_appearance("0 0 1")
    eye = kinematic_ball(weightless)
    eye.set_position(0, 0, 1)
    model = RGBCameraModel("color", 10.0, width=80, height=60, horizontal_fov=1.2)
    camera = mount(weightless, eye, model, origin=Pose((0, 0, 0), turned((0, 1, 0), 0.4))).get_sensor("color")
    camera.light = Light((0, 0, -1), ambient=0.25, background=(0, 1, 0), shadows=True)
    camera.update()
    image = camera.get_image_buffer()
    colors = {tuple(color) for color in image.reshape(-1, 3)}
    lit, dark, sky = (255, 0, 0), (64, 0, 0), (0, 255, 0)
    assert {lit, dark, sky} <= colors
    # the shadow of the roof is the square below it: 2.5 < x < 3.5, |y| < 0.5
    column, row = np.meshgrid(np.arange(80) + 0.5, np.arange(60) + 0.5)
    rays = np.stack((np.ones((60, 80)), (40 - column) / camera.focal_length, (30 - row) / camera.focal_length), -1)
    rays = rays @ turned((0, 1, 0), 0.4).T
    with np.errstate(divide="ignore"):
        hit = rays / -rays[..., 2:]
    inside = (np.abs(hit[..., 0] - 3) < 0.5) & (np.abs(hit[..., 1]) < 0.5) & (rays[..., 2] < 0)
    np.testing.assert_array_equal((image == dark).all(axis=-1), inside)


@pytest.mark.parametrize("shadows", [False, True])
def test_a_wall_is_evenly_lit(weightless, shadows):
    """Every pixel of a turned wall has the same brightness, whatever rounding does to the rays."""
    wall = weightless.add_box(0.3, 30, 30, 1.0)
    wall.set_pose((4.3, 0.7, 0), (np.cos(0.1), 0, 0, np.sin(0.1)))
    wall.set_appearance("1 1 1")
    eye = kinematic_ball(weightless)
    model = RGBCameraModel("color", 10.0, width=160, height=120, horizontal_fov=1.2)
    camera = mount(weightless, eye, model).get_sensor("color")
    camera.light = Light((1, 0, 0), ambient=0.2, shadows=shadows)
    camera.update()
    expected = round(255 * (0.2 + 0.8 * np.cos(0.2)))
    assert (camera.get_image_buffer() == expected).all()


# ---- contacts ----


def test_contact_sensor_weighs_the_box(world):
    world.add_ground()
    box = world.add_box(1, 1, 1, 3.0)
    box.set_position(0, 0, 0.5)
    sensor = mount(world, box, ContactModel("feet", 1000.0)).get_sensor("feet")
    world.integrate(200)
    assert sensor.is_in_contact()
    assert len(sensor.get_contacts()) == 4
    np.testing.assert_allclose(sensor.get_force(), (0, 0, 3 * 9.81), atol=1e-6)
    np.testing.assert_allclose(sensor.get_torque(), 0, atol=1e-6)


def test_force_torque_holds_the_arm(world):
    """The arm is held level by its motor: the joint carries its weight, and the moment about the sensor."""
    robot = world.add_articulated_system(PENDULUM)
    robot.set_state([-np.pi / 2], [0.0])  # the arm points to +x
    robot.set_pd_gains([1e5], [1e3])
    robot.set_pd_target([-np.pi / 2], [0.0])
    sensor = mount(world, robot, ForceTorqueModel("wrench", 1000.0), link="arm").get_sensor("wrench")
    at_tip = mount(world, robot, ForceTorqueModel("wrench", 1000.0), link="tip", name="tip").get_sensor("wrench")
    world.integrate(400)
    weight = 2 * 9.81
    np.testing.assert_allclose(robot.get_body_orientation(1) @ sensor.get_force(), (0, 0, weight), atol=1e-2)
    np.testing.assert_allclose(sensor.get_torque(), (0, -0.5 * weight, 0), atol=1e-2)
    np.testing.assert_allclose(at_tip.get_force(), sensor.get_force(), atol=1e-9)
    np.testing.assert_allclose(at_tip.get_torque(), (0, 0.3 * weight, 0), atol=1e-2)


def test_contact_sensor_feels_where_the_load_is(world):
    """A block stands off the middle of a slab: the contacts below carry both weights, about the slab's middle."""
    world.add_ground()
    slab = world.add_box(2, 2, 0.2, 4.0)
    slab.set_position(0, 0, 0.1)
    block = world.add_box(0.2, 0.2, 0.2, 1.0)
    block.set_position(0.5, -0.3, 0.3)
    above = mount(world, block, ContactModel("base", 1000.0)).get_sensor("base")
    below = mount(world, slab, ContactModel("all", 1000.0)).get_sensor("all")
    world.integrate(400)
    np.testing.assert_allclose(above.get_force(), (0, 0, 9.81), atol=1e-5)
    # ground up, block down: what is left carries the slab; moments about its middle balance
    np.testing.assert_allclose(below.get_force(), (0, 0, 4 * 9.81), atol=1e-5)
    np.testing.assert_allclose(below.get_torque(), 0, atol=1e-4)
    ground = [c for c in below.get_contacts() if c.get_position()[2] < 0.05]
    push = [(c.get_contact_frame().T @ c.get_impulse()) * (1 if c.is_object_a() else -1) / 0.001 for c in ground]
    moment = sum(np.cross(c.get_position(), force) for c, force in zip(ground, push, strict=True))
    np.testing.assert_allclose(moment[:2], (-0.3 * 9.81, -0.5 * 9.81), atol=1e-3)  # r x F of the block's weight


def test_force_torque_needs_a_joint(world):
    with pytest.raises(WrongTypeError, match="articulated"):
        mount(world, world.add_sphere(0.1, 1.0), ForceTorqueModel("wrench", 10.0))
    assert world.get_sensor_sets() == []


# ---- timing ----


def test_measurements_come_at_their_rate(world):
    ball = world.add_sphere(0.1, 1.0)
    sensors = mount(world, ball, ImuModel("fast", 250.0), ImuModel("odd", 300.0), ImuModel("hand", 100.0))
    sensors.get_sensor("hand").set_measurement_source(MeasurementSource.MANUAL)
    world.update_sensors()  # the first measurement is due at once
    stamps = {"fast": set(), "odd": set(), "hand": set()}
    for _ in range(1000):
        world.integrate()
        for name, seen in stamps.items():
            seen.add(sensors.get_sensor(name).get_update_time_stamp())
    assert len(stamps["fast"]) in (250, 251)
    assert len(stamps["odd"]) in (300, 301)
    assert np.allclose(np.diff(sorted(stamps["fast"])), 0.004, atol=1e-9)
    assert stamps["hand"] == {-1.0}
    world.integrate(500)  # in one call: stops where it must
    assert sensors.get_sensor("fast").get_update_time_stamp() == pytest.approx(world.get_world_time(), abs=1e-9)


@pytest.mark.parametrize("first_half", ["integrate1", "integrate_no_contact_detection"])
def test_sensors_measure_in_steps_of_two_halves(world, first_half):
    ball = world.add_sphere(0.1, 1.0)
    imu = mount(world, ball, ImuModel("imu", 250.0)).get_sensor("imu")
    stamps = set()
    for _ in range(40):
        getattr(world, first_half)()
        world.integrate2()
        stamps.add(round(imu.get_update_time_stamp(), 9))
    np.testing.assert_allclose(sorted(stamps), [0.001, *np.arange(1, 11) * 0.004], atol=1e-9)  # the first is due at once


def test_snapshot_keeps_phases_and_noise(weightless):
    room(weightless)
    ball = kinematic_ball(weightless)
    noise = NoiseModel("gaussian", 0, 0.05, seed=1)
    model = LidarModel("lidar", 70.0, yaw_samples=50, pitch_samples=2, spin_rate=10.0, noise=noise)
    lidar = mount(weightless, ball, model).get_sensor("lidar")
    weightless.integrate(33)
    snapshot = weightless.save_snapshot()
    weightless.integrate(100)
    expected, stamp = lidar.get_scan(), lidar.get_update_time_stamp()
    weightless.restore_snapshot(snapshot)
    weightless.integrate(100)
    np.testing.assert_array_equal(lidar.get_scan(), expected)
    assert lidar.get_update_time_stamp() == stamp


def test_a_restored_world_shows_what_its_sensors_showed(world):
    """All kinds, with readings that change all the time."""
    world.add_ground()
    ball = world.add_sphere(0.1, 1.0)
    ball.set_position(0.0, 0.0, 0.5)
    ball.set_velocity((0.5, 0.0, 0.0), (1.0, 2.0, 3.0))
    set_of_all = mount(
        world,
        ball,
        ImuModel("imu", 200.0, acc_noise=NoiseModel("gaussian", 0, 0.1, seed=2)),
        LidarModel("lidar", 100.0, yaw_samples=20, pitch_samples=3),
        DepthCameraModel("depth", 100.0, width=8, height=6),
        RGBCameraModel("rgb", 100.0, width=8, height=6),
        ContactModel("touch", 500.0),
    )

    def readings():
        shown = [set_of_all.get_sensor("imu").get_linear_acceleration(), set_of_all.get_sensor("imu").get_angular_velocity()]
        shown += [set_of_all.get_sensor("lidar").get_scan(), set_of_all.get_sensor("lidar").get_scan_times()]
        shown += [set_of_all.get_sensor("depth").get_depth_array(), set_of_all.get_sensor("depth").get_3d_points()]
        shown += [set_of_all.get_sensor("rgb").get_image_buffer(), set_of_all.get_sensor("touch").get_force()]
        shown += [np.array([len(set_of_all.get_sensor("touch").get_contacts())])]
        for sensor in set_of_all:
            shown += [sensor.get_position(), sensor.get_orientation(), np.array([sensor.get_update_time_stamp()])]
        return shown

    for steps in (0, 103, 300):
        world.integrate(steps)
        before, snapshot = readings(), world.save_snapshot()
        for _ in range(2):  # a snapshot can be used again
            world.integrate(77)
            world.restore_snapshot(snapshot)
            for one, other in zip(readings(), before, strict=True):
                np.testing.assert_array_equal(one, other)


def test_sets_go_with_their_object(world):
    ball = world.add_sphere(0.1, 1.0)
    sensors = mount(world, ball, ImuModel("imu", 10.0))
    assert ball.get_sensor_set("set") is sensors
    assert ball.get_sensor_sets() == [sensors]
    with pytest.raises(InvalidValueError, match="already"):
        mount(world, ball, ImuModel("imu", 10.0))
    world.remove_object(ball)
    world.integrate(10)
    assert world.get_sensor_sets() == []


def test_robot_comes_with_the_sensors_of_its_links(world, tmp_path):
    (tmp_path / "sensors").mkdir()
    (tmp_path / "sensors" / "head.xml").write_text("""
        <sensor_set name="any"><origin xyz="0 0 0.1"/>
          <link><inertial><mass value="0.1"/><inertia ixx="1e-4" iyy="1e-4" izz="1e-4"/></inertial></link>
          <sensor name="imu" type="imu" update_rate="100"><origin xyz="0.2 0 0"/></sensor>
        </sensor_set>""")
    urdf = PENDULUM.replace('<link name="tip"/>', '<link name="tip" sensor="head.xml" serial_number="7"/>')
    (tmp_path / "robot.urdf").write_text(urdf)
    robot = world.add_articulated_system(tmp_path / "robot.urdf")
    head = robot.get_sensor_set("tip")
    assert head.get_serial_number() == "7"
    np.testing.assert_allclose(head.get_sensor("imu").get_position(), (0.2, 0, -0.7), atol=1e-12)
    (tmp_path / "sensors" / "head.xml").write_text(
        '<sensor_set name="any"><sensor name="imu" type="imu" update_rate="0"/></sensor_set>'
    )
    objects = len(world.get_obj_list())
    with pytest.raises(Exception, match=r"head\.xml:1: .*update_rate"):
        world.add_articulated_system(tmp_path / "robot.urdf")
    assert len(world.get_obj_list()) == objects


def test_sensor_files_are_found_around_the_robot_file(world, tmp_path):
    """In its folder, in sensor, sensors, .. and ../sensors, the first of these first."""
    folders = [".", "sensor", "sensors", "..", "../sensors"]
    home = tmp_path / "robots"
    home.mkdir()
    urdf = PENDULUM.replace('<link name="tip"/>', '<link name="tip" sensor="head.xml"/>')
    (home / "arm.urdf").write_text(urdf)
    for number, folder in reversed(list(enumerate(folders))):  # the last place first: each new one comes before it
        (home / folder).mkdir(exist_ok=True)
        sensor = f'<sensor name="from_{number}" type="imu" update_rate="9"/>'
        (home / folder / "head.xml").write_text(f"<sensor_set>{sensor}</sensor_set>")
        robot = world.add_articulated_system(home / "arm.urdf")
        assert [one.get_name() for one in robot.get_sensor_set("tip")] == [f"from_{number}"]


def test_sensors_in_a_world_file(tmp_path):
    (tmp_path / "imu.xml").write_text(
        '<sensor_set name="inner"><sensor name="imu" type="imu" update_rate="100"><origin xyz="0.1 0 0"/></sensor></sensor_set>'
    )
    (tmp_path / "world.xml").write_text("""<raisim><objects>
      <box name="box" mass="1" sensor="imu.xml"><dim x="1" y="1" z="1"/><state pos="1 2 3"/></box>
    </objects></raisim>""")
    world = World(tmp_path / "world.xml")
    imu = world.get_object("box").get_sensor_set("inner").get_sensor("imu")
    np.testing.assert_allclose(imu.get_position(), (1.1, 2, 3))
    world.export_to_xml(tmp_path / "copy.xml")
    copy = World(tmp_path / "copy.xml")
    assert copy.get_object("box").get_sensor_set("inner").get_sensor("imu").get_update_rate() == 100
    (tmp_path / "imu.xml").write_text("<sensor_set><sensor/></sensor_set>")
    with pytest.raises(ParseError, match=r"imu\.xml:1: "):
        World(tmp_path / "world.xml")
    (tmp_path / "imu.xml").unlink()
    with pytest.raises(FileMissingError, match=r"imu\.xml"):
        World(tmp_path / "world.xml")


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (ImuModel("s", 0.0), "update_rate"),
        (ImuModel("s", float("nan")), "update_rate"),
        (ImuModel("s", 1e200), "update_rate is 1e.200; expected .* at most 1e.09"),
        (LidarModel("s", 1e200), "update_rate"),
        (LidarModel("s", 1.0, spin_rate=1e200), "spin_rate is 1e.200; expected 0 to 1e.09"),
        (LidarModel("s", 1.0, spin_rate=1e9), "rays in a step"),  # terabytes, were it rolling
        (ImuModel("s", 1.0, acc_limit=-1.0), "limits"),
        (LidarModel("s", 1.0, yaw_samples=10**6, pitch_samples=10**4), "rays"),
        (LidarModel("s", 1.0, range_min=2.0, range_max=1.0), "range min"),
        (LidarModel("s", 1.0, noise=NoiseModel("pink")), "noise"),
        (DepthCameraModel("s", 1.0, horizontal_fov=0.0), "fov"),
        (DepthCameraModel("s", 1.0, width=10**5, height=10**5), "image"),
        (RGBCameraModel("s", 1.0, near=3.0, far=2.0), "near"),
    ],
)
def test_absurd_sensors_are_refused(world, model, named):
    ball = world.add_sphere(0.1, 1.0)
    with pytest.raises(InvalidValueError, match=named):
        mount(world, ball, model)
    assert world.get_sensor_sets() == []


def test_rates_are_bounded_when_they_are_set_too(world):
    mounted = mount(world, world.add_sphere(0.1, 1.0), LidarModel("s", 10.0))
    with pytest.raises(InvalidValueError, match=r"update_rate is 1e.10"):
        mounted.get_sensor("s").set_update_rate(1e10)
    assert mounted.get_sensor("s").get_update_rate() == 10.0
