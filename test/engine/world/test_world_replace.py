"""A world is replaced as a whole, or not at all."""

import threading
import time

import pytest

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.resources import resource
from raisim_ros.description.sensor.types import ImuModel, SensorSetModel
from raisim_ros.description.world.export import write_world_file
from raisim_ros.description.world_file import load_world_file
from raisim_ros.engine.errors import ObjectRemovedError, WrongStateError
from raisim_ros.engine.world.world import World


def description(tmp_path, text):
    file = tmp_path / "world.xml"
    file.write_text(f"<raisim>{text}</raisim>")
    return load_world_file(file)


def changed_world():
    """A world none of whose settings is the default one."""
    world = World(resource("worlds/robots.xml"))
    world.set_gravity((0.0, 0.0, -1.0))
    world.set_time_step(0.001)
    world.set_default_material(0.1, 0.2, 0.3)
    world.set_erp(0.1, 0.1)
    world.integrate(10)
    return world


def test_the_new_world_is_the_one_that_a_fresh_load_gives(tmp_path):
    new = description(tmp_path, '<objects><sphere name="a" mass="1"><dim radius="0.1"/></sphere></objects>')
    world = changed_world()
    world.replace(new)
    fresh = World(tmp_path / "world.xml")
    assert [handle.get_name() for handle in world.get_obj_list()] == ["a"]
    assert world.get_gravity().tolist() == fresh.get_gravity().tolist()
    assert world.get_time_step() == fresh.get_time_step()
    assert world.get_material_manager() == fresh.get_material_manager()
    assert world.get_world_time() == 0.0
    world.integrate(100)
    fresh.integrate(100)
    assert world.get_object("a").get_position().tolist() == fresh.get_object("a").get_position().tolist()


def test_a_failure_on_the_way_leaves_the_old_world(tmp_path):
    sphere = '<sphere name="a" mass="1"><dim radius="0.1"/></sphere>'
    broken = description(tmp_path, f'<objects>{sphere}<mesh name="m" mass="1" file_name="nowhere.obj"/></objects>')
    world, twin = changed_world(), changed_world()
    names = [handle.get_name() for handle in world.get_obj_list()]
    with pytest.raises(RaisimError):
        world.replace(broken)
    assert [handle.get_name() for handle in world.get_obj_list()] == names
    assert world.get_time_step() == 0.001
    world.integrate(50)
    twin.integrate(50)
    assert world.get_state_hash() == twin.get_state_hash()


# ---- successors: built beside a world, then put in its place ----


def full_world(tmp_path):
    """Objects of several kinds, a robot with sensors, a wire."""
    (tmp_path / "robot.urdf").write_text(resource("robots/arm.urdf").read_text())
    return description(
        tmp_path,
        '<objects><ground name="floor"/><box name="a" mass="1"><dim x="1" y="1" z="1"/><state pos="0 0 2"/></box>'
        '<sphere name="b" mass="1"><dim radius="0.1"/><state pos="0 0 4"/></sphere>'
        f'<articulated_system name="arm" urdf_path="{tmp_path / "robot.urdf"}"/></objects>'
        '<wire type="stiff" name="w" length="2"><object1 name="a" pos="0 0 0.5"/><object2 name="b" pos="0 0 0"/></wire>',
    )


def imu():
    return SensorSetModel("set", sensors=(ImuModel("imu", update_rate=100.0),))


