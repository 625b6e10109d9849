"""Tries out what was read from a file before anybody relies on it: data that were made up fail here, with an error of
ours, and not in the middle of somebody's program."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.description.file_access import temporary_folder
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.wires import Wire

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World


def try_out(world: World) -> None:
    """Look at all parts of a world, then write and step a copy of it; raises InvalidValueError."""
    try:
        _check_parts(world)
        with warnings.catch_warnings(), temporary_folder() as folder:
            warnings.simplefilter("ignore")  # the world itself will tell
            trial = world.copy()
            trial.export_to_xml(folder / "world.xml")
            for sensors in trial.get_sensor_sets():
                for sensor in sensors:
                    sensor.update()
            trial.integrate()
            trial.save_snapshot()
    except InvalidValueError:
        raise
    except RaisimError:  # which is what its user would get, too: half-way through a step, diverging
        return
    except Exception as error:
        raise InvalidValueError(f"the data make no sense: {type(error).__name__}: {error}") from error


def _check_parts(world: World) -> None:
    """Handles, wires and sensors belong to this world; robots have the sizes by which the engine writes."""
    ids = {int(one) >> 32: int(one) for one in world._engine_ids()}
    for key, handle in world._handles.items():
        _expect(isinstance(handle, Object) and handle._world is world and handle._engine_id == ids.get(key))
        if isinstance(handle, ArticulatedSystem):
            _check_sizes(handle)
    for name, handles in world._names.items():
        _expect(isinstance(name, str) and all(one._name == name and one in world._handles.values() for one in handles))
    for number, wire in world._wires.items():
        _expect(isinstance(wire, Wire) and wire._world is world and wire._id == number)
    for sensors in world._sensor_sets:
        mounts = [sensors.mount, *(sensor.mount for sensor in sensors)]
        _expect(all(mount.object in world._handles.values() for mount in mounts))
        _expect(all(sensor._world is world and name == sensor.get_name() for name, sensor in sensors._sensors.items()))


def _check_sizes(robot: ArticulatedSystem) -> None:
    """The engine tells how many numbers there are: it refuses to read another count."""
    own = robot._world, robot._engine_id
    fresh = ArticulatedSystem(*own, robot._tree, robot._collision_bodies, robot._build_options)
    same = ("_q_count", "_u_count", "_q_first", "_u_first")
    _expect(all(getattr(robot, name) == getattr(fresh, name) for name in same))
    robot._read(lib.RS_FIELD_COORDINATE, robot._q_count)
    robot._read(lib.RS_FIELD_VELOCITY, robot._u_count)
    _expect(robot._motors is None or len(robot._motors) == len(robot._tree.actuators))
    link, last = ffi.new("rs_link_def *"), len(robot._tree.bodies) - 1
    found = [lib.rs_articulation_get_link(robot._c, robot._engine_id, last + k, link) == lib.RS_OK for k in (0, 1)]
    _expect(found == [True, False])


def _expect(holds: bool) -> None:
    if not holds:
        raise InvalidValueError("the parts of the world do not belong together")
