"""What can be asked of a running world, apart from adding objects. For the stepping thread, where nothing else is said.

Nothing here knows ROS messages: every interface (the services of this package, and others beside them) calls
the same operations. A failed operation raises a RaisimError and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.world.types import WorldDescription
from raisim_ros.engine.errors import WrongStateError, WrongTypeError
from raisim_ros.engine.objects.wires import Wire
from raisim_ros.engine.world.snapshots import WorldSnapshot
from raisim_ros.engine.world.world import World
from raisim_ros.ros.conversions import BodyPose, Twist, Vector
from raisim_ros.ros.node.stepping import SteppingLoop, StepRequest
from raisim_ros.ros.objects.object_state import has_fixed_base, is_static, restore_state, set_pose, set_twist
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable
from raisim_ros.ros.request_queue import RequestQueue


@dataclass(frozen=True)
class Saved:
    """A whole world and the names of its objects."""

    snapshot: WorldSnapshot
    entries: tuple[ObjectRow, ...]
    wires: tuple[Wire, ...]
    step: int
    sim_time: float


@dataclass(frozen=True)
class JointPlacement:
    """Joints and where they shall be [m, rad] or how fast they shall move [m/s, rad/s]; None: as they are."""

    names: list[str]
    positions: Vector | None
    velocities: Vector | None


@dataclass(frozen=True)
class NewWorld:
    """A world that is to take the place of the one that runs, and the names of its objects."""

    world: World
    table: ObjectTable

    @classmethod
    def build(cls, queue: RequestQueue, running: World, description: WorldDescription) -> NewWorld:
        """Builds what a description says beside the running world, which is not held up. For any other thread."""
        world = queue.call(lambda: running.make_successor(description.count()))
        world.fill(description)
        table = ObjectTable(world)
        table.add_world()
        return cls(world, table)


class Operations:
    """Operations on the world of a loop."""

    def __init__(self, loop: SteppingLoop, on_gone: Callable[[int], None]) -> None:
        """`on_gone` is told the id of every object that leaves the world."""
        self._loop = loop
        self._world = loop.world
        self._on_gone = on_gone
        self._snapshots: dict[str, Saved] = {}
        self._loaded = self._save()

    @property
    def table(self) -> ObjectTable:
        """The objects."""
        return self._loop.table

    # ---- objects ----

    def remove(self, name: str) -> None:
        """Removes an object."""
        self._remove(self.table.get(name))

    def _remove(self, entry: ObjectRow) -> None:
        self._loop.commands.forget(entry.id)
        self._on_gone(entry.id)
        self.table.remove(entry)
        self._world.remove_object(entry.handle)

    def set_state(
        self, name: str, pose: BodyPose | None, twist: Twist | None, joints: JointPlacement | None = None
    ) -> None:
        """Gives an object another pose or velocity at once, and a robot's joints too."""
        entry = self.table.get(name)
        static = is_static(entry.handle)
        moving = twist is not None and bool(twist.linear.any() or twist.angular.any())
        if static and moving:
            raise WrongTypeError(f"'{name}' is static and cannot have a velocity; set_twist must be false")
        if moving and has_fixed_base(entry.handle):
            raise WrongTypeError(f"'{name}' has a fixed base, which cannot have a velocity; set_twist must be false")
        if joints is not None:
            self._place_joints(entry, joints)
        if pose is not None:
            set_pose(entry.handle, pose)
        if twist is not None and not static and not has_fixed_base(entry.handle):
            set_twist(entry.handle, twist)
        # Static transforms and markers are sent only when something was rebuilt.
        if static:
            self._loop.rebuild()

    def _place_joints(self, entry: ObjectRow, joints: JointPlacement) -> None:
        if entry.joints is None:
            raise WrongTypeError(f"'{entry.name}' has no joints; joint_names must be empty")
        places = entry.joints.places(joints.names, "joint_names")
        coordinates, velocities = entry.handle.get_state()
        if joints.positions is not None:
            entry.joints.put_positions(coordinates, places, joints.positions)
        if joints.velocities is not None:
            velocities[entry.joints.u[places]] = joints.velocities
        entry.handle.set_state(coordinates, velocities)

    def set_material(self, name: str, material: str, local_index: int) -> None:
        """Gives an object, or one of its bodies, another material."""
        if not self._world.set_object_material(self.table.get(name).handle, material, local_index):
            raise InvalidValueError(f"local_index is {local_index}; '{name}' has no such body")

    def set_collision_filter(self, name: str, group: int, mask: int, local_index: int) -> None:
        """Gives an object, or one of its bodies, another group and mask."""
        handle = self.table.get(name).handle
        if not self._world.set_object_collision_filter(handle, group, mask, local_index):
            raise InvalidValueError(f"local_index is {local_index}; '{name}' has no such body")

    # ---- time ----

    def pause(self) -> None:
        """Stops time and drops the steps that were asked for."""
        self._loop.cancel_steps()
        self._loop.set_paused(True)

    def play(self) -> None:
        """Lets time run freely."""
        self._loop.throttled = False
        self._loop.set_paused(False)

    def step(self, request: StepRequest) -> None:
        """Takes steps in a world that stands still."""
        if request.steps < 1:
            raise InvalidValueError(f"steps is {request.steps}; expected at least 1")
        if self._loop.free_running:
            raise WrongStateError("the world is playing; pause it before stepping")
        self._loop.request_steps(request)

    # ---- worlds ----

    def load_world(self, new: NewWorld, *, time: bool) -> None:
        """Replaces the world; `time`: it begins at the time of the new one, otherwise time goes on."""
        step, sim_time = self._loop.step, self._world.get_world_time()
        self._world.take_over(new.world)
        self._loop.cancel_steps()
        for entry in self.table.entries():
            self._loop.commands.forget(entry.id)
            self._on_gone(entry.id)
        self.table.take_over(new.table)
        self._loop.set_time(*((0, self._world.get_world_time()) if time else (step, sim_time)))
        self._loaded = self._save()
        self._loop.rebuild()

    # ---- snapshots ----

    def _save(self) -> Saved:
        world = self._world
        wires = tuple(world.get_wires())
        return Saved(world.save_snapshot(), self.table.entries(), wires, self._loop.step, world.get_world_time())

    def save_snapshot(self, name: str) -> None:
        """Keeps the world under a name."""
        if not name:
            raise InvalidValueError("name is empty; a snapshot needs one")
        self._snapshots[name] = self._save()

    def restore_snapshot(self, name: str, restore_time: bool) -> None:
        """Returns to a kept world."""
        saved = self._snapshots.get(name)
        if saved is None:
            known = ", ".join(sorted(self._snapshots)) or "none"
            raise InvalidValueError(f"no snapshot is named '{name}'; there are: {known}")
        step, sim_time = self._loop.step, self._world.get_world_time()
        self._restore(saved)
        if restore_time:
            step, sim_time = saved.step, saved.sim_time
        self._loop.set_time(step, sim_time)

    def _restore(self, saved: Saved) -> None:
        self._loop.cancel_steps()
        kept = {entry.id for entry in saved.entries}
        for entry in self.table.entries():
            self._loop.commands.forget(entry.id)
            if entry.id not in kept:
                self._on_gone(entry.id)
        self._world.restore_snapshot(saved.snapshot)
        self.table.restore(saved.entries)
        self._loop.rebuild()

    def reset(self, *, state: bool, spawned: bool, time: bool) -> None:
        """Returns to the loaded world: its states, its objects, its time, or any of them."""
        if not (state or spawned or time):
            raise InvalidValueError("state, spawned and time are all false; expected at least one of them")
        self._loop.cancel_steps()
        step, sim_time = self._loop.step, self._world.get_world_time()
        if state and spawned:
            self._restore(self._loaded)
        elif spawned:
            for wire in self._world.get_wires():
                if wire not in self._loaded.wires:
                    self._world.remove_object(wire)
            for entry in self.table.entries():
                if entry.spawned:
                    self._remove(entry)
        elif state:
            for entry in self.table.entries():
                self._reset_state(entry)
        self._loop.set_time(*((0, 0.0) if time else (step, sim_time)))

    def _reset_state(self, entry: ObjectRow) -> None:
        self._loop.commands.forget(entry.id)
        restore_state(entry.handle, entry.initial)
