"""Rolling lidars: every column is cast from where the sensor is when it fires, at the time that is told."""

import numpy as np
import pytest

from raisim_ros import InvalidValueError, LidarModel, NoiseModel, Pose, SensorSetModel

SAMPLES, SPIN, UPDATE = 180, 10.0, 10.0
FLAT = {"yaw_samples": SAMPLES, "pitch_samples": 1, "pitch_min": 0.0, "pitch_max": 0.0, "spin_rate": SPIN}
WALL = 8.0


def turn(yaw):
    """Rotation about z."""
    return np.array([[np.cos(yaw), -np.sin(yaw), 0], [np.sin(yaw), np.cos(yaw), 0], [0, 0, 1]])


def wall(world):
    """Static, its face at x = WALL, wide enough for all rays that go forward."""
    body = world.add_box(1.0, 4000.0, 10.0, 1.0)
    body.set_position(WALL + 0.5, 0, 0)
    body.set_body_type(2)
    return body


def carrier(world, velocity=(0, 0, 0), yaw_rate=0.0):
    """A kinematic ball that moves at constant velocity from the origin."""
    ball = world.add_sphere(0.2, 1.0)
    ball.set_body_type(1)
    ball.set_velocity(velocity, (0, 0, yaw_rate))
    return ball


def rolling_lidar(world, body, origin=None, **fields):
    model = LidarModel("lidar", UPDATE, **(FLAT | fields))
    lidar = world.add_sensor_set(body, SensorSetModel("set", origin or Pose(), (model,))).get_sensor("lidar")
    lidar.set_rolling(True)
    return lidar


def column_angles(times, clockwise=False):
    """Direction of each point in the sensor frame: the lidar looks ahead at time 0."""
    return (-1 if clockwise else 1) * 2 * np.pi * SPIN * times


def test_a_sweep_is_skewed_by_the_way_travelled(weightless):
    """Moving towards a wall at v: a ray at angle a and time t meets it after (WALL - v t) / cos(a)."""
    wall(weightless)
    velocity = np.array([3.0, 0.7, 0.0])
    lidar = rolling_lidar(weightless, carrier(weightless, velocity))
    weightless.integrate(100)
    points, times = lidar.get_scan(), lidar.get_scan_times()
    assert 60 < len(points) < 90  # the half that looks ahead, within 100 m
    angle = column_angles(times)
    expected = (WALL - velocity[0] * times) / np.cos(angle)
    np.testing.assert_allclose(np.hypot(points[:, 0], points[:, 1]), expected, rtol=1e-6)
    np.testing.assert_allclose(points[:, 1], expected * np.sin(angle), atol=1e-4)
    # in the sensor frame the flat wall is seen nearer and nearer: by 0.3 m at the end of the revolution
    assert points[:5, 0].mean() - points[-5:, 0].mean() == pytest.approx(3.0 * (times[-5:].mean() - times[:5].mean()), rel=1e-3)


@pytest.mark.parametrize("clockwise", [False, True])
def test_a_sweep_is_skewed_by_the_turn(weightless, clockwise):
    """Turning at w while it spins, mounted off the axis: the ray leaves from R(wt) r in direction a + wt."""
    wall(weightless)
    rate, arm = 2.5, np.array([0.3, -0.1, 0.0])
    lidar = rolling_lidar(weightless, carrier(weightless, yaw_rate=rate), Pose(arm), clockwise=clockwise)
    weightless.integrate(100)
    points, times = lidar.get_scan(), lidar.get_scan_times()
    assert len(points) > 60
    start = np.array([turn(rate * time) @ arm for time in times])
    angle = column_angles(times, clockwise)
    expected = (WALL - start[:, 0]) / np.cos(angle + rate * times)
    # between two steps the arc is a chord: (w dt)^2 / 8 of the arm, 2e-7 m, seen under a grazing angle
    ahead = np.abs(np.cos(angle + rate * times)) > 0.2
    np.testing.assert_allclose(np.linalg.norm(points, axis=1)[ahead], expected[ahead], rtol=0, atol=1e-5)
    np.testing.assert_allclose(np.arctan2(points[:, 1], points[:, 0]), (angle + np.pi) % (2 * np.pi) - np.pi, atol=1e-5)
    # whoever knows the motion takes it out again
    world_points = start + np.array([turn(rate * time) @ point for time, point in zip(times, points, strict=True)])
    np.testing.assert_allclose(world_points[ahead, 0], WALL, atol=1e-5)


