"""Every object of the world with its ROS name. Belongs to the stepping thread."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from raisim_ros.description.errors import RaisimError
from raisim_ros.description.shapes import ObjectType
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.types import BodyType
from raisim_ros.engine.world.world import World
from raisim_ros.ros import names
from raisim_ros.ros.objects.object_state import ObjectSnapshot, capture_state
from raisim_ros.ros.robots.robot_joints import JointsBelow, RobotJoints

TYPE_NAMES = {object_type: object_type.name.lower() for object_type in ObjectType}
BODY_TYPE_NAMES = {body_type: body_type.name.lower() for body_type in BodyType}


class NameTakenError(RaisimError):
    """The name is used by another object or by the node, or it is empty."""


class UnknownObjectError(RaisimError):
    """No object has that name."""


@dataclass(frozen=True)
class LinkRow:
    """A link of a robot that has topics of its own."""

    id: int  # of the robot
    body: int
    name: str  # <robot>/<link>
    handle: ArticulatedSystem
    joints: JointsBelow
    type: str = "link"
    body_type: str = "dynamic"

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from all other links."""
        return self.id, self.body

    @property
    def interface(self) -> InterfaceSettings:
        """What its topics hold, and how often: as those of the robot."""
        return self.handle.get_interface()


@dataclass(frozen=True)
class ObjectRow:
    """One object: everything about it that the ROS side must remember."""

    id: int
    name: str
    type: str  # as in ObjectState
    body_type: str  # dynamic, kinematic or static
    handle: Any
    spawned: bool  # not part of the loaded world
    initial: ObjectSnapshot  # what a reset gives back to it
    joints: RobotJoints | None = None  # of an articulated system
    links: tuple[LinkRow, ...] = ()  # with topics of their own: none, or body 1, 2, …

    @property
    def key(self) -> int:
        """What tells it from all other objects."""
        return self.id

    @property
    def interface(self) -> InterfaceSettings:
        """What its topics hold, and how often."""
        settings: InterfaceSettings = self.handle.get_interface()
        return settings


def _links(robot: ArticulatedSystem, name: str, joints: RobotJoints) -> tuple[LinkRow, ...]:
    """The links of a robot that have topics of their own; the base has those of the robot."""
    if not robot.get_interface().publish_links:
        return ()
    taken = names.Taken()
    entries = []
    for body, link in enumerate(robot.get_body_names()[1:], start=1):
        own = taken.unique(names.sanitise(link).replace("/", "_") or "link")
        taken.add(own)
        entries.append(LinkRow(robot.get_id(), body, f"{name}/{own}", robot, joints.below(body)))
    return tuple(entries)


class ObjectTable:
    """Objects by ROS name and by id; `rows` are in the order of the world's object list."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._by_id: dict[int, ObjectRow] = {}
        self._by_name: dict[str, ObjectRow] = {}
        self._taken = names.Taken()
        self._names_of_others: Callable[[], set[str]] = set
        self._rows: tuple[int, list[ObjectRow]] = (-1, [])  # with the configuration they are of

    def __iter__(self) -> Iterator[ObjectRow]:
        return iter(self._by_id.values())

    def __len__(self) -> int:
        return len(self._by_id)

    def get(self, name: str) -> ObjectRow:
        """The object of that name."""
        entry = self._by_name.get(name)
        if entry is None:
            raise UnknownObjectError(f"no object is named '{name}'")
        return entry

    def by_id(self, object_id: int) -> ObjectRow:
        """The object of that id, which must exist."""
        return self._by_id[object_id]

    def rows(self) -> list[ObjectRow]:
        """Entries in the order of the world's object list."""
        configuration = self._world.get_configuration_number()
        if self._rows[0] != configuration:
            found = [self._by_id[handle.get_id()] for handle in self._world.get_obj_list()]
            self._rows = (configuration, found)
        return list(self._rows[1])

    def reserve_names(self, names_of_others: Callable[[], set[str]]) -> None:
        """Objects shall not take the names of what else has topics: of wires."""
        self._names_of_others = names_of_others

    def free_name(self, wanted: str, allow_renaming: bool) -> str:
        """The ROS name for a new object that shall be called `wanted`; empty: to be named by type and id."""
        name = names.sanitise(wanted)
        others = names.Taken(self._names_of_others())
        if name and self._taken.is_free(name) and others.is_free(name):
            return name
        if allow_renaming:
            return self._taken.unique(name, others) if name else ""
        if not name:
            reason = "is empty" if not wanted else "has no letter or digit"
        else:
            reason = "is reserved" if name.split("/")[0] in names.RESERVED else "is already taken, or one of its levels"
        raise NameTakenError(f"name '{wanted}' {reason}; give another one, or set allow_renaming")

    def add(self, handle: Any, name: str, *, spawned: bool) -> ObjectRow:
        """Notes a new object under a name from `free_name`."""
        object_id = handle.get_id()
        type_name = TYPE_NAMES[handle.get_object_type()]
        ros_name = name or self._taken.unique(f"{type_name}_{object_id}")
        handle.set_name(ros_name)
        robot = isinstance(handle, ArticulatedSystem)
        # A robot moves, also on a fixed base.
        body_type = BODY_TYPE_NAMES[BodyType.DYNAMIC if robot else handle.get_body_type()]
        joints = RobotJoints(handle) if robot else None
        state = capture_state(handle)
        links = () if joints is None else _links(handle, ros_name, joints)
        entry = ObjectRow(object_id, ros_name, type_name, body_type, handle, spawned, state, joints, links)
        self._insert(entry)
        return entry

    def add_world(self) -> None:
        """Notes every object of a freshly loaded world; names that occur twice are made unique."""
        for handle in self._world.get_obj_list():
            self.add(handle, self.free_name(handle.get_name(), True), spawned=False)

    def remove(self, entry: ObjectRow) -> None:
        """Forgets an object."""
        del self._by_id[entry.id]
        del self._by_name[entry.name]
        self._taken.remove(entry.name)
        self._rows = (-1, [])

    def entries(self) -> tuple[ObjectRow, ...]:
        """What `restore` needs to return to this table."""
        return tuple(self._by_id.values())

    def restore(self, entries: tuple[ObjectRow, ...]) -> None:
        """Returns to an earlier table; the world has already returned to the objects of that time."""
        self._by_id.clear()
        self._by_name.clear()
        self._taken.clear()
        for entry in entries:
            self._insert(entry)

    def take_over(self, other: ObjectTable) -> None:
        """Becomes the table of another world, which this table's world has taken over."""
        self._by_id, self._by_name, self._taken = other._by_id, other._by_name, other._taken
        self._rows = (-1, [])

    def _insert(self, entry: ObjectRow) -> None:
        self._by_id[entry.id] = entry
        self._by_name[entry.name] = entry
        self._taken.add(entry.name)
        self._rows = (-1, [])
