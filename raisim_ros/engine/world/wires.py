"""The part of World that ties objects together with wires."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector, VectorLike
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.errors import ObjectRemovedError, WrongTypeError, check
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.wires import Wire, WireType
from raisim_ros.engine.world.core import Saver, WorldCore

LocalIndex = int | str
_End = tuple[Object, LocalIndex, VectorLike]


@dataclass
class WireBuffer:
    """States of all wires in the order in which they were made; the arrays are reused until wires come or go."""

    configuration_number: int
    wires: list[Wire]
    states: np.ndarray[Any, Any]  # fields: point (2 x 3), distance, stretch, normal, tension


_STATE_FIELDS = np.dtype(
    [("point", "f8", (2, 3)), ("distance", "f8"), ("stretch", "f8"), ("normal", "f8", 3), ("tension", "f8")]
)


class Wires(WorldCore):
    """Wires between objects. A failed call leaves the world as it was.

    `local_idx` is 0 for a single body; for an articulated system it is the index of a body, or the name of a frame,
    and `pos_b` is in that body's or frame's axes, from its origin [m].
    """

    def __init__(self) -> None:
        super().__init__()
        self._wire_states: WireBuffer | None = None
        self._savers.append(Saver(self._save_wires, self._restore_wires))
        self._removers.append(self._drop_wires)

    # ---- adding ----

    def add_stiff_wire(
        self,
        obj1: Object,
        local_idx1: LocalIndex,
        pos1_b: VectorLike,
        obj2: Object,
        local_idx2: LocalIndex,
        pos2_b: VectorLike,
        length: float,
        *,
        name: str = "",
    ) -> Wire:
        """Add a wire that cannot be stretched beyond its length [m]; see Wire.set_stretch_type for rods."""
        return self._add_wire(WireType.STIFF, (obj1, local_idx1, pos1_b), (obj2, local_idx2, pos2_b), length, name)

    def add_compliant_wire(
        self,
        obj1: Object,
        local_idx1: LocalIndex,
        pos1_b: VectorLike,
        obj2: Object,
        local_idx2: LocalIndex,
        pos2_b: VectorLike,
        length: float,
        stiffness: float,
        explicit: bool = False,
        *,
        name: str = "",
    ) -> Wire:
        """Add a spring without damping [m, N/m] that resists being stretched; see Wire.set_stretch_type."""
        ends = (obj1, local_idx1, pos1_b), (obj2, local_idx2, pos2_b)
        return self._add_wire(WireType.COMPLIANT, *ends, length, name, stiffness, explicit)

    def add_custom_wire(
        self,
        obj1: Object,
        local_idx1: LocalIndex,
        pos1_b: VectorLike,
        obj2: Object,
        local_idx2: LocalIndex,
        pos2_b: VectorLike,
        length: float,
        *,
        name: str = "",
    ) -> Wire:
        """Add a wire that pulls with the tension set by Wire.set_tension, at first 0."""
        return self._add_wire(WireType.CUSTOM, (obj1, local_idx1, pos1_b), (obj2, local_idx2, pos2_b), length, name)

    def _place(self, obj: Object, local_idx: LocalIndex, pos_b: VectorLike) -> tuple[int, Vector]:
        """Local index and point of an end, in the axes of the body."""
        self._own(obj)
        point = arguments.vector("position of the wire's end", pos_b, 3)
        if not isinstance(local_idx, str):
            return arguments.count("local index", local_idx), point
        if not isinstance(obj, ArticulatedSystem):
            raise WrongTypeError(f"{obj!r} has no frame '{local_idx}'; only articulated systems have frames")
        frame = obj.get_frame_by_name(local_idx)
        return frame.body, np.asarray(frame.position) + np.asarray(frame.rotation) @ point

    def _add_wire(
        self,
        wire_type: WireType,
        first: _End,
        second: _End,
        length: float,
        name: str,
        stiffness: float = 0.0,
        explicit: bool = False,
    ) -> Wire:
        definition = ffi.new("rs_wire_def *")
        lib.rs_default_wire_def(definition)
        for index, (obj, local_idx, pos_b) in enumerate((first, second)):
            local, point = self._place(obj, local_idx, pos_b)
            definition.object[index] = obj._engine_id
            definition.local[index] = local
            definition.point[index] = list(point)
        definition.properties.type = int(wire_type)
        definition.properties.length = arguments.number("length", length)
        definition.properties.stiffness = arguments.number("stiffness", stiffness)
        definition.properties.explicit_spring = arguments.flag("explicit", explicit)
        arguments.text("name", name)
        out = ffi.new("rs_wire_id *")
        with self.locked():
            check(lib.rs_wire_create(self._world, definition, out))
            wire = Wire(self, int(out[0]))
            self._wires[wire.get_id()] = wire
            wire.set_name(name)
        return wire

    # ---- finding and removing ----

    def get_wires(self) -> list[Wire]:
        """All wires in the order in which they were made."""
        with self.locked():
            return list(self._wires.values())

    def get_wire(self, name: str) -> Wire | None:
        """The first wire with that name; None when there is none."""
        wanted = arguments.text("name", name)
        return next((wire for wire in self.get_wires() if wire.get_name() == wanted), None)

    def get_constraint(self, name: str) -> Wire | None:
        """The same as get_wire(): wires are the constraints that have names."""
        return self.get_wire(name)

    def get_wire_by_id(self, wire_id: int) -> Wire | None:
        """The wire with that stable id, or None."""
        return self._wires.get(int(wire_id)) if arguments.is_whole(wire_id) else None

    def _drop_wires(self) -> None:
        """Forget the wires that went with an object."""
        self._wires = {key: wire for key, wire in self._wires.items() if lib.rs_wire_is_alive(self._world, key)}

    def _remove_wire(self, wire: Wire) -> None:
        if wire._world is not self:
            raise InvalidValueError(f"{wire!r} belongs to another world")
        if wire.get_id() not in self._wires:
            raise ObjectRemovedError(f"{wire!r} was removed from its world")
        check(lib.rs_wire_remove(self._world, wire.get_id()))
        del self._wires[wire.get_id()]

    # ---- bulk reads ----

    def read_wires(self) -> WireBuffer:
        """State of all wires, filled by one call of the engine; the arrays are reused."""
        with self.locked():
            number = self.get_configuration_number()
            if self._wire_states is None or self._wire_states.configuration_number != number:
                wires = self.get_wires()
                self._wire_states = WireBuffer(number, wires, np.zeros(len(wires), dtype=_STATE_FIELDS))
            buffer = self._wire_states
            out = ffi.cast("rs_wire_state *", buffer.states.ctypes.data)
            check(lib.rs_world_read_wires(self._world, len(buffer.wires), ffi.NULL, out))
        return buffer

    # ---- snapshots ----

    def _save_wires(self) -> list[tuple[Wire, str, float, str]]:
        return [(wire, wire._name, wire._width, wire._color) for wire in self._wires.values()]

    def _restore_wires(self, kept: list[tuple[Wire, str, float, str]]) -> None:
        self._wires = {wire.get_id(): wire for wire, *_ in kept}
        for wire, name, width, color in kept:
            wire._name, wire._width, wire._color = name, width, color
