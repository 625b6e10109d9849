"""WorldBatch: members do what lone worlds do, whatever the threads; arrays, resets, parameters, sensors, copies."""

from __future__ import annotations

import copy
import gc
import multiprocessing
import os
import pickle
import signal
import threading
from pathlib import Path

import numpy as np
import pytest

from raisim_ros import DivergedError, InvalidValueError, RaisimError, World, WorldBatch, WrongTypeError

RSC = Path(__file__).resolve().parents[3] / "rsc"
STANCE = np.array([0, 0, 0.45, 1, 0, 0, 0, *([0.0, 0.5, -1.0] * 4)])


def quadruped_world(terrain: bool = False) -> World:
    world = World()
    world.set_time_step(0.0025)
    if terrain:
        rng = np.random.default_rng(3)
        world.add_height_map(20, 20, 6.0, 6.0, 0.0, 0.0, rng.uniform(0, 0.08, 400)).set_name("terrain")
    else:
        world.add_ground().set_name("ground")
    robot = world.add_articulated_system(RSC / "robots/quadruped.urdf")
    robot.set_name("dog")
    robot.set_generalized_coordinate(STANCE)
    robot.set_pd_gains([0] * 6 + [60] * 12, [0] * 6 + [2] * 12)
    robot.set_pd_target(STANCE, np.zeros(18))
    box = world.add_box(0.2, 0.2, 0.2, 1.5)
    box.set_name("box")
    box.set_position(0.9, 0.1, 0.4)
    return world


def targets(step: int, member: int) -> np.ndarray:
    rng = np.random.default_rng((step, member))
    return np.concatenate((STANCE[:7], STANCE[7:] + rng.uniform(-0.2, 0.2, 12)))


@pytest.mark.parametrize("terrain", [False, True])
def test_members_are_lone_worlds_to_the_bit(terrain):
    hashes = []
    for threads in (1, 2, 3):
        batch = WorldBatch(quadruped_world(terrain), 5, threads)
        robot = batch.robot()
        for step in range(30):
            robot.position_targets[:] = [targets(step, k) for k in range(5)]
            batch.step(3)
        hashes.append([batch.member(k).get_state_hash() for k in range(5)])
        assert len(set(hashes[-1])) == 5
    assert hashes[0] == hashes[1] == hashes[2]
    for k in (0, 4):
        world = quadruped_world(terrain)
        dog = world.get_object("dog")
        for step in range(30):
            dog.set_p_target(targets(step, k))
            world.integrate(3)
        assert world.get_state_hash() == hashes[0][k]


@pytest.mark.parametrize("name", [path.name for path in sorted((RSC / "worlds").glob("*.xml"))])
def test_a_batch_of_any_world_file_goes_on_as_the_world(name):
    world = World(RSC / "worlds" / name)
    start = world.get_state_hash()
    batch = WorldBatch(world, 2, 2)
    batch.step(20)
    world._step(20)  # without sensors: in a batch they do not measure
    assert [batch.member(k).get_state_hash() for k in range(2)] == [world.get_state_hash()] * 2
    batch.reset([1])
    assert batch.member(1).get_state_hash() == start
    batch.step(20)
    assert batch.member(1).get_state_hash() == world.get_state_hash()


