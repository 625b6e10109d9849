"""Worlds used by several threads, and signals while they step."""

import os
import signal
import threading
import time

import pytest

from raisim_ros import LidarModel, SensorSetModel, World


def all_in_threads(*functions):
    """Run endless functions (each called again and again) for a while; what they raised."""
    errors, end = [], threading.Event()

    def run(function):
        try:
            while not end.is_set():
                function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    time.sleep(0.6)
    end.set()
    for thread in threads:
        thread.join()
    return errors


def test_lists_while_another_thread_adds_and_removes():
    world = World()
    world.add_ground()

    def churn():
        box = world.add_box(1, 1, 1, 1)
        box.set_name("box")
        copy = world.clone_object(box, "copy")
        world.add_stiff_wire(box, 0, (0, 0, 0), copy, 0, (0, 0, 0), 2.0)
        world.remove_object(copy)
        world.remove_object(box)

    def look():
        for handle in world.get_obj_list():
            handle.get_name()
        world.get_object("box")
        world.get_object(1)
        world.get_wires()
        world.get_contact_problem()
        world.read_states()

    assert all_in_threads(churn, churn, look, look, lambda: world.integrate(2)) == []
    assert len(world.get_obj_list()) == 1


def test_material_names_while_another_thread_adds_some():
    world = World()
    numbers = iter(range(10**9))
    box = world.add_box(1, 1, 1, 1, "steel")

    def add():
        world.get_material_pair_properties(f"material {next(numbers)}", "steel")

    def read():
        assert world.get_object_material(box) == "steel"

    assert all_in_threads(add, read, read) == []


def test_snapshots_and_sensor_lists_from_several_threads():
    world = World()
    world.add_ground()
    world.add_sphere(1, 1)
    assert all_in_threads(lambda: world.restore_snapshot(world.save_snapshot()), world.get_sensor_sets, world.get_obj_list) == []


def test_a_thread_that_ends_with_the_lock_does_not_keep_the_world():
    world = World()
    thread = threading.Thread(target=lambda: (world.lock_mutex(), world.lock_mutex()))
    thread.start()
    thread.join()
    world.integrate()
    with world.locked():
        world.add_sphere(1, 1)
    assert world.get_step_count() == 1


@pytest.mark.parametrize("call", [World.get_obj_list, World.lock_mutex, World.get_contact_problem, World.save_snapshot])
def test_ctrl_c_while_waiting_for_the_lock_does_not_keep_the_world(call):
    """It is answered when the lock was taken: all other threads waited for ever."""
    world, taken, got_in = World(), threading.Event(), threading.Event()

    def hold():
        with world.locked():
            taken.set()
            time.sleep(0.1)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)

    def get_in():
        with world.locked():
            got_in.set()

    holder = threading.Thread(target=hold)
    holder.start()
    taken.wait()
    with pytest.raises(KeyboardInterrupt):
        call(world)
    holder.join()
    threading.Thread(target=get_in, daemon=True).start()
    assert got_in.wait(10.0)


def test_a_world_that_is_locked_can_be_dropped():
    world = World()
    world.lock_mutex()
    del world
    World().integrate()


@pytest.mark.parametrize("with_sensors", [False, True])
def test_ctrl_c_ends_a_long_integration(with_sensors):
    world = World()
    world.add_ground()
    body = world.add_sphere(0.5, 1.0)
    body.set_position(0, 0, 2)
    world.set_sleeping_enabled(False)
    if with_sensors:
        from rich_world import sensor_models

        world.add_sensor_set(body, sensor_models(False))
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        world.integrate(2**31 - 1)
    assert 0 < world.get_step_count() < 2**31 - 1
    world.integrate(3)


def test_those_who_wait_get_in_between_two_steps():
    """A thread that steps all the time would take the world again before others wake up."""
    world = World()
    world.add_ground()
    for number in range(300):
        world.add_box(0.3, 0.3, 0.3, 1.0).set_position((number % 10) * 0.35, (number // 100) * 0.35, (number // 10 % 10) * 0.35)
    end = threading.Event()
    thread = threading.Thread(target=lambda: [world.integrate(5) for _ in iter(end.is_set, True)])
    thread.start()
    seen = []
    for _ in range(60):
        time.sleep(0.002)
        before = world.get_step_count()
        with world.locked():
            seen.append(world.get_step_count() - before)
    end.set()
    thread.join()
    assert sorted(seen)[50] <= 3


def test_a_rolling_lidar_that_another_thread_ends_meanwhile(monkeypatch):
    """It raised an AttributeError: it was looked at twice."""
    world = World()
    lidar = LidarModel(name="lidar", yaw_samples=8, spin_rate=10.0)
    (sensor,) = world.add_sensor_set(world.add_sphere(1.0, 1.0), SensorSetModel(name="set", sensors=(lidar,)))
    sensor.set_rolling(True)
    pose = sensor.mount.world_pose()

    def end_and_tell():
        monkeypatch.undo()
        sensor.set_rolling(False)
        return pose

    monkeypatch.setattr(type(sensor.mount), "world_pose", lambda self: end_and_tell())
    sensor.follow()
    assert not sensor.is_rolling()
