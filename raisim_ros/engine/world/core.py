"""What every part of World builds on: the engine's world, its lock and the handles of its objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from raisim_ros.description.declared import fits, parameter_type
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.world.types import ArticulatedEntry, WorldDescription
from raisim_ros.description.xml.template import Parameters
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.errors import ObjectRemovedError, WrongTypeError, check, lock
from raisim_ros.engine.known_names import KnownNames
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.contact import Contact, read_contacts
from raisim_ros.engine.objects.object_handle import Object

if TYPE_CHECKING:
    from raisim_ros.engine.objects.wires import Wire
    from raisim_ros.engine.sensors.sensor import SensorSet

Kept = TypeVar("Kept")

_NAME_SIZE = 64  # bytes of a material's name
SLICE = 0.02  # seconds of stepping after which Python may look at signals


class Saver:
    """What a part of World knows, as plain values, and what puts that back."""

    def __init__(self, save: Callable[[], Kept], restore: Callable[[Kept], None]) -> None:
        self.save: Callable[[], object] = save
        self.restore: Callable[[object], None] = lambda kept: restore(cast("Kept", kept))
        self._restore = restore

    def can_restore(self, kept: object) -> bool:
        """Whether what was read is of the kind that was saved."""
        return fits(kept, parameter_type(self._restore))


class WorldCore(KnownNames):
    """Owns the engine's world, maps its ids to handles, and tells the parts of World what happens.

    A part registers what it wants to be told in its ``__init__``: see `_savers`, `_adders`, `_equippers`, `_cloners`,
    `_removers`.
    """

    _describe: Callable[[Sequence[Object]], WorldDescription]  # as a file has them; World sets it

    def __init__(self) -> None:
        out = ffi.new("rs_world **")
        check(lib.rs_world_create(out))
        self._world: Any = ffi.gc(out[0], lib.rs_world_destroy)
        self._handles: dict[int, Object] = {}  # stable id -> handle, living objects only
        self._names: dict[str, list[Object]] = {}
        self._sensor_sets: list[SensorSet] = []
        self._wires: dict[int, Wire] = {}  # by id, in the order in which they were made
        # What is looked at before the next step, once: see doubts.py.
        self._known_materials = {"", "default"}
        self._new_materials: list[str] = []
        self._new_followers: list[int] = []  # ids of robots with PD targets
        # Called by a snapshot: what a part knows, and what puts that back. Called in this order, and after the handles
        # are back.
        self._savers: list[Saver] = []
        self._adders: list[Callable[[Object, Parameters], None]] = []  # an object came from a file with parameters
        # A robot came from an MJCF file: its entry, and all that the file says.
        self._equippers: list[Callable[[Object, ArticulatedEntry, WorldDescription], None]] = []
        self._cloners: list[Callable[[BodyOwner, BodyOwner], None]] = []  # source, copy
        self._removers: list[Callable[[], None]] = []  # an object has gone

    # ---- threads ----

    def lock_mutex(self) -> None:
        """Keep other threads out of the world until unlock_mutex(); may be nested."""
        self._lock_present()

    def unlock_mutex(self) -> None:
        """End what lock_mutex() began."""
        check(lib.rs_world_unlock(self._world))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """``with world.locked():`` keeps other threads out of the world."""
        held = self._lock_present()
        try:
            yield
        except Exception:
            raise
        except BaseException:
            self._drop_unfinished()
            raise
        finally:
            check(lib.rs_world_unlock(held))

    def _drop_unfinished(self) -> None:
        """Ctrl-C may come between an object and its handle: an object without one is taken out, a handle without an
        object is forgotten, and what has a name is found by it."""
        present = {int(engine_id) >> 32: int(engine_id) for engine_id in self._engine_ids()}
        for number in present.keys() - self._handles.keys():
            lib.rs_object_remove(self._world, present[number])
        for number in self._handles.keys() - present.keys():
            del self._handles[number]
        # Names as the handles have them, in the order in which they were given.
        known = {id(one): one for handles in self._names.values() for one in handles}
        known.update({id(one): one for one in self._handles.values()})
        self._names = {}
        for handle in known.values():
            if handle._name and self._handles.get(handle.get_id()) is handle:
                self._names.setdefault(handle._name, []).append(handle)
        for remove in self._removers:
            remove()

    def _lock_present(self) -> Any:
        """The engine's world, locked; that of a successor is another one once it was taken over."""
        while True:
            held = self._world
            lock(held)
            if held is self._world:
                return held
            check(lib.rs_world_unlock(held))

    # ---- time and steps ----

    def get_time_step(self) -> float:
        """Duration of a step [s]."""
        return float(lib.rs_world_time_step(self._world))

    def get_world_time(self) -> float:
        """Simulated time [s]."""
        return float(lib.rs_world_time(self._world))

    def get_step_count(self) -> int:
        """Steps since the world was created."""
        return int(lib.rs_world_step_count(self._world))

    def get_gravity(self) -> Vector:
        """Gravitational acceleration [m/s^2]."""
        out = ffi.new("double[3]")
        lib.rs_world_get_gravity(self._world, out)
        return np.array(list(out))

    def _step(self, steps: int) -> None:
        """Advance in slices, between which a signal such as Ctrl-C is answered: the steps before it stay made."""
        done = ffi.new("int64_t *")
        while steps > 0:
            status = lib.rs_world_step_within(self._world, steps, SLICE, done)
            steps -= done[0]
            check(status)

    # ---- handles ----

    def _register(self, handle: Object) -> None:
        self._handles[handle.get_id()] = handle

    def _take_out(self, handle: Object) -> None:
        """Remove an object from the engine and forget its handle."""
        with self.locked():
            check(lib.rs_object_remove(self._world, handle._engine_id))
            del self._handles[handle.get_id()]
            self._rename(handle, "")
            for remove in self._removers:
                remove()

    def _rename(self, handle: Object, name: str) -> None:
        arguments.text("name", name)
        with self.locked():
            if handle._name:
                self._names[handle._name].remove(handle)
                if not self._names[handle._name]:
                    del self._names[handle._name]
            handle._name = name
            check(lib.rs_world_touch(self._world))
            if name:
                self._names.setdefault(name, []).append(handle)

    def _handle_of(self, engine_id: int) -> BodyOwner:
        handle = self._handles.get(engine_id >> 32)
        if not isinstance(handle, BodyOwner):
            raise ObjectRemovedError(f"object {engine_id >> 32} was removed from its world")
        return handle

    def get_object_by_id(self, object_id: int) -> Object | None:
        """The object with that stable id, or None."""
        return self._handles.get(int(object_id)) if arguments.is_whole(object_id) else None

    def is_object_alive(self, object_id: int) -> bool:
        """True while an object with that stable id is in the world."""
        return self.get_object_by_id(object_id) is not None

    def get_obj_list(self) -> list[Object]:
        """All objects; removing one moves the last into its place."""
        with self.locked():
            return [self._handles[int(engine_id) >> 32] for engine_id in self._engine_ids()]

    def get_configuration_number(self) -> int:
        """Changes whenever objects or wires are added or removed."""
        return int(lib.rs_world_configuration_number(self._world))

    def _change_count(self) -> int:
        """Counts what may have changed the world besides its steps; reading does not."""
        return int(lib.rs_world_change_count(self._world))

    def _geometry_number(self) -> int:
        """Changes whenever meshes or heightmaps may have come."""
        return int(lib.rs_world_geometry_number(self._world))

    def get_sensor_sets(self, obj: Object | None = None) -> list[SensorSet]:
        """Sensor sets of an object, or of all objects."""
        with self.locked():
            return [one for one in self._sensor_sets if obj is None or one.mount.object is obj]

    def get_sensor_set(self, obj: Object, name: str) -> SensorSet | None:
        """The sensor set of that name on an object; None when there is none."""
        wanted = arguments.text("name", name)
        return next((one for one in self.get_sensor_sets(obj) if one.get_name() == wanted), None)

    def _engine_ids(self) -> np.ndarray[Any, np.dtype[np.uint64]]:
        with self.locked():
            ids = np.zeros(lib.rs_world_object_count(self._world), dtype=np.uint64)
            check(lib.rs_world_object_ids(self._world, c_array(ids), len(ids)))
        return ids

    def _look_up(self, note: list[Any]) -> Any:
        """The part of this world that a note in a stored snapshot stands for."""
        kind, *where = note
        found: Any = None
        if kind == "world":
            return self
        if kind == "object":
            found = self._handles.get(where[0])
        elif kind == "wire":
            found = self._wires.get(where[0])
        elif kind in ("sensors", "sensor") and where[0] in self._handles:
            found = self.get_sensor_set(self._handles[where[0]], where[1])
            if kind == "sensor" and found is not None:
                found = found.get_sensor(where[2])
        if found is None:
            raise InvalidValueError(f"the world has no {' '.join(map(str, note))} that is in the snapshot")
        return found

    def _own(self, handle: Object) -> None:
        """Refuse handles of other worlds and of removed objects."""
        if not isinstance(handle, Object):
            raise WrongTypeError(f"expected an object of this world, got {handle!r}")
        if handle._world is not self:
            raise InvalidValueError(f"{handle!r} belongs to another world")
        handle._alive()

    def _contacts_of(self, handle: Object) -> list[Contact]:
        records = read_contacts(self._world)
        contacts: list[Contact] = []
        for index, record in enumerate(records):
            for side, as_a in (("object_a", True), ("object_b", False)):
                if int(record[side]) == handle._engine_id:
                    contacts.append(Contact(self, record, index, len(contacts), as_a))
        return contacts

    # ---- materials ----

    def _material(self, name: str) -> int:
        if "\0" in arguments.text("material", name):
            raise InvalidValueError(f"material is {name!r}; expected a name without a zero byte")
        out = ffi.new("int32_t *")
        check(lib.rs_material_index(self._world, (name or "default").encode(), out))
        if name not in self._known_materials:
            self._known_materials.add(name)
            self._new_materials.append(name)
        return int(out[0])

    def _material_name(self, index: int) -> str:
        out = ffi.new("char[]", _NAME_SIZE)
        check(lib.rs_material_get_name(self._world, index, out))
        return str(ffi.string(out).decode())