def test_a_successor_is_filled_while_the_world_goes_on_and_then_takes_its_place(tmp_path):
    new = full_world(tmp_path)
    world, fresh = changed_world(), World(tmp_path / "world.xml")
    last = max(handle.get_id() for handle in world.get_obj_list())
    before = world.get_obj_list()
    numbers = world.get_configuration_number(), world._change_count(), world._geometry_number()
    successor = world.make_successor(new.count())
    successor.fill(new)
    successor.add_sensor_set(successor.get_object("a"), imu())
    fresh.add_sensor_set(fresh.get_object("a"), imu())
    late = world.add_sphere(0.1, 1.0)  # while the successor was filled
    world.integrate(5)
    handles, wires = successor.get_obj_list(), successor.get_wires()
    ids = [thing.get_id() for thing in (*handles, *wires)]
    assert ids == list(range(last + 1, last + 1 + new.count()))
    assert late.get_id() == ids[-1] + 1
    world.take_over(successor)
    assert world.get_obj_list() == handles
    assert world.get_wires() == wires
    assert all(new > old for new, old in zip((world.get_configuration_number(), world._change_count(), world._geometry_number()), numbers, strict=True))
    assert world.get_config_file() == str(tmp_path / "world.xml")
    assert successor.get_obj_list() == []
    for handle in (*before, late):
        with pytest.raises(ObjectRemovedError):
            handle.set_name("ghost")
    for one in (world, fresh):
        one.integrate(300)
    assert world.get_state_hash() == fresh.get_state_hash()
    (mine,), (theirs,) = (one.get_sensor_sets()[0] for one in (world, fresh))
    assert mine.get_linear_acceleration().tolist() == theirs.get_linear_acceleration().tolist()
    assert world["w"].get_distance() == fresh["w"].get_distance() != 0.0
    assert world.add_sphere(0.1, 1.0).get_id() > late.get_id()


def test_a_snapshot_of_the_old_world_brings_it_back(tmp_path):
    world, twin = changed_world(), changed_world()
    before = world.get_obj_list()
    snapshot = world.save_snapshot()
    world.replace(full_world(tmp_path))
    world.integrate(20)
    world.restore_snapshot(snapshot)
    assert world.get_obj_list() == before
    for one in (world, twin):
        one.integrate(50)
    assert world.get_state_hash() == twin.get_state_hash()


def test_wrong_successors_are_refused_and_change_nothing(tmp_path):
    world = changed_world()
    names, state = [handle.get_name() for handle in world.get_obj_list()], world.get_state_hash()
    crowded = world.make_successor(1)
    for _ in range(2):
        crowded.add_sphere(0.1, 1.0)
    half_way = world.make_successor(0)
    half_way.integrate1()
    spent = world.make_successor(0)
    World().replace(description(tmp_path, ""))
    for wrong, error in ((World(), InvalidValueError), (world, InvalidValueError), (crowded, InvalidValueError), (half_way, WrongStateError)):
        with pytest.raises(error):
            world.take_over(wrong)
    for wrong_count in (-1, 2**32, 1.5, "many"):
        with pytest.raises(RaisimError):
            world.make_successor(wrong_count)
    assert [handle.get_name() for handle in world.get_obj_list()] == names
    assert world.get_state_hash() == state
    world.take_over(spent)
    with pytest.raises(InvalidValueError, match="was not made"):
        world.take_over(spent)
    assert world.get_obj_list() == []


def test_a_successor_that_another_thread_still_fills_is_waited_for():
    world = World()
    successor = world.make_successor(2)
    begun = threading.Event()

    def fill():
        with successor.locked():
            successor.add_sphere(0.1, 1.0).set_name("first")
            begun.set()
            time.sleep(0.2)  # long enough for one that does not wait
            successor.add_sphere(0.1, 1.0).set_name("second")

    filling = threading.Thread(target=fill)
    filling.start()
    begun.wait()
    world.take_over(successor)
    filling.join()
    assert [handle.get_name() for handle in world.get_obj_list()] == ["first", "second"]
    assert successor.get_obj_list() == []


def test_who_waits_for_a_successor_gets_what_it_has_become():
    world = World()
    successor = world.make_successor(0)
    with successor.locked():
        waiting = threading.Thread(target=successor.add_sphere, args=(0.1, 1.0), daemon=True)
        waiting.start()
        time.sleep(0.1)  # it waits now, most likely
        world.take_over(successor)
    waiting.join(20.0)
    assert not waiting.is_alive()
    assert len(successor.get_obj_list()) == 1
    assert world.get_obj_list() == []


def test_the_world_steps_while_it_is_written(tmp_path, monkeypatch):
    world = changed_world()

    def write(path, description):
        stepping = threading.Thread(target=world.integrate, daemon=True)
        stepping.start()
        stepping.join(20.0)
        assert not stepping.is_alive(), "the file is written while the world is locked"
        write_world_file(path, description)

    monkeypatch.setattr("raisim_ros.engine.world.world.write_world_file", write)
    step = world.get_step_count()
    world.export_to_xml(tmp_path / "saved.xml")
    assert world.get_step_count() == step + 1
    assert len(World(tmp_path / "saved.xml").get_obj_list()) == len(world.get_obj_list())
