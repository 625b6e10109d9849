"""Copies of robots: equal in everything, and independent."""

import numpy as np
import pytest
from equal_robots import assert_equal_robots

from raisim_ros import (
    IMU,
    ImuModel,
    InterfaceSettings,
    InvalidValueError,
    JointSpring,
    MeasurementSource,
    ObjectRemovedError,
    SensorSetModel,
    World,
    WrongStateError,
    WrongTypeError,
)
from raisim_ros.description.resources import resource


def busy_quadruped(world):
    """Every setting that a copy could forget, in the middle of a motion."""
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    rng = np.random.default_rng(5)
    q = robot.get_generalized_coordinate()
    q[:7] = 0.4, -0.3, 0.9, 0.8, 0.6, 0.0, 0.0
    q[7:] += rng.uniform(-0.3, 0.3, 12)
    robot.set_state(q, rng.uniform(-1.0, 1.0, 18))
    robot.set_pd_gains(rng.uniform(20.0, 60.0, 18), rng.uniform(1.0, 3.0, 18))
    robot.set_pd_target(q, rng.uniform(-0.1, 0.1, 18))
    robot.set_generalized_force(rng.uniform(-1.0, 1.0, 18))
    robot.set_joint_damping(rng.uniform(0.0, 0.1, 18))
    robot.set_rotor_inertia(rng.uniform(0.0, 0.01, 18))
    robot.set_actuation_limits(np.full(18, 35.0), np.full(18, -34.0))
    robot.set_joint_velocity_limits(np.full(18, 19.0))
    robot.set_joint_limits(np.tile([-3.0, 3.1], (18, 1)))
    robot.add_spring(JointSpring(3, 5.0, 0.2))
    robot.get_masses()[2] *= 1.5
    robot.update_mass_info()
    robot.ignore_collision_between(0, 3)
    robot.set_appearance("red")
    robot.set_interface(InterfaceSettings(publish_joint_positions=True, publish_links=True))
    world.set_object_material(robot, "rubber", 3)
    world.set_object_collision_filter(robot, 4, 8, 0)
    name = robot.get_collision_bodies()[0].name
    robot.set_collision_body_position_offset(name, (0.01, 0.02, 0.03))
    world.integrate(7)
    return robot


def test_a_copy_equals_its_source_and_moves_to_the_same_bits():
    world = World()
    robot = busy_quadruped(world)
    clone = world.clone_object(robot, "twin")
    assert world.get_object("twin") is clone
    assert clone.get_id() != robot.get_id()
    clone.set_name(robot.get_name())
    assert_equal_robots(robot, clone)
    assert clone.get_appearance() == "red"
    assert clone.get_masses().tolist() == robot.get_masses().tolist()
    assert clone.get_springs() == robot.get_springs()
    for k in range(robot.get_number_of_joints()):
        world.set_object_collision_filter(robot, 0, 0, k)  # at the same place they would collide
        world.set_object_collision_filter(clone, 0, 0, k)
    for _ in range(40):
        world.integrate(5)
        assert np.concatenate(clone.get_state()).tolist() == np.concatenate(robot.get_state()).tolist()


def test_a_copy_stands_on_its_own_feet():
    """Materials and filters act on the copy as on the source: both land, a metre apart, alike."""
    world = World()
    world.add_ground()
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    q = robot.get_generalized_coordinate()
    q[2] = 0.7
    robot.set_generalized_coordinate(q)
    clone = world.clone_object(robot)
    clone.set_base_pos((0.0, 2.0, 0.7))
    world.integrate(300)
    assert len(robot.get_contacts()) == len(clone.get_contacts()) > 0
    difference = clone.get_generalized_coordinate() - robot.get_generalized_coordinate()
    assert difference[:3] == pytest.approx([0.0, 2.0, 0.0], abs=1e-3)
    assert difference[3:] == pytest.approx(np.zeros(16), abs=1e-2)


def test_source_and_copy_are_independent():
    world = World()
    robot = busy_quadruped(world)
    clone = world.clone_object(robot)
    before = robot.get_state()[0], robot.get_pd_gains()[0], robot.get_masses().copy(), robot.get_frames()[3].position.copy()
    clone.set_base_pos((9.0, 9.0, 9.0))
    clone.set_p_gains(np.zeros(18))
    clone.get_masses()[0] = 99.0
    clone.update_mass_info()
    clone.get_frames()[3].position[:] = 7.0
    clone.set_collision_body_position_offset(clone.get_collision_bodies()[1].name, (5.0, 5.0, 5.0))
    after = robot.get_state()[0], robot.get_pd_gains()[0], robot.get_masses(), robot.get_frames()[3].position
    for one, other in zip(before, after, strict=True):
        assert one.tolist() == other.tolist()
    assert robot.get_collision_bodies()[1].position.max() < 5.0
    world.remove_object(robot)
    world.integrate(10)
    assert clone.get_base_position()[0] == pytest.approx(9.0, abs=0.5)
    with pytest.raises(ObjectRemovedError):
        robot.get_state()


