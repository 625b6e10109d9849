"""Wires: handles of what ties two objects together."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arguments import Vector
from raisim_ros.engine.errors import ObjectRemovedError, WrongTypeError, check
from raisim_ros.engine.known_names import KnownNames
from raisim_ros.engine.objects.object_handle import Object

if TYPE_CHECKING:
    from raisim_ros.engine.objects.home import Home

DEFAULT_WIDTH = 0.01


class WireType(IntEnum):
    """What keeps a wire's length: nothing gives way, a spring, or the tension that the user sets."""

    STIFF = lib.RS_WIRE_STIFF
    COMPLIANT = lib.RS_WIRE_COMPLIANT
    CUSTOM = lib.RS_WIRE_CUSTOM


class StretchType(IntEnum):
    """What stiff and compliant wires resist."""

    STRETCH_RESISTANT_ONLY = lib.RS_WIRE_STRETCH_ONLY
    COMPRESSION_RESISTANT_ONLY = lib.RS_WIRE_COMPRESSION_ONLY
    BOTH = lib.RS_WIRE_BOTH


class Wire(KnownNames):
    """A wire of a world. Using it after it was removed, or went with an object, raises ObjectRemovedError."""

    _world: Home
    _id: int
    _name: str
    _width: float
    _color: str

    def __init__(self, world: Home, wire_id: int) -> None:
        self._world = world
        self._id = wire_id
        self._name = ""
        self._width = DEFAULT_WIDTH
        self._color = ""

    def __repr__(self) -> str:
        name = f" '{self._name}'" if self._name else ""
        return f"<Wire {self._id}{name}>"

    def _definition(self) -> Any:
        out = ffi.new("rs_wire_def *")
        check(lib.rs_wire_get_def(self._world._world, self._id, out))
        return out

    def _state(self) -> Any:
        out = ffi.new("rs_wire_state *")
        check(lib.rs_wire_get_state(self._world._world, self._id, out))
        return out

    def _set(self, **values: float) -> None:
        with self._world.locked():
            definition = self._definition()
            for name, value in values.items():
                setattr(definition.properties, name, value)
            check(
                lib.rs_wire_set_properties(self._world._world, self._id, ffi.addressof(definition, "properties"))
            )

    def _alive(self) -> None:
        if not lib.rs_wire_is_alive(self._world._world, self._id):
            raise ObjectRemovedError(f"{self!r} was removed from its world")

    # ---- identity and look ----

    def get_id(self) -> int:
        """Stable number of the wire, never reused within a world, not by objects either."""
        return self._id

    def set_name(self, name: str) -> None:
        """Give the wire a name; look-ups return the first wire of a name."""
        self._alive()
        self._name = arguments.text("name", name)

    def get_name(self) -> str:
        """The name, empty when none was given."""
        return self._name

    def set_visualization_width(self, width: float) -> None:
        """Set how thick the wire is drawn [m]; physics does not see it."""
        self._alive()
        value = arguments.number("width", width)
        if not (np.isfinite(value) and value > 0.0):
            raise InvalidValueError(f"width is {value}; expected a positive number")
        self._width = value

    def get_visualization_width(self) -> float:
        """How thick the wire is drawn [m]."""
        return self._width

    def set_color(self, color: str) -> None:
        """Set the look: a colour name or "r g b a" (0..1); empty colours by tension."""
        self._alive()
        self._color = arguments.text("color", color)

    def get_color(self) -> str:
        """The colour, empty when it is coloured by tension."""
        return self._color

    # ---- ends ----

    def get_body1(self) -> Object:
        """The object at the first end."""
        return self._body(0)

    def get_body2(self) -> Object:
        """The object at the second end."""
        return self._body(1)

    def _body(self, end: int) -> Object:
        with self._world.locked():
            return self._world._handle_of(int(self._definition().object[end]))

    def get_local_idx1(self) -> int:
        """Body of the first object; 0 for single bodies."""
        return int(self._definition().local[0])

    def get_local_idx2(self) -> int:
        """Body of the second object; 0 for single bodies."""
        return int(self._definition().local[1])

    def get_ob1_mount_pos(self) -> Vector:
        """First end in the frame of its body [m]."""
        return np.array(list(self._definition().point[0]))

    def get_ob2_mount_pos(self) -> Vector:
        """Second end in the frame of its body [m]."""
        return np.array(list(self._definition().point[1]))

    def get_p1(self) -> Vector:
        """First end, world frame [m]."""
        return np.array(list(self._state().point[0]))

    def get_p2(self) -> Vector:
        """Second end, world frame [m]."""
        return np.array(list(self._state().point[1]))

    def get_norm(self) -> Vector:
        """Unit vector from the first end to the second, world frame."""
        state = self._state()  # must live until its numbers are copied
        return np.array(list(state.normal))

    # ---- length and tension ----

    def get_wire_type(self) -> WireType:
        """What keeps the wire's length."""
        return WireType(self._definition().properties.type)

    def get_stretch_type(self) -> StretchType:
        """What a stiff or compliant wire resists."""
        return StretchType(self._definition().properties.stretch_type)

    def set_stretch_type(self, stretch_type: StretchType) -> None:
        """Set what a stiff or compliant wire resists; a custom wire pulls in any case."""
        self._set(stretch_type=int(arguments.choice("stretch_type", StretchType, stretch_type)))

    def get_length(self) -> float:
        """Length at rest [m]."""
        return float(self._definition().properties.length)

    def set_length(self, length: float) -> None:
        """Set the length at rest [m], as a winch does; a stiff wire follows by at most 1 m/s."""
        self._set(length=arguments.number("length", length))

    def get_distance(self) -> float:
        """Distance of the two ends [m]."""
        return float(self._state().distance)

    def get_stretch(self) -> float:
        """Distance of the ends minus length [m]."""
        return float(self._state().stretch)

    def get_tension(self) -> float:
        """Force along the wire, positive when it pulls its ends together [N].

        Stiff: mean over the last step. Compliant: that of the present stretch. Custom: as set.
        """
        return float(self._state().tension)

    def _check_type(self, wanted: WireType, what: str) -> None:
        if self.get_wire_type() != wanted:
            raise WrongTypeError(f"{self!r} is {self.get_wire_type().name}; only a {wanted.name} wire {what}")

    def set_tension(self, tension: float) -> None:
        """Set the tension of a custom wire, positive pulls [N]; it acts until it is set again."""
        self._check_type(WireType.CUSTOM, "takes a tension")
        self._set(tension=arguments.number("tension", tension))

    def get_stiffness(self) -> float:
        """Stiffness of a compliant wire [N/m]; 0 for others."""
        return float(self._definition().properties.stiffness)

    def set_stiffness(self, stiffness: float) -> None:
        """Set the stiffness of a compliant wire [N/m]."""
        self._check_type(WireType.COMPLIANT, "has a stiffness")
        self._set(stiffness=arguments.number("stiffness", stiffness))

    def get_explicit(self) -> bool:
        """True when a compliant wire is integrated explicitly."""
        return bool(self._definition().properties.explicit_spring)

    def set_explicit(self, explicit: bool) -> None:
        """Integrate a compliant wire explicitly: unstable when dt * sqrt(stiffness / mass) exceeds 2."""
        self._check_type(WireType.COMPLIANT, "is a spring")
        self._set(explicit_spring=int(arguments.flag("explicit", explicit)))

    def get_energy(self) -> float:
        """Energy stored in the spring of a compliant wire [J]; 0 for others."""
        if self.get_wire_type() != WireType.COMPLIANT:
            return 0.0
        return 0.5 * self.get_tension() * self.get_stretch()