def test_arrays_hold_what_the_members_hold():
    batch = WorldBatch(quadruped_world(), 3, 2)
    robot, box = batch.robot(), batch.object("box")
    q, u, a = robot.coordinates, robot.velocities, robot.accelerations
    poses, twists = box.poses, box.twists
    links, forces = [0, 3, 6], robot.contact_forces()
    link_poses, link_twists = robot.link_poses(links), robot.link_twists(links)
    applied = robot.applied_forces
    robot.velocities[1, 6:] = 0.3
    box.twists[2] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
    batch.step(60)
    for k in range(3):
        world = batch.member(k)
        dog, cube = world.get_object("dog"), world.get_object("box")
        assert np.array_equal(q[k], dog.get_generalized_coordinate())
        assert np.array_equal(u[k], dog.get_generalized_velocity())
        assert np.array_equal(a[k], dog.get_generalized_acceleration())
        assert np.abs(applied[k]).max() > 0
        assert np.array_equal(poses[k], [*cube.get_position(), *cube.get_quaternion()])
        assert np.array_equal(twists[k], [*cube.get_linear_velocity(), *cube.get_angular_velocity()])
        assert np.array_equal(robot.poses[k], q[k][:7])
        for place, body in enumerate(links):
            assert link_poses[k, place, :3] == pytest.approx(dog.get_position(body))
            assert link_twists[k, place, :3] == pytest.approx(dog.get_velocity(body, (0, 0, 0)), abs=1e-12)
            assert link_twists[k, place, 3:] == pytest.approx(dog.get_angular_velocity(body), abs=1e-12)
        total = np.zeros(3)
        for contact in dog.get_contacts():
            impulse = contact.get_contact_frame().T @ contact.get_impulse()
            total += (impulse if contact.is_object_a() else -impulse) / world.get_time_step()
        assert forces[k].sum(axis=0) == pytest.approx(total, abs=1e-9)
        assert total[2] > 50
    assert not np.array_equal(q[0], q[1])
    assert q is robot.coordinates
    with pytest.raises(ValueError, match="read-only"):
        a[0] = 1


def test_sensors_measure_what_those_of_a_lone_world_do():
    batch = WorldBatch(quadruped_world(True), 2)
    robot = batch.robot()
    robot.velocities[1, :3] = (0.5, 0.0, 0.0)
    mount = {"position": (0.6, 0.0, 0.05), "orientation": (0.9689124217106447, 0.0, 0.24740395925452294, 0.0)}
    imu = robot.imu(0, **mount)
    depth = robot.depth_camera(16, 12, 1.2, 0, **mount)
    points = [(0.0, 0.0), (0.3, 0.1), (-0.2, 0.2), (100.0, 0.0)]
    scan = robot.height_scan(points, above=0.5, length=3.0)
    batch.step(40)
    from raisim_ros import DepthCameraModel, ImuModel, Pose, SensorSetModel

    for k in range(2):
        world = batch.member(k)
        dog = world.get_object("dog")
        x, z = np.cos(2 * 0.25), np.sin(2 * 0.25)
        origin = Pose(np.array(mount["position"]), np.array([[x, 0, z], [0, 1, 0], [-z, 0, x]]))
        models = (
            ImuModel(name="imu", origin=origin),
            DepthCameraModel(name="eye", origin=origin, width=16, height=12, horizontal_fov=1.2, near=0.05, far=10.0),
        )
        sensors = world.add_sensor_set(dog, SensorSetModel(name="set", sensors=models))
        for sensor in sensors:
            sensor.update()
        felt = sensors.get_sensor("imu")
        assert imu[k, :3] == pytest.approx(felt.get_linear_acceleration(), abs=1e-8)
        assert imu[k, 3:] == pytest.approx(felt.get_angular_velocity(), abs=1e-9)
        seen = np.asarray(sensors.get_sensor("eye").get_depth_array()).reshape(12, 16)
        assert np.isfinite(depth[k]).sum() > 50
        assert depth[k] == pytest.approx(seen, nan_ok=True, abs=1e-5)
        heading = dog.get_base_orientation()[:2, 0] / np.linalg.norm(dog.get_base_orientation()[:2, 0])
        terrain = world.get_object("terrain")
        for place, (along, across) in enumerate(points[:3]):
            at = dog.get_position(0)[:2] + along * heading + across * np.array([-heading[1], heading[0]])
            assert scan[k, place] == pytest.approx(dog.get_position(0)[2] - terrain.get_height(*at), abs=1e-9)
        assert scan[k, 3] == 2.5  # nothing there


