"""Sites and sensors of MJCF files: where MuJoCo has them, and what it measures."""

import numpy as np
import pytest

from raisim_ros import World

mujoco = pytest.importorskip("mujoco")
from mujoco_model import MujocoRobot, MujocoWorld, random_state  # noqa: E402

TURNING = '<joint name="turn" axis="0 0 1"/>'
MODEL = """<mujoco><compiler angle="radian"/><option timestep="1e-6"/><worldbody>
  <site name="door" pos="1 2 3" euler="0.1 0.2 0.3"/><geom name="wall" type="box" size="20 20 0.1" pos="0 0 -9"/>
  <body name="top" pos="0 0 1" euler="0.3 0.2 0.1">{base}<geom type="box" size="0.2 0.1 0.1"/>
    <site name="imu" pos="0.1 0.05 0.02" euler="0.4 -0.3 0.7"/>
    <body name="arm" pos="0.2 0 0"><joint name="hinge" pos="0.01 0.02 0.03" axis="0 1 0.3" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/><site name="wrist" pos="0.1 0 0.02" euler="0 0.5 0.2"/>
      <body name="tip" pos="0.3 0 0"><geom size="0.05"/><site name="arm" pos="0 0 0.1" euler="1 2 3"/></body>
      <site name="eye" pos="0.1 0 -0.1" euler="{down} 0 0"/>
    </body></body></worldbody>
  <sensor><gyro name="g" site="imu"/><accelerometer name="a" site="imu"/><force name="f" site="wrist"/>
    <torque name="t" site="wrist"/><rangefinder name="r" site="eye"/><jointpos joint="hinge"/>{more}</sensor></mujoco>"""


def twins(folder, base=TURNING, down=3.0, more=""):
    file = folder / "model.xml"
    file.write_text(MODEL.format(base=base, down=down, more=more))
    world, twin = World(file), MujocoWorld(file)
    robot = world.get_object("top")
    return world, robot, twin, MujocoRobot(twin, robot._tree)


@pytest.mark.parametrize("base", [TURNING, "<freejoint/>"])
def test_sites_are_frames_where_mujoco_has_them(base, tmp_path):
    _, robot, twin, reference = twins(tmp_path, base)
    rng = np.random.default_rng(1)
    for _ in range(4):
        q, u = random_state(robot._tree, rng)
        robot.set_state(q, u)
        reference.set_state(q, u)
        mujoco.mj_forward(twin.model, twin.data)
        # A site of the name of a body has a frame of another name.
        for site, frame in (("imu", "imu"), ("wrist", "wrist"), ("eye", "eye"), ("arm", "arm_")):
            found = twin.data.site(site)
            np.testing.assert_allclose(robot.get_frame_position(frame), found.xpos, rtol=0, atol=1e-12)
            turned = robot.get_frame_orientation(frame)
            np.testing.assert_allclose(turned, found.xmat.reshape(3, 3), rtol=0, atol=1e-12)
            velocity = np.zeros(6)
            mujoco.mj_objectVelocity(
                twin.model, twin.data, mujoco.mjtObj.mjOBJ_SITE, twin.model.site(site).id, velocity, 0
            )
            np.testing.assert_allclose(robot.get_frame_velocity(frame), velocity[3:], rtol=0, atol=1e-12)


def test_sites_of_the_world_are_named_places(tmp_path):
    world, _, twin, _ = twins(tmp_path)
    mujoco.mj_forward(twin.model, twin.data)
    (place,) = world.get_named_poses()
    assert place.name == "door"
    np.testing.assert_allclose(place.position, twin.data.site("door").xpos, rtol=0, atol=1e-14)


@pytest.mark.parametrize("base", [TURNING, "<freejoint/>"])
def test_sensors_measure_as_in_mujoco(base, tmp_path):
    world, robot, twin, reference = twins(tmp_path, base, more='<touch site="eye"/>')
    rng = np.random.default_rng(2)
    imu = robot.get_sensor_set("imu").get_sensor("imu")
    wrist = robot.get_sensor_set("wrist").get_sensor("force_torque")
    for _ in range(4):
        q, u = random_state(robot._tree, rng)
        robot.set_state(q, u)
        reference.set_state(q, u)
        world.integrate()
        imu.update()
        wrist.update()
        mujoco.mj_forward(twin.model, twin.data)
        read = {name: twin.data.sensor(name).data for name in "gaft"}
        np.testing.assert_allclose(imu.get_angular_velocity(), read["g"], rtol=0, atol=1e-3)
        np.testing.assert_allclose(imu.get_linear_acceleration(), read["a"], rtol=1e-4, atol=1e-2)
        np.testing.assert_allclose(wrist.get_force(), read["f"], rtol=1e-3, atol=1e-2)
        np.testing.assert_allclose(wrist.get_torque(), read["t"], rtol=1e-3, atol=1e-2)


def test_a_rangefinder_is_a_lidar_with_one_ray(tmp_path):
    _, robot, twin, _ = twins(tmp_path, down=3.0)
    eye = robot.get_sensor_set("eye").get_sensor("rangefinder")
    eye.update()
    mujoco.mj_forward(twin.model, twin.data)
    distance = float(twin.data.sensor("r").data[0])
    assert distance > 0.0
    (point,) = eye.get_scan()
    np.testing.assert_allclose(point, (distance, 0.0, 0.0), rtol=0, atol=1e-9)


def test_sensors_without_an_equal_are_named(tmp_path):
    with pytest.warns(RuntimeWarning, match=r"left out: .*sensors \(magnetometer\)"):
        twins(tmp_path, more='<magnetometer site="imu"/>')
