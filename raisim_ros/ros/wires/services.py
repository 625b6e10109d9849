"""Services about wires."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import raisim_ros.srv as srv
from raisim_ros.description.appearance import check_appearance
from raisim_ros.description.errors import NOWHERE, InvalidValueError
from raisim_ros.description.world.types import WireEndEntry, WireEntry
from raisim_ros.engine.entries.build_wires import STRETCH_TYPES, make_wire
from raisim_ros.engine.world.world import World
from raisim_ros.ros.conversions import vector_from_xyz
from raisim_ros.ros.objects.object_table import ObjectTable
from raisim_ros.ros.objects.spawning import choice
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.wires.table import TYPE_NAMES, WireTable

Handler = Callable[[Any, Any], str]

_DEFAULT_STRETCH = {"stiff": "stretch_only", "compliant": "stretch_only", "custom": "compression_only"}


class WireServices:
    """Handlers for `Services`: they raise what is wrong and return what was done."""

    def __init__(self, queue: RequestQueue, world: World, objects: ObjectTable, wires: WireTable) -> None:
        self._queue = queue
        self._world = world
        self._objects = objects
        self._wires = wires
        # Those after whose answer topics must exist, or be gone.
        self.changing: dict[str, tuple[Any, Handler]] = {
            "spawn_wire": (srv.SpawnWire, self._spawn),
            "remove_wire": (srv.RemoveWire, self._remove),
        }
        self.plain: dict[str, tuple[Any, Handler]] = {"list_wires": (srv.ListWires, self._list)}

    def _spawn(self, request: Any, response: Any) -> str:
        entry = _entry(request)

        def tie() -> None:
            handles = [self._objects.get(end.name).handle for end in entry.ends]
            name = self._wires.check_name(request.name, request.allow_renaming)
            made = self._wires.add(make_wire(self._world, entry, handles[0], handles[1]), name)
            response.name, response.id = made.name, made.wire.get_id()

        self._queue.call(tie)
        return f"'{response.name}' ties '{request.object1}' to '{request.object2}'"

    def _remove(self, request: Any, response: Any) -> str:
        self._queue.call(lambda: self._world.remove_object(self._wires.get(request.name).wire))
        return f"removed '{request.name}'"

    def _list(self, request: Any, response: Any) -> str:
        entries = self._queue.call(self._wires.entries)
        response.names = [entry.name for entry in entries]
        response.ids = [entry.wire.get_id() for entry in entries]
        response.types = [entry.type for entry in entries]
        response.objects1 = [entry.object1 for entry in entries]
        response.objects2 = [entry.object2 for entry in entries]
        return f"{len(entries)} wires"


def _entry(request: Any) -> WireEntry:
    """What a world file would say."""
    kind = choice("type", request.type, {name: name for name in TYPE_NAMES.values()})
    stretch = request.stretch_type or _DEFAULT_STRETCH[kind]
    choice("stretch_type", stretch, STRETCH_TYPES)
    if kind == "compliant" and not request.stiffness > 0.0:
        raise InvalidValueError(f"stiffness is {request.stiffness:g}; a compliant wire needs more than 0 N/m")
    check_appearance(request.color, "color")
    first, second = (_end(request, number) for number in (1, 2))
    return WireEntry(
        NOWHERE,
        (first, second),
        kind,
        request.length,
        stiffness=request.stiffness,
        tension=request.tension,
        stretch_type=stretch,
        explicit=request.explicit_integration,
        width=request.width,
        color=request.color,
    )


def _end(request: Any, number: int) -> WireEndEntry:
    position = vector_from_xyz(getattr(request, f"position{number}"), f"position{number}")
    return WireEndEntry(
        getattr(request, f"object{number}"),
        None,
        getattr(request, f"local_index{number}"),
        tuple(map(float, position)),
        getattr(request, f"frame{number}") or None,
    )
