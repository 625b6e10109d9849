"""WorldBatch: thousands of copies of one world."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.description.terrain import HeightMapData
from raisim_ros.description.xml.template import Parameters
from raisim_ros.engine import arguments
from raisim_ros.engine._library import ffi, lib
from raisim_ros.engine.arrays import c_array
from raisim_ros.engine.articulated.system import ArticulatedSystem
from raisim_ros.engine.batch.channels import EngineBatch, Members, Rows, put
from raisim_ros.engine.batch.object_batch import ObjectBatch, RobotBatch
from raisim_ros.engine.errors import WrongTypeError, check
from raisim_ros.engine.known_names import KnownNames
from raisim_ros.engine.objects.body_owner import BodyOwner
from raisim_ros.engine.objects.object_handle import Object
from raisim_ros.engine.objects.surface_handles import HeightMap
from raisim_ros.engine.world import stored
from raisim_ros.engine.world.core import SLICE
from raisim_ros.engine.world.doubts import tell_doubts
from raisim_ros.engine.world.world import World

Maps = Mapping[int, HeightMapData]  # heightmaps that a member was given, by the ids of the objects


class MemberSnapshot:
    """Everything that decides a member's future, at one moment. Made by WorldBatch.save(); it can be pickled, and
    restored in any batch of worlds of the same make."""

    def __init__(self, world: Any, maps: Maps) -> None:
        self._snapshot = stored.engine_snapshot(world)
        self._bytes = b""  # of one that was pickled, until a batch takes it
        self._time = float(lib.rs_world_time(world))
        self._maps: Maps = dict(maps)

    def __getstate__(self) -> tuple[bytes, float, Maps]:
        return self._bytes or stored.engine_bytes(self._snapshot), self._time, self._maps

    def __setstate__(self, state: tuple[bytes, float, Maps]) -> None:
        self._snapshot = None
        self._bytes, self._time, self._maps = state

    def _lean(self) -> MemberSnapshot:
        """The same as bytes, without the meshes that its batch has."""
        made = MemberSnapshot.__new__(MemberSnapshot)
        made.__setstate__((stored.engine_bytes(self._snapshot, bool(self._maps)), self._time, self._maps))
        return made

    def __copy__(self) -> MemberSnapshot:
        return self  # it never changes

    def __deepcopy__(self, memo: dict[int, Any]) -> MemberSnapshot:
        return self

    def _for(self, world: Any) -> Any:
        """The engine's snapshot, which shares the meshes of a member."""
        if self._snapshot is None:
            self._snapshot, self._bytes = stored.engine_snapshot_of(self._bytes, world), b""
        return self._snapshot

    def __repr__(self) -> str:
        return f"<MemberSnapshot at {self._time:.6g} s>"