def test_loads_and_commanded_wrenches_stay_with_the_source():
    world = World()
    world.set_gravity((0.0, 0.0, 0.0))
    robot = world.add_articulated_system(resource("robots/quadruped.urdf"))
    robot.set_command_wrench((0.0, 0.0, 30.0), (0.0, 0.0, 0.0))
    robot.set_command_wrench((5.0, 0.0, 0.0), (0.0, 0.0, 0.0), 4)
    robot.set_external_force(2, (9.0, 0.0, 0.0))
    clone = world.clone_object(robot)
    clone.set_base_pos((5.0, 0.0, 0.0))
    assert clone.get_external_force() == []
    world.integrate()
    assert np.abs(robot.get_generalized_velocity()).max() > 1e-3
    assert clone.get_generalized_velocity().tolist() == [0.0] * 18


def test_a_copy_carries_the_same_sensors():
    world = World()
    robot = world.add_articulated_system(resource("robots/scout.urdf"))
    extra = world.add_sensor_set(robot, SensorSetModel("extra", sensors=[ImuModel("gyro", update_rate=50.0)]))
    extra.set_serial_number("17")
    extra.get_sensor("gyro").set_update_rate(20.0)
    extra.get_sensor("gyro").set_measurement_source(MeasurementSource.MANUAL)
    clone = world.clone_object(robot)
    assert len(clone.get_sensor_sets()) == len(robot.get_sensor_sets()) > 1
    clone.set_base_pos((3.0, 4.0, 5.0))
    clone.set_base_orientation((0.0, 0.0, 0.0, 1.0))
    for one, other in zip(robot.get_sensor_sets(), clone.get_sensor_sets(), strict=True):
        assert (one.get_name(), one.get_serial_number()) == (other.get_name(), other.get_serial_number())
        turn = np.diag([-1.0, -1.0, 1.0])
        moved = turn @ (one.get_position() - robot.get_base_position()) + [3.0, 4.0, 5.0]
        assert other.get_position() == pytest.approx(moved, abs=1e-12)
        for sensor, twin in zip(one, other, strict=True):
            assert type(sensor) is type(twin)
            assert sensor.get_full_name() == twin.get_full_name()
            assert sensor.get_update_rate() == twin.get_update_rate()
            assert sensor.get_measurement_source() == twin.get_measurement_source()
    assert isinstance(clone.get_sensor_set("extra").get_sensor("gyro"), IMU)
    world.remove_object(clone)
    assert len(world.get_sensor_sets()) == len(robot.get_sensor_sets())


def test_meshes_and_terrain_can_be_copied_and_share_what_they_hold(tmp_path):
    import trimesh

    trimesh.creation.box((0.2, 0.3, 0.4)).export(tmp_path / "box.stl")
    world = World()
    mesh = world.add_mesh(tmp_path / "box.stl", 2.0)
    mesh.set_position(0.0, 0.0, 5.0)
    terrain = world.add_height_map(2, 2, 4.0, 4.0, 0.0, 0.0, [1.0] * 4)
    other, ground = world.clone_object(mesh), world.clone_object(terrain)
    ground.set_position(10.0, 0.0, 0.0)
    other.set_position(10.0, 0.0, 1.25)
    world.remove_object(mesh)
    world.remove_object(terrain)
    world.integrate(100)
    assert other.get_position()[2] == pytest.approx(1.2, abs=2e-3)
    assert ground.get_height(10.5, 0.5) == 1.0
    assert other.get_mesh_file_name().endswith("box.stl")


def test_what_cannot_be_copied_is_told():
    world, elsewhere = World(), World()
    robot = elsewhere.add_articulated_system(resource("robots/arm.urdf"))
    with pytest.raises(InvalidValueError, match="another world"):
        world.clone_object(robot)
    with pytest.raises(WrongTypeError):
        world.clone_object("arm")
    assert world.clone_single_body_object(world.add_articulated_system(resource("robots/arm.urdf"))) is None
    elsewhere.integrate1()
    with pytest.raises(WrongStateError):
        elsewhere.clone_object(robot)
    elsewhere.integrate2()
    elsewhere.remove_object(robot)
    with pytest.raises(ObjectRemovedError):
        elsewhere.clone_object(robot)