def test_a_reset_member_goes_on_as_a_new_one_with_its_parameters():
    batch = WorldBatch(quadruped_world(), 4, 2)
    robot = batch.robot()
    batch.step(100)
    expected = batch.member(0).get_state_hash()
    robot.masses()[3] *= 1.3
    batch.step(50)
    batch.reset(np.array([True, False, True, True]))
    assert batch.times.tolist() == [0.0, 150 * 0.0025, 0.0, 0.0]
    assert robot.coordinates[0] == pytest.approx(STANCE)
    batch.step(100)
    assert batch.member(0).get_state_hash() == batch.member(2).get_state_hash() == expected
    assert batch.member(3).get_state_hash() != expected
    light = quadruped_world().get_object("dog").get_total_mass()
    assert batch.member(3).get_object("dog").get_total_mass() == pytest.approx(1.3 * light)


def test_reset_to_given_states_and_to_a_snapshot():
    batch = WorldBatch(quadruped_world(), 3, 2)
    robot = batch.robot("dog")
    rows = np.tile(STANCE, (2, 1))
    rows[:, 2] = (0.6, 0.7)
    batch.step(10)
    batch.reset([2, 0], {"dog": (rows, np.zeros(18))})
    assert robot.coordinates[[2, 0], 2].tolist() == [0.6, 0.7]
    kept = batch.save(2)
    batch.step(20)
    after = batch.member(2).get_state_hash()
    batch.step(5)
    batch.reset(1, snapshot=kept)
    batch.restore(2, kept)
    assert robot.coordinates[1, 2] == robot.coordinates[2, 2] == 0.6
    batch.step(20)
    assert batch.member(1).get_state_hash() == batch.member(2).get_state_hash() == after


def test_parameters_act_as_in_a_lone_world():
    batch = WorldBatch(quadruped_world(), 3, 2)
    robot, box = batch.robot(), batch.object("box")
    batch.material_pair()[1, [0, 3]] = 0.1
    robot.damping[1, 6:] = 0.7
    robot.rotor_inertias[1, 6:] = 0.02
    robot.d_gains[1, 6:] = 5.0
    batch.gravity[1] = (0.0, 1.0, -5.0)
    box.masses()[1] = 4.0
    box.poses[1, :3] = (2.0, 0.0, 0.5)
    robot.wrenches([0])[1, 0, :3] = (10.0, 0.0, 0.0)
    lone = quadruped_world()
    dog, cube = lone.get_object("dog"), lone.get_object("box")
    lone.set_material_pair_prop("default", "default", 0.1, 0.0, 0.0, 0.1, 0.0)
    dog.set_joint_damping([0] * 6 + [0.7] * 12)
    dog.set_rotor_inertia([0] * 6 + [0.02] * 12)
    dog.set_pd_gains([0] * 6 + [60] * 12, [0] * 6 + [5] * 12)
    lone.set_gravity((0.0, 1.0, -5.0))
    state = batch.member(1).get_object("box")
    batch.refresh()
    assert state.get_mass() == 4.0
    assert np.array_equal(batch.member(0).get_object("box").get_position(), (0.9, 0.1, 0.4))
    cube.set_position(2.0, 0.0, 0.5)
    inertia = cube.get_inertia_matrix_b()
    cube.set_mass(4.0)
    cube.set_inertia(inertia)
    for _ in range(50):
        dog.set_external_force(0, (10.0, 0.0, 0.0))
        lone.integrate()
    batch.step(50)
    assert robot.coordinates[1] == pytest.approx(dog.get_generalized_coordinate(), abs=1e-9)
    assert box.poses[1, :3] == pytest.approx(cube.get_position(), abs=1e-9)


def test_members_get_heightmaps_of_their_own():
    batch = WorldBatch(quadruped_world(True), 4, 2)
    maps = np.stack([np.zeros((20, 20)), np.full((20, 20), 0.5)])
    batch.set_heightmap("terrain", maps, choice=[0, 1, 1], members=[0, 1, 3])
    heights = [batch.member(k).ray_test((0.3, 0.3, 3.0), (0, 0, -1), 10.0)[0].get_position()[2] for k in (0, 1, 3)]
    assert heights == pytest.approx([0.0, 0.5, 0.5])
    assert [batch.member(k)["terrain"].get_height(0.3, 0.3) for k in (0, 1, 3)] == [0.0, 0.5, 0.5]
    kept = batch.save(1)
    batch.set_heightmap("terrain", maps[:1], members=[1])
    assert batch.member(1)["terrain"].get_height(0.3, 0.3) == 0.0
    batch.restore(1, kept)
    assert batch.member(1)["terrain"].get_height(0.3, 0.3) == 0.5
    batch.step(5)
    batch.reset()
    batch.step(5)
    with pytest.raises(InvalidValueError, match="choice"):
        batch.set_heightmap("terrain", maps, choice=[2, 0, 0, 0])
    with pytest.raises(InvalidValueError, match="20 x 20"):
        batch.set_heightmap("terrain", np.zeros((1, 20, 21)), choice=[0] * 4)
    with pytest.raises(WrongTypeError):
        batch.set_heightmap("dog", maps, choice=[0] * 4)


