"""The part of World that saves, restores and clones."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from raisim_ros.description.declared import check_values, fits
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.plain import pack, unpack
from raisim_ros.description.shapes import SHAPES, ObjectType
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.errors import WrongTypeError, check
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.handles import SingleBodyObject
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.objects.wires import Wire
from raisim_ros.engine.sensors.sensor import Sensor, SensorSet
from raisim_ros.engine.types import BodyType, SingleBodySnapshot
from raisim_ros.engine.world import stored
from raisim_ros.engine.world.core import WorldCore

Handle = TypeVar("Handle", bound=Object)
SingleBody = TypeVar("SingleBody", bound=SingleBodyObject)

_PYTHON = tuple[list[tuple[Object, tuple[str, dict[str, object]]]], list[object]]  # what is kept of handles and parts
_PRIMITIVES = tuple(ObjectType[name.upper()] for name in SHAPES)


class WorldSnapshot:
    """Everything that decides a world's future, at one moment. Made by World.save_snapshot().

    It can be pickled, and saved to a file; another world of the same make goes on from it to the same bits.
    """

    _time: float | None = None  # [s]; not of one that was read

    def __init__(self, world: WorldCore) -> None:
        self._world: WorldCore | None = world
        self._time = world.get_world_time()
        self._snapshot = stored.engine_snapshot(world._world)
        self._kept = {handle: (handle._name, handle._kept()) for handle in world._handles.values()}
        self._parts = [saver.save() for saver in world._savers]
        self._bytes: tuple[bytes, bytes] | None = None  # of one that was read: the engine's part and Python's

    def __repr__(self) -> str:
        return "<WorldSnapshot that was read>" if self._time is None else f"<WorldSnapshot at {self._time:.6g} s>"

    def to_bytes(self, geometry: bool = True) -> bytes:
        """The snapshot as bytes; without geometry, only worlds that have its meshes and heightmaps can take them."""
        return stored.join(stored.SNAPSHOT, *self._as_bytes(arguments.flag("geometry", geometry)))

    @classmethod
    def from_bytes(cls, data: bytes) -> WorldSnapshot:
        """The snapshot of to_bytes(); a world looks at it closely when it is restored."""
        return cls._of_bytes(*stored.split(stored.SNAPSHOT, arguments.instance("data", data, bytes)))

    @classmethod
    def _of_bytes(cls, engine: bytes, python: bytes) -> WorldSnapshot:
        made = cls.__new__(cls)
        made._world, made._snapshot, made._kept, made._parts = None, None, {}, []
        made._bytes = engine, python
        return made

    def save(self, path: str | Path) -> None:
        """Write the snapshot to a file, whole or not at all."""
        stored.write(arguments.path("path", path), self.to_bytes())

    @classmethod
    def from_saved(cls, path: str | Path) -> WorldSnapshot:
        """The snapshot of a file that save() wrote."""
        return cls._of_bytes(*stored.read(arguments.path("path", path), stored.SNAPSHOT))

    def _as_bytes(self, geometry: bool = True) -> tuple[bytes, bytes]:
        if self._bytes is not None:
            return self._bytes
        return stored.engine_bytes(self._snapshot, geometry), self._python_bytes()

    def _python_bytes(self) -> bytes:
        return pack((list(self._kept.items()), self._parts), _note_of)

    def _for(self, world: WorldCore) -> WorldSnapshot:
        """The same as a snapshot of another world; InvalidValueError when that is of another make."""
        engine, python = self._as_bytes()
        made = type(self).__new__(type(self))
        made._world, made._bytes = world, None
        made._snapshot = stored.engine_snapshot_of(engine, world._world)
        check(lib.rs_snapshot_fits(world._world, made._snapshot))
        made._take(unpack(python, world._look_up), world)
        return made

    def _take(self, python: object, world: WorldCore) -> None:
        """Python's part, once it is clear that the world can be put back to it."""
        if not fits(python, _PYTHON):
            raise InvalidValueError("the snapshot holds no world")
        kept, self._parts = cast("_PYTHON", python)
        self._kept = dict(kept)
        if set(self._kept) != set(world._handles.values()) or len(self._parts) != len(world._savers):
            raise InvalidValueError("the snapshot has other objects than the world")
        for handle, (_, values) in self._kept.items():
            if values.keys() != set(handle._KEPT):
                raise InvalidValueError(f"the snapshot has another make of {handle!r}")
            check_values(handle, values)
            handle._check_kept(values)
        for saver, part in zip(world._savers, self._parts, strict=True):
            if not saver.can_restore(part):
                raise InvalidValueError("the snapshot has other parts than the world")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self).from_bytes, (self.to_bytes(),)

    def __copy__(self) -> WorldSnapshot:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, object]) -> WorldSnapshot:
        return self