class WorldBatch(KnownNames):
    """Copies of one world that share its meshes, stepped by threads in one call without the interpreter lock.

    Members are independent, and bit for bit what a lone World does that is treated alike, whatever the number of
    threads. Their start, to which reset() leads back, is the state of the world that was copied. Sensors of sensor
    sets do not measure in a batch: see the sensors of ObjectBatch. Calls of several threads
    wait for one another; what they write to the arrays meanwhile is theirs to order.
    """

    def __init__(
        self,
        world: World | str | Path,
        count: int,
        threads: int | None = None,
        params: Parameters = None,
    ) -> None:
        """`world`: a World, which stays as it is, or a world file; `threads`: None for one per processor."""
        self._source = (world if isinstance(world, World) else World(world, params)).copy()
        tell_doubts(self._source)
        processors = len(os.sched_getaffinity(0))
        self._threads = processors if threads is None else arguments.count("threads", threads, 1)
        self._engine = EngineBatch(self._source._world, arguments.count("count", count, 1), self._threads)
        marks = ffi.buffer(self._engine.held(lib.rs_batch_diverged(self._engine.batch)), count)
        self._diverged: NDArray[np.uint8] = np.frombuffer(marks, dtype=np.uint8)
        self._objects: dict[int, ObjectBatch] = {}
        self._maps: dict[int, Maps] = {}  # by member

    def __len__(self) -> int:
        return self._engine.count

    def __repr__(self) -> str:
        return f"<WorldBatch of {len(self)} members, {self._threads} threads>"

    @property
    def threads(self) -> int:
        """Threads that step the members."""
        return self._threads

    # ---- what the members hold ----

    def object(self, name_or_object: str | Object) -> ObjectBatch:
        """One object in all members, by its name or by its handle in the world that was copied."""
        source = self._find(name_or_object)
        key = source.get_id()
        if key not in self._objects:
            kind = RobotBatch if isinstance(source, ArticulatedSystem) else ObjectBatch
            self._objects[key] = kind(self._engine, source)
        return self._objects[key]

    def robot(self, name_or_object: str | Object | None = None) -> RobotBatch:
        """A robot in all members; None: the only one of the world."""
        if name_or_object is None:
            robots = [one for one in self._source.get_obj_list() if isinstance(one, ArticulatedSystem)]
            if len(robots) != 1:
                raise InvalidValueError(f"the world has {len(robots)} robots; expected the name of one")
            name_or_object = robots[0]
        found = self.object(name_or_object)
        if not isinstance(found, RobotBatch):
            raise WrongTypeError(f"{name_or_object!r} is not a robot")
        return found

    def _find(self, name_or_object: str | Object) -> BodyOwner:
        if isinstance(name_or_object, str):
            found = self._source.get_object(name_or_object)
        else:
            found = self._source.get_object_by_id(arguments.instance("object", name_or_object, Object).get_id())
        if not isinstance(found, BodyOwner):
            names = sorted(one.get_name() for one in self._source.get_obj_list() if one.get_name())
            raise InvalidValueError(
                f"no object {name_or_object!r} in the batch; there are {', '.join(names) or 'no names'}"
            )
        return found

    @property
    def times(self) -> Rows:
        """Simulated time of each member [s]; (N,), read only."""
        return self._engine.array(lib.RS_CHANNEL_TIME, ())

    @property
    def gravity(self) -> Rows:
        """Gravitational acceleration of each member [m/s^2]; (N, 3)."""
        return self._engine.array(lib.RS_CHANNEL_GRAVITY, (3,))

    @gravity.setter
    def gravity(self, values: Any) -> None:
        put("gravity", self.gravity, values)

    def material_pair(self, material_a: str = "default", material_b: str = "default") -> Rows:
        """Properties of a pair of materials; (N, 7): friction, restitution, restitution threshold [m/s], static
        friction, static friction threshold [m/s], rolling and spinning friction [m]."""
        a, b = self._source._material(material_a), self._source._material(material_b)
        return self._engine.array(lib.RS_CHANNEL_MATERIAL, (7,), material_a=a, material_b=b)

    @property
    def diverged(self) -> NDArray[np.bool_]:
        """Members whose state was no longer finite in the last step(): they are back at the start; (N,)."""
        return self._diverged.view(np.bool_)

    # ---- stepping ----

    def step(self, substeps: int = 1) -> None:
        """Carry over what was written, advance all members by a number of time steps, and fill all arrays.

        A value that the engine refuses is an error that names the member, and no member is stepped. A member that
        diverges is marked in `diverged` and back at the start; the others go on. Ctrl-C is answered within 50 ms or one
        step, whichever is longer; the steps made until then stay.
        """
        left, done = arguments.count("substeps", substeps), ffi.new("int64_t *")
        go_on = False
        try:
            while left > 0 or not go_on:
                status = lib.rs_batch_step(self._engine.batch, left, SLICE, go_on, done)
                left, go_on = left - done[0], True
                check(status)
        except KeyboardInterrupt:
            self.refresh()
            raise

    def refresh(self, members: Members = None) -> None:
        """Carry over what was written and fill all arrays, without a step: of all members, or of some."""
        number, pointer, _ = self._engine.members(members)
        self._engine.refresh(number, pointer)

    def reset(
        self,
        members: Members = None,
        states: Mapping[str | Object, tuple[Any, Any]] | None = None,
        snapshot: MemberSnapshot | None = None,
    ) -> None:
        """Bring members (a mask, numbers; None: all) back to the start, or to the state in a snapshot of a member.

        States, commands and times go back; parameters, and what is static, stay as they are. `states` then sets
        coordinates and velocities of robots, by their names: one row for all of `members`, or one row each.
        """
        number, pointer, _ = self._engine.members(members)
        if states is not None and not isinstance(states, Mapping):
            raise InvalidValueError(f"states is {arguments.shown(states)}; expected pairs by the names of robots")
        wanted = [(self.robot(name), pair) for name, pair in (states or {}).items()]
        for robot, pair in wanted:
            if not isinstance(pair, Sequence) or len(pair) != 2:
                raise InvalidValueError(f"states has {arguments.shown(pair)}; expected coordinates and velocities")
            robot._state_rows(*pair, number)
        start = ffi.NULL
        if snapshot is not None:
            start = arguments.instance("snapshot", snapshot, MemberSnapshot)._for(self._member(0))
        check(lib.rs_batch_reset(self._engine.batch, number, pointer, start))
        for robot, (coordinates, velocities) in wanted:
            robot.set_state(coordinates, velocities, members)

    def set_heightmap(self, heightmap: str | Object, heights: Any, choice: Any = None, members: Members = None) -> None:
        """Give members other heights [m] of a heightmap, of the same size and number of samples.

        `heights`: maps x y-samples x x-samples. `choice`: the map of each member; None: map k for the k-th of them.
        Members with the same map share it.
        """
        source = self._find(heightmap)
        if not isinstance(source, HeightMap):
            raise WrongTypeError(f"{source!r} is not a heightmap")
        maps = arguments.table("heights", heights, (shape[0] if len(shape := arguments.shape(heights)) == 3 else 1, -1))
        number, pointer, listed = self._engine.members(members)
        chosen = arguments.table("choice", np.arange(number) if choice is None else choice, (number,), np.int64)
        check(
            lib.rs_batch_set_heightmap(
                self._engine.batch,
                number,
                pointer,
                source._engine_id,
                *maps.shape,
                c_array(maps),
                c_array(chosen),
            )
        )
        shape = source.get_y_samples(), source.get_x_samples()
        given = [replace(source.get_data(), heights=one.reshape(shape)) for one in maps]
        for member, one in zip(range(number) if listed is None else listed.tolist(), chosen, strict=True):
            self._maps[member] = {**self._maps.get(member, {}), source.get_id(): given[one]}

    # ---- copies ----

    def copy(self) -> WorldBatch:
        """An independent batch with the same start, whose members are as these are now."""
        self.refresh()  # what was written belongs to it
        return _rebuilt(self._source, self._threads, [self.save(k) for k in range(len(self))], self.diverged)

    def __copy__(self) -> WorldBatch:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> WorldBatch:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        self.refresh()
        members = [self.save(k)._lean() for k in range(len(self))]
        return _rebuilt, (self._source, self._threads, members, self.diverged)

    # ---- single members ----

    def _member(self, index: int) -> Any:
        return lib.rs_batch_member(self._engine.batch, arguments.index("member", index, len(self)))

    def member(self, index: int) -> World:
        """One member as a World: to look at, to draw, or to change; call refresh() after changes.

        It holds the batch's own member: steps of the batch move it. Not to be used while the batch steps.
        """
        world = self._source._copy_onto(self._engine.held(self._member(index)))
        for key, data in self._maps.get(index, {}).items():
            handle = world.get_object_by_id(key)
            assert isinstance(handle, HeightMap)
            handle._data = data
        return world

    def save(self, index: int) -> MemberSnapshot:
        """Keep all of one member: states, parameters, warm starts, time."""
        return MemberSnapshot(self._member(index), self._maps.get(index, {}))

    def restore(self, index: int, snapshot: MemberSnapshot) -> None:
        """Put all of a member back to a snapshot of this or another member."""
        arguments.instance("snapshot", snapshot, MemberSnapshot)
        arguments.index("member", index, len(self))
        check(lib.rs_batch_restore(self._engine.batch, index, snapshot._for(self._member(index))))
        self._maps[index] = snapshot._maps


def _rebuilt(source: World, threads: int, members: list[MemberSnapshot], diverged: NDArray[np.bool_]) -> WorldBatch:
    made = WorldBatch(source, len(members), threads)
    for index, snapshot in enumerate(members):
        made.restore(index, snapshot)
    made._diverged[:] = diverged
    return made
