"""Wires of world files: from their entries to wires in a world, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raisim_ros.description.errors import NOWHERE, InvalidValueError, ParseError
from raisim_ros.description.world.types import Numbers, WireEndEntry, WireEntry
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.wires import StretchType, Wire, WireType

if TYPE_CHECKING:
    from raisim_ros.engine.world.world import World

STRETCH_TYPES = {
    "stretch_only": StretchType.STRETCH_RESISTANT_ONLY,
    "compression_only": StretchType.COMPRESSION_RESISTANT_ONLY,
    "both": StretchType.BOTH,
}
_STRETCH_NAMES = {value: name for name, value in STRETCH_TYPES.items()}


def add_wire_entry(world: World, entry: WireEntry, objects: Sequence[Object]) -> Wire:
    """Add one wire; `objects` are those of the same description. Mistakes are told with their place in the file."""
    try:
        first, second = (find_end(world, end, objects) for end in entry.ends)
        wire = make_wire(world, entry, first, second)
        wire.set_name(entry.name)
    except (InvalidValueError, WrongTypeError) as error:
        raise ParseError(entry.place.file, entry.place.line, f"<wire>: {error}") from error
    return wire


def make_wire(world: World, entry: WireEntry, first: Object, second: Object) -> Wire:
    """Add a nameless wire between two objects; on any error the world is as it was."""
    ends = (*_mount(first, entry.ends[0]), *_mount(second, entry.ends[1]))
    if entry.type == "stiff":
        wire = world.add_stiff_wire(*ends, entry.length)
    elif entry.type == "compliant":
        wire = world.add_compliant_wire(*ends, entry.length, entry.stiffness, entry.explicit)
    else:
        wire = world.add_custom_wire(*ends, entry.length)
    try:
        if entry.type == "custom":
            wire.set_tension(entry.tension)
        wire.set_stretch_type(STRETCH_TYPES[entry.stretch_type])
        wire.set_visualization_width(entry.width)
        wire.set_color(entry.color)
    except BaseException:
        world.remove_object(wire)
        raise
    return wire


def _mount(obj: Object, end: WireEndEntry) -> tuple[Object, int | str, Numbers]:
    return obj, end.local_index if end.frame is None else end.frame, end.position


def find_end(world: World, end: WireEndEntry, objects: Sequence[Object]) -> Object:
    """The object by its place or name among those of the file, else by its name in the world."""
    if end.index is not None:
        if end.index >= len(objects):
            raise InvalidValueError(f"object index is {end.index}; expected 0 to {len(objects) - 1}")
        return objects[end.index]
    found = next((one for one in objects if one.get_name() == end.name), None) or world.get_object(end.name)
    if found is None:
        raise InvalidValueError(f"no object is named '{end.name}'")
    return found


def describe_wire(wire: Wire, objects: Sequence[Object]) -> WireEntry:
    """The entry of a wire; objects without a name of their own are told by their place in the list."""
    ends = (
        describe_end(wire.get_body1(), wire.get_local_idx1(), tuple(map(float, wire.get_ob1_mount_pos())), objects),
        describe_end(wire.get_body2(), wire.get_local_idx2(), tuple(map(float, wire.get_ob2_mount_pos())), objects),
    )
    kind = wire.get_wire_type()
    return WireEntry(
        NOWHERE,
        ends,
        kind.name.lower(),
        wire.get_length(),
        name=wire.get_name(),
        stiffness=wire.get_stiffness(),
        tension=wire.get_tension() if kind == WireType.CUSTOM else 0.0,
        stretch_type=_STRETCH_NAMES[wire.get_stretch_type()],
        explicit=wire.get_explicit(),
        width=wire.get_visualization_width(),
        color=wire.get_color(),
    )


def describe_end(obj: Object, local_index: int, position: Numbers, objects: Sequence[Object]) -> WireEndEntry:
    name = obj.get_name()
    if name and sum(one.get_name() == name for one in objects) == 1:
        return WireEndEntry(name, None, local_index, position)
    return WireEndEntry("", objects.index(obj), local_index, position)
