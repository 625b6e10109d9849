"""Every wire of the world with its ROS name. Belongs to the stepping thread."""

from __future__ import annotations

from dataclasses import dataclass

from raisim_ros.engine.objects.wires import StretchType, Wire, WireType
from raisim_ros.engine.world.world import World
from raisim_ros.ros import names
from raisim_ros.ros.objects.object_table import NameTakenError, ObjectTable, UnknownObjectError

TYPE_NAMES = {kind: kind.name.lower() for kind in WireType}
STRETCH_NAMES = {
    StretchType.STRETCH_RESISTANT_ONLY: "stretch_only",
    StretchType.COMPRESSION_RESISTANT_ONLY: "compression_only",
    StretchType.BOTH: "both",
}


@dataclass(frozen=True)
class WireRow:
    """One wire: topics below `<name>`, between two objects of these ROS names."""

    wire: Wire
    name: str
    type: str  # as in WireState
    object1: str
    object2: str


class WireTable:
    """Finds the wires of the world and gives each a name that no object has."""

    def __init__(self, world: World, objects: ObjectTable) -> None:
        self._world = world
        self._objects = objects
        self._entries: dict[Wire, WireRow] = {}
        objects.reserve_names(lambda: {entry.name for entry in self._present().values()})

    def _present(self) -> dict[Wire, WireRow]:
        """Those known that are still in the world."""
        return {wire: self._entries[wire] for wire in self._world.get_wires() if wire in self._entries}

    def entries(self) -> list[WireRow]:
        """All wires, in the order in which they were made. New ones are named."""
        self._entries = self._present()
        new = [wire for wire in self._world.get_wires() if wire not in self._entries]
        taken = self._taken() if new else names.Taken()
        for wire in new:
            name = taken.unique(names.sanitise(wire.get_name()) or "wire")
            taken.add(name)
            self._add(wire, name)
        return [self._entries[wire] for wire in self._world.get_wires()]

    def get(self, name: str) -> WireRow:
        """A wire by its ROS name."""
        found = next((entry for entry in self.entries() if entry.name == name), None)
        if found is None:
            known = ", ".join(entry.name for entry in self.entries()) or "none"
            raise UnknownObjectError(f"no wire is named '{name}'; there are: {known}")
        return found

    def check_name(self, wanted: str, allow_renaming: bool) -> str:
        """The ROS name for a new wire."""
        self.entries()
        name, taken = names.sanitise(wanted), self._taken()
        if name and taken.is_free(name):
            return name
        if not allow_renaming:
            reason = "is taken or reserved" if name else "is empty or has no letter or digit"
            raise NameTakenError(f"wire name '{wanted}' {reason}; give another one, or set allow_renaming")
        return taken.unique(name or "wire")

    def _taken(self) -> names.Taken:
        return names.Taken([*(entry.name for entry in self._objects), *(one.name for one in self._entries.values())])

    def add(self, wire: Wire, name: str) -> WireRow:
        """Notes a new wire under a name from `check_name`."""
        return self._add(wire, name)

    def _add(self, wire: Wire, name: str) -> WireRow:
        wire.set_name(name)
        first, second = (self._objects.by_id(end.get_id()).name for end in (wire.get_body1(), wire.get_body2()))
        entry = WireRow(wire, name, TYPE_NAMES[wire.get_wire_type()], first, second)
        self._entries[wire] = entry
        return entry