def _note_of(value: object) -> list[object] | None:
    """What stands for parts of a world in a stored snapshot; see WorldCore._look_up()."""
    if isinstance(value, Object):
        return ["object", value.get_id()]
    if isinstance(value, Wire):
        return ["wire", value.get_id()]
    if isinstance(value, SensorSet):
        return ["sensors", value.mount.object.get_id(), value.get_name()]
    if isinstance(value, Sensor):
        return ["sensor", value.mount.object.get_id(), value._set_name, value.get_name()]
    return ["world"] if isinstance(value, WorldCore) else None


class Snapshots(WorldCore):
    """Snapshots of the whole world and of single bodies, and clones."""

    def save_snapshot(self) -> WorldSnapshot:
        """Keep the whole world: objects, states, wires, sensors and their readings, settings, warm starts, time."""
        with self.locked():
            return WorldSnapshot(self)

    def restore_snapshot(self, snapshot: WorldSnapshot) -> None:
        """Put the world back; from here it continues to the same bits as it did after the snapshot.

        Objects and wires removed since come back and their old handles work again; those added since are gone. The
        snapshot of another world (also of one in another process) is taken when both worlds are of the same make:
        the same objects, shapes, links, wires and sensors, added in the same order.
        """
        arguments.instance("snapshot", snapshot, WorldSnapshot)
        with self.locked():
            own = snapshot if snapshot._world is self else snapshot._for(self)
            check(lib.rs_snapshot_restore(self._world, own._snapshot))
            self._handles = {handle.get_id(): handle for handle in own._kept}
            self._names = {}
            for handle, (name, kept) in own._kept.items():
                handle._restore_kept(kept)
                handle._name = ""
                self._rename(handle, name)
            for saver, part in zip(self._savers, own._parts, strict=True):
                saver.restore(part)

    # ---- single bodies ----

    def capture_single_body_snapshot(self, obj: Object) -> SingleBodySnapshot | None:
        """State and collision properties of a single body; None for other objects."""
        self._own(obj)
        if not isinstance(obj, SingleBodyObject):
            return None
        with self.locked():
            state = obj._state()
            return SingleBodySnapshot(
                np.array(list(state.position)),
                np.array(list(state.quaternion)),
                np.array(list(state.linear_velocity)),
                np.array(list(state.angular_velocity)),
                obj.get_body_type(),
                obj._materials(),
                obj.get_collision_group(),
                obj.get_collision_mask(),
            )

    def restore_single_body_snapshot(
        self,
        obj: Object | int,
        snapshot: SingleBodySnapshot,
        restore_collision_properties: bool = True,
    ) -> bool:
        """Put a single body (handle or stable id) back; False when there is no such single body.

        `restore_collision_properties` tells whether group, mask and materials come back too.
        """
        target = self.get_object_by_id(obj) if isinstance(obj, int) else obj
        if not isinstance(target, SingleBodyObject):
            return False
        self._own(target)
        arguments.instance("snapshot", snapshot, SingleBodySnapshot)
        bodies = len(target.get_collision_body_list())
        with_collision = arguments.flag("restore_collision_properties", restore_collision_properties)
        if with_collision and len(snapshot.materials) != bodies:
            raise InvalidValueError(
                f"the snapshot has {len(snapshot.materials)} collision bodies; {target!r} has {bodies}"
            )
        with self.locked():
            target.set_body_type(snapshot.body_type)
            moving = snapshot.body_type != BodyType.STATIC
            target._set_state(
                position=snapshot.position,
                quaternion=snapshot.quaternion,
                linear_velocity=snapshot.linear_velocity if moving else np.zeros(3),
                angular_velocity=snapshot.angular_velocity if moving else np.zeros(3),
            )
            if with_collision:
                group, mask = snapshot.collision_group, snapshot.collision_mask
                check(lib.rs_object_set_filter(self._world, target._engine_id, -1, group, mask))
                target._set_materials(snapshot.materials)
        return True

    # ---- copies ----

    def clone_single_body_object(self, source: SingleBody, name: str = "") -> SingleBody | None:
        """Copy a primitive, see clone_object(); None for other objects."""
        self._own(source)
        return self.clone_object(source, name) if source.get_object_type() in _PRIMITIVES else None

    def clone_object(self, source: Handle, name: str = "") -> Handle:
        """Copy an object of any kind at its place with its sensors; the copy can be moved afterwards.

        The copy has the same shape, mass, state, body type, materials, filters, look and topics; a robot also the same
        joints, gains, targets, limits and self-collision rules. Loads and commanded wrenches act on the source alone.
        """
        self._own(source)
        if not isinstance(source, (BodyOwner, SoftObject)):
            raise WrongTypeError(f"{source!r} cannot be cloned")
        arguments.text("name", name)
        out = ffi.new("rs_object_id *")
        with self.locked():
            check(lib.rs_object_clone(self._world, source._engine_id, out))
            clone = cast("Handle", source._copy(int(out[0])))
            self._register(clone)
            clone.set_name(name)
            for copied in self._cloners:
                if isinstance(source, BodyOwner) and isinstance(clone, BodyOwner):
                    copied(source, clone)
        return clone