ACTUATED = """<mujoco><option timestep="0.004"/><worldbody><body name="trunk" pos="0 0 1"><joint name="slide" type="slide" axis="1 0 0"/>
  <geom size="0.1" mass="2"/><body pos="0.2 0 0"><joint name="hip" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>
  <body pos="0.3 0 0"><joint name="knee" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/></body></body></body>
  </worldbody><tendon><fixed name="cord"><joint joint="hip" coef="1"/><joint joint="knee" coef="-0.5"/></fixed></tendon>
  <actuator><motor joint="slide" gear="5" ctrllimited="true" ctrlrange="-1 1"/><position joint="hip" kp="20"/>
  <motor tendon="cord" gear="2"/><general joint="knee" dyntype="filter" dynprm="0.05" gainprm="3"/></actuator></mujoco>"""


def test_controls_of_actuators_act_as_in_a_lone_world():
    world = World()
    world.add_articulated_system(ACTUATED, name="leg")
    batch = WorldBatch(world, 3, 2)
    robot, lone = batch.robot(), [world.copy() for _ in range(3)]
    controls = robot.controls
    assert controls.shape == (3, 4)
    rng = np.random.default_rng(8)
    for _ in range(12):
        controls[:] = rng.uniform(-2, 2, (3, 4))
        batch.step(3)
        for one, row in zip(lone, controls, strict=True):
            one["leg"].set_actuation(row)
            one.integrate(3)
    assert [batch.member(k).get_state_hash() for k in range(3)] == [one.get_state_hash() for one in lone]
    kept = batch.save(2)
    batch.reset([0])
    assert controls[0].tolist() == [0] * 4
    controls[:] = 0.5
    batch.step(4)
    fresh = world.copy()
    fresh["leg"].set_actuation([0.5] * 4)
    fresh.integrate(4)
    assert batch.member(0).get_state_hash() == fresh.get_state_hash()
    batch.restore(1, kept)
    batch.step(2)  # with the controls of the array, also where they are those of before
    lone[2]["leg"].set_actuation([0.5] * 4)
    lone[2].integrate(2)
    assert batch.member(1).get_state_hash() == lone[2].get_state_hash()
    controls[2, 1] = np.nan
    with pytest.raises(InvalidValueError, match=r"member 2: control\[1\] is nan"):
        batch.step()
    with pytest.raises(InvalidValueError, match="no actuators"):
        WorldBatch(quadruped_world(), 1, 1).robot().controls  # noqa: B018


def test_errors_name_the_member_and_nothing_is_stepped():
    batch = WorldBatch(quadruped_world(), 6, 2)
    robot = batch.robot()
    robot.position_targets[4, 9] = np.nan
    with pytest.raises(InvalidValueError, match=r"member 4: position target\[9\] is nan"):
        batch.step()
    assert not batch.times.any()
    robot.position_targets[4, 9] = 0.0
    batch.step()
    for wrong in ([6], [1, 1], [-1], "all", [0.5], np.zeros(5, dtype=bool)):
        with pytest.raises(RaisimError):
            batch.reset(wrong)
    with pytest.raises(InvalidValueError, match="dog"):
        batch.object("cat")
    with pytest.raises(InvalidValueError, match="count"):
        WorldBatch(World(), 0)


