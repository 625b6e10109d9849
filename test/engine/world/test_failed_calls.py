"""Every public method, called with right and wrong arguments: it works, or raises an error of ours and changes nothing.

The calls are made from the signatures; see test/fuzz/api_calls.py.
"""

import pytest
from api_machine import ApiMachine
from rich_world import rich_world

from raisim_ros import (
    IMU,
    ImuModel,
    InvalidValueError,
    LightSettings,
    NoiseModel,
    RaisimError,
    SensorSetModel,
    World,
    WorldBatch,
)
from raisim_ros.engine import errors
from raisim_ros.engine.sensors.vision import Light
from raisim_ros.engine.world import core


def faults(answers):
    return [text for text in answers if text]


@pytest.mark.parametrize("seed", [1, 2])
def test_every_method_of_every_class(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    machine = ApiMachine(seed, tmp_path)
    assert machine.count_methods() > 800
    assert faults(machine.run_everything(2)) == []


def test_every_function_and_every_class_of_values(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert faults(ApiMachine(1, tmp_path).run_definitions(40)) == []


@pytest.mark.parametrize("seed", range(3, 7))
def test_random_calls_in_any_order(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert faults(ApiMachine(seed, tmp_path).run(500)) == []


def test_a_clone_with_a_wrong_name_is_not_made():
    world = World()
    box = world.add_box(1, 1, 1, 1)
    before = world.get_state_hash()
    with pytest.raises(InvalidValueError, match="name"):
        world.clone_object(box, 5)
    assert world.get_obj_list() == [box]
    assert world.get_state_hash() == before


@pytest.mark.parametrize(
    "make",
    [
        lambda: LightSettings(shadows=None),
        lambda: LightSettings(color=None),
        lambda: LightSettings(cutoff="wide"),
        lambda: Light(ambient=None),
        lambda: Light(direction=(0, 0, 0)),
        lambda: Light(shadows="yes"),
        lambda: NoiseModel("gaussian", stddev=None),
        lambda: NoiseModel("gaussian", seed=-1),
        lambda: NoiseModel(dropout=2.0),
        lambda: ImuModel("imu", acc_limit="high"),
        lambda: ImuModel("imu", acc_noise=None),
        lambda: SensorSetModel("set", sensors=(None,)),
    ],
)
def test_settings_that_would_fail_while_stepping_are_refused_when_made(make):
    """A world whose light had shadows=None raised a TypeError from integrate(), at the next image of a camera."""
    with pytest.raises(InvalidValueError):
        make()


def test_a_failed_measurement_does_not_count():
    class Broken(IMU):
        def _measure(self):
            raise RaisimError("broken")

    world = World()
    body = world.add_sphere(1, 1)
    mount = world.add_sensor_set(body, SensorSetModel("set", sensors=(ImuModel("imu"),))).mount
    sensor = Broken(world, ImuModel("imu"), mount, "set")
    before = sensor._phase()
    with pytest.raises(RaisimError, match="broken"):
        sensor.update()
    assert repr(sensor._phase()) == repr(before)


def test_ctrl_c_between_an_object_and_its_handle(monkeypatch):
    """An object of which only the engine knew made every later get_obj_list() fail."""

    def interrupted(*_):
        raise KeyboardInterrupt

    world = World()
    box = world.add_box(1, 1, 1, 1)
    gone = world.add_sphere(1, 1)
    gone.set_name("gone")
    monkeypatch.setattr(world, "_register", interrupted)
    for call in (lambda: world.add_sphere(1, 1), lambda: world.clone_object(box, "copy")):
        with pytest.raises(KeyboardInterrupt):
            call()
        assert world.get_obj_list() == [box, gone]
    monkeypatch.setattr(world, "_rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        world.remove_object(gone)
    assert world.get_obj_list() == [box]
    assert world.get_object("gone") is None
    world.integrate(3)


def test_ctrl_c_while_an_object_gets_its_name(monkeypatch):
    """Its name was one that nobody knew: removing the object raised a KeyError from then on."""
    calls = iter([KeyboardInterrupt])

    def interrupted(status):
        for error in calls:
            raise error
        errors.check(status)

    world = World()
    box = world.add_box(1, 1, 1, 1)
    monkeypatch.setattr(core, "check", interrupted)
    with pytest.raises(KeyboardInterrupt):
        box.set_name("box")
    assert world.get_object("box") is (box if box.get_name() else None)
    world.remove_object(box)
    assert world.get_obj_list() == []


RAGGED = [1, [2]]


@pytest.mark.parametrize(
    "call",
    [
        lambda world, robot: robot.set_p_gains(RAGGED),
        lambda world, robot: robot.set_d_gains(RAGGED),
        lambda world, robot: world.add_sphere(1, 1, velocity=RAGGED),
        lambda world, robot: WorldBatch(world, 2).set_heightmap("hills", RAGGED),
    ],
)
def test_ragged_rows_are_refused_by_name(call):
    world = rich_world()
    with pytest.raises(InvalidValueError, match=r"gain|velocity|heights"):
        call(world, world.get_object("arm"))