def test_what_moves_is_seen_where_it_is_at_the_time(weightless):
    """A still lidar and a wall that comes at u: to within the way of one step."""
    body = wall(weightless)
    body.set_body_type(1)
    body.set_linear_velocity((-4.0, 0, 0))
    lidar = rolling_lidar(weightless, carrier(weightless))
    weightless.integrate(100)
    times, points = lidar.get_scan_times(), lidar.get_scan()
    error = points[:, 0] - (WALL - 4.0 * times)
    assert -4.0 * weightless.get_time_step() - 1e-5 < error.min()
    assert error.max() < 1e-5


def test_columns_fire_evenly_and_none_is_lost(weightless):
    """Update rate, spin and step do not divide each other: the columns of all sweeps follow each other."""
    for x, y in ((3.5, 0), (-3.5, 0), (0, 3.5), (0, -3.5)):
        weightless.add_box(1 if x else 8, 1 if y else 8, 6, 1.0).set_position(x, y, 0)
        weightless.get_obj_list()[-1].set_body_type(2)
    weightless.set_time_step(0.0007)
    lidar = rolling_lidar(weightless, carrier(weightless), yaw_samples=77, spin_rate=13.0)
    sizes, times, angles, stamp = [], [], [], -1.0
    for _ in range(1000):
        weightless.integrate()
        if lidar.get_update_time_stamp() == stamp:
            continue
        stamp = lidar.get_update_time_stamp()
        scan = lidar.get_scan()
        sizes.append(len(scan))
        times.append(lidar.get_scan_times())
        angles.append(np.arctan2(scan[:, 1], scan[:, 0]) % (2 * np.pi))
        assert (times[-1] < stamp).all()
    every = np.concatenate(times)
    np.testing.assert_allclose(every, np.arange(len(every)) / (77 * 13.0), atol=1e-9)
    expected = np.arange(len(every)) % 77 * 2 * np.pi / 77
    np.testing.assert_allclose((np.concatenate(angles) - expected + 1) % (2 * np.pi), 1, atol=1e-5)
    assert len(set(sizes)) <= 4


def test_every_return_has_its_own_noise(weightless):
    wall(weightless)
    noise = NoiseModel("gaussian", 0.0, 0.05, seed=4)
    lidar = rolling_lidar(weightless, carrier(weightless), noise=noise)
    weightless.integrate(100)
    first = lidar.get_scan()
    error = first[:, 0] - WALL
    assert error[np.abs(first[:, 1]) < 3].std() == pytest.approx(0.05, rel=0.5)
    assert len(np.unique(np.round(error, 6))) == len(error)
    weightless.integrate(100)
    assert not np.allclose(lidar.get_scan()[:40, 0], first[:40, 0], atol=1e-3)


def test_snapshot_keeps_half_a_sweep(weightless):
    wall(weightless)
    lidar = rolling_lidar(weightless, carrier(weightless, (1.0, 0, 0)), noise=NoiseModel("uniform", 0, 0.01, seed=2))
    weightless.integrate(150)
    snapshot = weightless.save_snapshot()
    weightless.integrate(50)
    expected, times = lidar.get_scan(), lidar.get_scan_times()
    weightless.integrate(77)
    lidar.set_rolling(False)
    weightless.restore_snapshot(snapshot)
    assert lidar.is_rolling()
    weightless.integrate(50)
    np.testing.assert_array_equal(lidar.get_scan(), expected)
    np.testing.assert_array_equal(lidar.get_scan_times(), times)


def test_time_that_is_set_back_begins_a_new_sweep(weightless):
    wall(weightless)
    lidar = rolling_lidar(weightless, carrier(weightless))
    weightless.integrate(150)
    weightless.set_world_time(0.0)
    weightless.integrate(100)
    assert lidar.get_scan_times().max() < 0.1
    assert len(lidar.get_scan()) > 60


def test_a_lidar_that_does_not_spin_cannot_roll(weightless):
    model = LidarModel("lidar", UPDATE, **(FLAT | {"spin_rate": 0.0}))
    lidar = weightless.add_sensor_set(carrier(weightless), SensorSetModel("set", sensors=(model,))).get_sensor("lidar")
    with pytest.raises(InvalidValueError, match="spin"):
        lidar.set_rolling(True)
    with pytest.raises(InvalidValueError, match="rolling"):
        lidar.take_sweep()
