"""Adding objects on request: all of it happens, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.robot.kinematic_tree import KinematicTree
from raisim_ros.description.world.interface_settings import InterfaceSettings
from raisim_ros.description.world.types import ArticulatedEntry, ObjectEntry, WorldDescription
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.entries.build import add_description, add_entry
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.engine.objects.handles import Ground
from raisim_ros.engine.types import (
    ArticulatedSystemOption,
)
from raisim_ros.engine.world.world import World
from raisim_ros.ros.conversions import BodyPose, Twist, Vector, finite_vector
from raisim_ros.ros.objects.object_state import apply_control, is_static, set_pose, set_twist
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable
from raisim_ros.ros.robots.joint_commands import uncommanded_control


def choice(what: str, value: str, choices: dict[str, Any]) -> Any:
    """The meaning of a word; raises InvalidValueError, naming the field and the words it knows."""
    if value not in choices:
        raise InvalidValueError(f"{what} is '{value}'; expected one of {', '.join(choices)}")
    return choices[value]


@dataclass(frozen=True)
class Naming:
    """What a new object shall be called."""

    name: str
    allow_renaming: bool = False


@dataclass(frozen=True)
class NewObject:
    """An object to be added, as a world file would describe it; `twist` is that of its origin, None: at rest."""

    naming: Naming
    entry: ObjectEntry
    twist: Twist | None = None


@dataclass(frozen=True)
class RobotSpec:
    """A robot to be added. Coordinates, velocities and gains as the engine orders them; None: not given.

    `described`: what an MJCF file says besides the tree. `state`: one that the file names.
    """

    naming: Naming
    tree: KinematicTree
    construction: ArticulatedSystemOption
    pose: BodyPose
    coordinates: Vector | None
    velocities: Vector | None
    p_gains: Sequence[float] = ()
    d_gains: Sequence[float] = ()
    collision_group: int = 1
    collision_mask: int = -1
    interface: InterfaceSettings = field(default_factory=InterfaceSettings)
    described: tuple[WorldDescription, ArticulatedEntry] | None = None
    state: str = ""


def _gains(what: str, values: Sequence[float], robot: ArticulatedSystem) -> Vector:
    """Gains per degree of freedom; those of a floating base are zero."""
    count = robot.get_dof()
    base = robot.get_joint_type(0).velocity_dim
    if len(values) not in (0, 1, count):
        raise InvalidValueError(f"{what} has {len(values)} numbers; expected 1, {count} or none")
    gains = np.zeros(count)
    if len(values):
        gains[:] = finite_vector(values, what) if len(values) == count else values[0]
    gains[:base] = 0.0
    if not np.isfinite(gains).all() or (gains < 0.0).any():
        raise InvalidValueError(f"{what} is {list(values)}; expected finite numbers that are not negative")
    return gains


def furnish_robot(robot: ArticulatedSystem, spec: RobotSpec) -> None:
    """Gives a new robot its place, its state and its gains; it is then to stay where it is."""
    p_gains, d_gains = _gains("p_gains", spec.p_gains, robot), _gains("d_gains", spec.d_gains, robot)
    robot.set_interface(spec.interface)
    if spec.state:
        robot.set_state(spec.state)
    set_pose(robot, spec.pose)
    if spec.coordinates is not None:
        robot.set_generalized_coordinate(spec.coordinates)
    if spec.velocities is not None:
        robot.set_generalized_velocity(spec.velocities)
    if p_gains.any() or d_gains.any():
        robot.set_pd_gains(p_gains, d_gains)
        robot.set_pd_target(robot.get_generalized_coordinate(), np.zeros(robot.get_dof()))


class Spawner:
    """Adds objects to the world and to the table. For the stepping thread."""

    def __init__(self, world: World, table: ObjectTable) -> None:
        self._world = world
        self._table = table

    def spawn(self, new: NewObject) -> ObjectRow:
        """Adds an object."""

        def furnish(handle: Any) -> None:
            if new.twist is not None and not is_static(handle):
                set_twist(handle, new.twist)

        return self._add(new.naming, lambda: add_entry(self._world, new.entry), furnish)

    def spawn_robot(self, spec: RobotSpec) -> ObjectRow:
        """Adds an articulated system."""

        def add() -> ArticulatedSystem:
            if spec.described is not None:
                return self._world.add_described_robot(*spec.described, spec.collision_group, spec.collision_mask)
            return self._world.add_articulated_system(
                spec.tree,
                collision_group=spec.collision_group,
                collision_mask=spec.collision_mask,
                options=spec.construction,
            )

        return self._add(spec.naming, add, lambda robot: furnish_robot(robot, spec))

    def spawn_entry(self, naming: Naming, entry: ObjectEntry, pose: BodyPose) -> ObjectRow:
        """Adds an object as a world file describes it, at a pose of its own."""

        def add() -> Any:
            add_description(self._world, WorldDescription(source="", objects=[entry]))
            return self._world.get_obj_list()[-1]

        def furnish(handle: Any) -> None:
            if not isinstance(handle, Ground):
                set_pose(handle, pose)

        return self._add(naming, add, furnish)

    def clone(self, source: str, naming: Naming, pose: BodyPose | None, copy_collision: bool) -> ObjectRow:
        """Adds a copy of an object, at a pose of its own or at that of the source."""
        entry = self._table.get(source)
        if isinstance(entry.handle, Ground):
            raise WrongTypeError("a ground cannot be cloned")

        def furnish(handle: Any) -> None:
            if not copy_collision:
                self._world.set_object_material(handle, "default")
                self._world.set_object_collision_filter(handle, 1, -1)
            if pose is not None:
                set_pose(handle, pose)
            if entry.joints is not None:
                apply_control(handle, uncommanded_control(entry))

        return self._add(naming, lambda: self._world.clone_object(entry.handle), furnish)

    def _add(
        self,
        naming: Naming,
        add: Callable[[], Any],
        furnish: Callable[[Any], None],
    ) -> ObjectRow:
        name = self._table.free_name(naming.name, naming.allow_renaming)
        handle = add()
        try:
            furnish(handle)
            return self._table.add(handle, name, spawned=True)
        except Exception:
            self._world.remove_object(handle)
            raise