@pytest.mark.parametrize("what", ["position_targets", "velocity_targets", "coordinates", "velocities", "forces", "poses", "twists"])
def test_what_was_refused_is_gone_after_a_reset(what):
    """It was carried over once more before the reset, which failed for ever."""
    batch = WorldBatch(quadruped_world(), 3, 2)
    before = [batch.member(k).get_state_hash() for k in range(3)]
    rows = getattr(batch.object("box") if what in ("poses", "twists") else batch.robot(), what)
    rows[1, 0] = np.nan
    with pytest.raises(InvalidValueError, match="member 1"):
        batch.step()
    batch.reset([1])
    assert np.isfinite(rows).all()
    assert [batch.member(k).get_state_hash() for k in range(3)] == before
    batch.step()


def test_parameters_are_carried_over_by_a_reset_or_refused():
    batch = WorldBatch(quadruped_world(), 3, 2)
    masses = batch.object("box").masses()
    masses[1] = 2.5
    batch.object("ground").poses[2, 2] = -0.25
    batch.reset()
    assert batch.member(1).get_object("box").get_mass() == 2.5
    assert batch.member(2).get_object("ground").get_position()[2] == -0.25
    masses[1] = np.nan
    with pytest.raises(InvalidValueError, match="member 1"):
        batch.reset()


def test_a_member_that_diverges_starts_again_and_the_others_go_on():
    batch = WorldBatch(quadruped_world(), 3, 2)
    robot = batch.robot()
    robot.velocities[1, 6:] = 1e49
    marked = False
    for _ in range(20):
        batch.step()
        marked = marked or bool(batch.diverged[1])
        assert not batch.diverged[[0, 2]].any()
        if marked:
            break
    assert marked
    assert batch.times[1] == 0.0
    assert robot.coordinates[1] == pytest.approx(STANCE)
    batch.step(10)
    assert not batch.diverged.any()
    lone = quadruped_world()
    lone.get_object("dog").set_generalized_velocity([0] * 6 + [1e49] * 12)
    with pytest.raises(DivergedError):
        lone.integrate(20)


def test_long_steps_are_made_in_slices_to_the_same_bits(monkeypatch):
    """A member that diverges in one slice waits at the start, as it does without them."""
    results = []
    for seconds in (1e-9, 1e9):
        monkeypatch.setattr("raisim_ros.engine.batch.world_batch.SLICE", seconds)
        batch = WorldBatch(quadruped_world(), 4, 2)
        batch.robot().velocities[1, 6:] = 1e49
        batch.robot().velocities[2, 6:] = 0.5
        batch.step(40)
        results.append((batch.diverged.copy(), batch.times.copy(), batch.robot().coordinates.copy()))
    (diverged, times, q), (whole_diverged, whole_times, whole_q) = results
    assert diverged.tolist() == whole_diverged.tolist() == [False, True, False, False]
    assert np.array_equal(times, whole_times)
    assert np.array_equal(q, whole_q)


def test_ctrl_c_ends_a_long_step():
    batch = WorldBatch(quadruped_world(), 4, 2)
    times = batch.times
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        batch.step(2**31 - 1)
    assert 0.0 < times[0] == times[1] < 1e6  # arrays show the steps that were made
    before = times[0]
    batch.step()
    assert times[0] > before


def test_arrays_outlive_their_batch():
    batch = WorldBatch(quadruped_world(), 3)
    q, diverged, member = batch.robot().coordinates, batch.diverged, batch.member(1)
    batch.step(3)
    expected = q.copy()
    del batch
    gc.collect()
    assert np.array_equal(q, expected)
    assert not diverged.any()
    member.integrate(2)


def test_thousands_of_quadrupeds_are_small():
    from raisim_ros.engine._library import lib

    world = quadruped_world()
    before = lib.rs_memory_bytes()
    batch = WorldBatch(world, 64, 1)
    batch.robot().position_targets[:, 7:] += 0.1
    batch.step(50)
    assert (lib.rs_memory_bytes() - before) / 64 < 2e9 / 4096


def _step_in_child(batch, pipe):
    batch.step(5)
    pipe.send(batch.times.tolist())


def test_a_forked_process_steps_its_copy():
    batch = WorldBatch(quadruped_world(), 3, 2)
    batch.step(1)
    receiver, sender = multiprocessing.Pipe(False)
    child = multiprocessing.get_context("fork").Process(target=_step_in_child, args=(batch, sender))
    child.start()
    assert receiver.poll(30)
    assert receiver.recv() == pytest.approx([6 * 0.0025] * 3)
    child.join(30)
    assert batch.times.tolist() == [0.0025] * 3


def test_copies_of_worlds_are_independent_and_go_on_to_the_same_bits():
    world = quadruped_world()
    world.integrate(20)
    for other in (copy.copy(world), copy.deepcopy(world), world.copy()):
        dog = other.get_object("dog")
        assert dog._world is other
        assert dog is not world.get_object("dog")
        twin = world.copy()
        twin.integrate(30)
        before = world.get_state_hash()
        other.integrate(30)
        assert other.get_state_hash() == twin.get_state_hash()
        assert world.get_state_hash() == before
        added, removed = len(other.get_obj_list()), other.get_object("box")
        other.remove_object(removed)
        other.add_sphere(0.1, 1.0)
        assert len(other.get_obj_list()) == added == len(world.get_obj_list())
    held = copy.deepcopy({"world": world, "robot": world.get_object("dog")})
    assert held["robot"] is held["world"].get_object("dog")


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, WorldBatch.copy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_of_batches_are_independent_and_go_on_to_the_same_bits(how):
    batch = WorldBatch(quadruped_world(True), 3, 2)
    robot = batch.robot()
    robot.masses()[1] *= 1.2
    batch.set_heightmap("terrain", np.zeros((1, 20, 20)), members=[2])
    batch.step(20)
    robot.position_targets[0] += 0.1  # written, and not yet carried over
    other = how(batch)
    assert np.array_equal(other.robot().position_targets, robot.position_targets)
    times = batch.times.copy()
    other.step(20)
    assert np.array_equal(batch.times, times)
    batch.step(20)
    assert other.member(2)["terrain"].get_height(0.3, 0.3) == 0.0
    assert [one.member(0).get_state_hash() for one in (batch, other)] == [batch.member(0).get_state_hash()] * 2
    for one in (batch, other):
        one.reset()
        one.step(20)
    assert [batch.member(k).get_state_hash() for k in range(3)] == [other.member(k).get_state_hash() for k in range(3)]
    assert batch.member(0).get_state_hash() != batch.member(1).get_state_hash()


def test_snapshots_of_members_go_to_other_batches_of_the_same_make_only():
    batch, other = (WorldBatch(quadruped_world(True), 2, 1) for _ in range(2))
    batch.step(15)
    kept = pickle.loads(pickle.dumps(batch.save(1)))
    other.restore(0, kept)
    other.reset([1], snapshot=kept)
    batch.step(10)
    other.step(10)
    assert [other.member(k).get_state_hash() for k in range(2)] == [batch.member(1).get_state_hash()] * 2
    small = World()
    small.add_sphere(0.1, 1.0)
    alien = WorldBatch(small, 1, 1)
    alien.object(small.get_obj_list()[0]).masses()
    before = alien.member(0).get_state_hash()
    for snapshot in (kept, batch.save(0)):
        with pytest.raises(InvalidValueError):
            alien.restore(0, snapshot)
        with pytest.raises(InvalidValueError):
            alien.reset(0, snapshot=snapshot)
    assert alien.member(0).get_state_hash() == before


def test_grains_are_copied_stepped_and_reset():
    world = World()
    world.add_ground()
    positions = [(0.05 * (k % 4), 0.05 * (k // 4 % 4), 0.05 + 0.05 * (k // 16)) for k in range(48)]
    world.add_granular_particles(positions, 0.02)
    start = world.get_state_hash()
    batch = WorldBatch(world, 3, 2)
    batch.step(30)
    after = batch.member(0).get_state_hash()
    assert after != start
    batch.reset([2])
    assert batch.member(2).get_state_hash() == start
    batch.step(30)
    assert batch.member(2).get_state_hash() == after
