"""`<object>/state` of every object and `states` of all: the hot path, all frozen messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion, Vector3
from numpy.typing import NDArray
from std_msgs.msg import Header

from raisim_ros.engine.objects.soft_handles import SoftObject
from raisim_ros.engine.types import ArticulationBuffer, StateBuffer
from raisim_ros.msg import ObjectState, ObjectStateArray
from raisim_ros.ros.conversions import Vector, principal_inertia
from raisim_ros.ros.frozen_message import ENCAPSULATION, FrozenElement, FrozenSequence
from raisim_ros.ros.many_publishers import SERIALIZED, ManyPublishers, serialized
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.objects.object_table import LinkRow, ObjectRow
from raisim_ros.ros.pacing import NEVER, WallTimer, period_in_steps, steps_until_multiple

# The numbers of an ObjectState that change, side by side: 26 of eight bytes each.
FIRST_NUMBER, LAST_NUMBER = "sim_step", "wrench.torque.z"
_STEP, _SIM_TIME, _WALL_TIME = 0, 1, 2
_POSE, _TWIST, _WRENCH = slice(7, 14), slice(14, 20), slice(20, 26)
_ONLY = np.zeros(1, np.int64)  # which publisher, where there is one
_NUMBERS = 26

Rows = slice | NDArray[np.int64]

Entry = ObjectRow | LinkRow
Key = int | tuple[int, int]  # of an entry

JOINT_FIELDS = ("joint_positions", "joint_velocities", "joint_efforts")


@dataclass(frozen=True)
class ShownFields:
    """Which of a robot's long fields are in its state; positions bring velocities and efforts with them."""

    children_names: bool = False
    joint_names: bool = True
    joint_positions: bool = False

    @classmethod
    def described(cls, entry: Entry) -> ShownFields:
        """As the object's description says."""
        settings = entry.interface
        return cls(settings.publish_children_names, settings.publish_joint_names, settings.publish_joint_positions)


# How often the subscribers of all objects are counted [Hz of wall time].
_CENSUS_RATE_HZ = 5.0


def state_message(entry: Entry, world_frame: str, shown: ShownFields) -> ObjectState:
    """The message of one object, with everything in it that does not change from step to step."""
    mass, moments = _mass_and_moments(entry)
    message = ObjectState(
        header=Header(frame_id=world_frame),
        name=entry.name,
        id=entry.id,
        type=entry.type,
        body_type=entry.body_type,
        mass=mass,
        principal_inertia=Vector3(x=moments[0], y=moments[1], z=moments[2]),
    )
    if entry.joints is not None:
        names = entry.joints.names
        message.children_names = entry.joints.children_names if shown.children_names else []
        message.joint_names = names if shown.joint_names else []
        for field in JOINT_FIELDS:
            setattr(message, field, [0.0] * (len(names) if shown.joint_positions else 0))
    return message


def _mass_and_moments(entry: Entry) -> tuple[float, Vector]:
    if isinstance(entry, LinkRow):
        robot = entry.handle
        return robot.get_mass(entry.body), principal_inertia(robot.get_inertia_matrix_b(entry.body))
    handle = entry.handle
    if entry.joints is not None:
        return handle.get_total_mass(), principal_inertia(handle.get_inertia()[0])
    if entry.body_type != ObjectState.DYNAMIC:
        return 0.0, np.zeros(3)
    if isinstance(handle, SoftObject):
        return handle.get_mass(), np.zeros(3)
    return float(handle.get_mass()), principal_inertia(handle.get_inertia_matrix_b())


def joint_numbers(entry: Entry, robots: ArticulationBuffer) -> tuple[Vector, Vector, Vector]:
    """Positions, velocities and efforts of a robot's joints, in the order of their names."""
    joints = entry.joints
    assert joints is not None  # the caller asks only robots
    u = robots.velocity_first[entry.id] + joints.u
    coordinates = robots.coordinates[robots.coordinate_first[entry.id] :]
    return joints.positions(coordinates), robots.velocities[u], robots.efforts[u]


def full_state(
    entry: ObjectRow, world_frame: str, states: StateBuffer, robots: ArticulationBuffer, moment: Moment
) -> ObjectState:
    """The message of one object with its state and all that can be published; for those who ask once."""
    row = entry.handle.get_index_in_world()
    message = state_message(entry, world_frame, ShownFields(True, True, True))
    if entry.joints is not None:
        for field, values in zip(JOINT_FIELDS, joint_numbers(entry, robots), strict=True):
            setattr(message, field, values.tolist())
    message.header.stamp = Time(sec=moment.stamp.sec, nanosec=moment.stamp.nanosec)
    message.sim_step, message.sim_time, message.wall_time = moment.step, moment.sim_time, moment.wall_time
    pose, twist, wrench = states.poses[row], states.twists[row], states.wrenches[row]
    message.pose.position = Point(x=pose[0], y=pose[1], z=pose[2])
    message.pose.orientation = Quaternion(x=pose[3], y=pose[4], z=pose[5], w=pose[6])
    message.twist.linear = Vector3(x=twist[0], y=twist[1], z=twist[2])
    message.twist.angular = Vector3(x=twist[3], y=twist[4], z=twist[5])
    message.wrench.force = Vector3(x=wrench[0], y=wrench[1], z=wrench[2])
    message.wrench.torque = Vector3(x=wrench[3], y=wrench[4], z=wrench[5])
    message.sleeping = bool(states.sleeping[row])
    return message


def freeze_state(entry: Entry, world_frame: str, shown: ShownFields) -> FrozenElement:
    """The frozen message of one object, alone or as part of `states`."""
    return FrozenElement(state_message(entry, world_frame, shown), ObjectStateArray, "states")


@dataclass(frozen=True)
class StateRates:
    """Publishing rates in Hz of simulation time, for objects that have none of their own."""

    min_hz: float
    max_hz: float
    array_hz: float

    def of(self, entry: Entry) -> tuple[float, float]:
        """Rate of an object that is not commanded, and of one that is."""
        slow, fast = entry.interface.min_rate_hz, entry.interface.max_rate_hz
        slow = self.min_hz if slow is None else slow
        return slow, max(slow, self.max_hz if fast is None else fast)


class StateTable:
    """The numbers of many ObjectState messages.

    The messages lie below each other in one block of bytes, shifted so that their numbers form columns: the
    text before them ends in the same column in every row. So one NumPy assignment updates all of them.
    """

    def __init__(self, world_frame: str, elements: list[FrozenElement], entries: list[Entry]) -> None:
        """`elements` are those of the `entries`."""
        self._world_frame = world_frame
        self._elements = elements
        # Rows whose messages carry the numbers of joints.
        self._robots = [
            (row, entry)
            for row, (entry, element) in enumerate(zip(entries, elements, strict=True))
            if JOINT_FIELDS[0] in element.layouts[0].slots
        ]
        self._joint_values: list[tuple[int, tuple[Vector, Vector, Vector]]] = []
        self._numbers = np.zeros((len(elements), _NUMBERS))
        self._sleeping = np.zeros((len(elements), 1), np.uint8)
        self._array: FrozenSequence | None = None
        self._lay_out()

    def _lay_out(self) -> None:
        slots = [element.layouts[0].slots for element in self._elements]
        heads = np.array([ENCAPSULATION + slot[FIRST_NUMBER].offset for slot in slots], np.int64)
        sizes = np.array([ENCAPSULATION + len(element.bodies[0]) for element in self._elements], np.int64)
        column = int(heads.max(initial=ENCAPSULATION)) + 4  # heads are 4 modulo 8: now a multiple of 8
        tail = int((sizes - heads).max(initial=8 * _NUMBERS + 1))
        width = column + tail + -(column + tail) % 8
        self._block = np.zeros((len(self._elements), width), np.uint8)
        self._begins = (column - heads).tolist()
        self._ends = (column - heads + sizes).tolist()
        for row, (begin, element) in enumerate(zip(self._begins, self._elements, strict=True)):
            data = bytes((0, 1, 0, 0)) + element.bodies[0]
            self._block[row, begin : begin + len(data)] = np.frombuffer(data, np.uint8)
        end = column + 8 * _NUMBERS
        self._columns = self._block[:, column:end].view(np.float64)
        self._numbers[:] = self._columns
        self._sleeping_column = self._block[:, end : end + 1]
        # The stamp is at the beginning of the message, not in a column: its places, counted in words.
        self._words = self._block.reshape(-1).view(np.uint32)
        rows = np.arange(len(self._elements), dtype=np.int64) * width
        self._seconds_at = (rows + column - heads + ENCAPSULATION) // 4
        # Where the messages are, for those who send many of them.
        self.messages = np.zeros(len(self._elements), SERIALIZED)
        self.messages["buffer"] = self._block.ctypes.data + rows + column - heads
        self.messages["length"] = self.messages["capacity"] = sizes

    def update(self, states: StateBuffer, moment: Moment, rows: Rows = slice(None)) -> None:
        """Takes over the state of the objects at a moment; `rows` are theirs in the world's object list."""
        numbers = self._numbers
        numbers[:, _STEP].view(np.uint64)[:] = moment.step
        numbers[:, _SIM_TIME] = moment.sim_time
        numbers[:, _WALL_TIME] = moment.wall_time
        numbers[:, _POSE] = states.poses[rows]
        numbers[:, _TWIST] = states.twists[rows]
        numbers[:, _WRENCH] = states.wrenches[rows]
        self._sleeping[:, 0] = states.sleeping[rows]
        self._columns[:] = numbers
        self._sleeping_column[:] = self._sleeping
        self._words[self._seconds_at] = moment.stamp.sec
        self._words[self._seconds_at + 1] = moment.stamp.nanosec

    @property
    def has_joints(self) -> bool:
        """Whether some message carries the numbers of joints."""
        return bool(self._robots)

    def update_joints(self, robots: ArticulationBuffer) -> None:
        """Takes over the joints of all robots whose messages carry them."""
        self._joint_values = [(row, joint_numbers(entry, robots)) for row, entry in self._robots]
        for row, values in self._joint_values:
            slots = self._elements[row].layouts[0].slots
            for field, numbers in zip(JOINT_FIELDS, values, strict=True):
                begin = self._begins[row] + ENCAPSULATION + slots[field].offset
                self._block[row, begin : begin + 8 * len(numbers)].view(np.float64)[:] = numbers

    def message(self, row: int) -> bytes:
        """The ObjectState of a row, as of the last update."""
        return self._block[row, self._begins[row] : self._ends[row]].tobytes()

    def array_message(self, moment: Moment) -> NDArray[np.void]:
        """The ObjectStateArray of all rows, as of the last update, of type SERIALIZED."""
        if self._array is None:
            header = Header(frame_id=self._world_frame)
            self._array = FrozenSequence(ObjectStateArray(header=header), self._elements)
        array = self._array
        array.write_stamp(moment.stamp)
        array.write(FIRST_NUMBER, LAST_NUMBER, self._numbers)
        array.write("sleeping", "sleeping", self._sleeping)
        for row, values in self._joint_values:
            for field, numbers in zip(JOINT_FIELDS, values, strict=True):
                array.element_numbers(row, field)[:] = numbers
        return serialized(array.buffer)


class StateTopics:
    """Publishes the states whose time has come, to whom it may concern. For the stepping thread.

    An object is published at its lower rate, and at its upper one while it is commanded. Messages are made and
    filled only for objects that somebody listens to.
    """

    def __init__(
        self,
        rates: StateRates,
        world_frame: str,
        array_publisher: Any | None,
        read_articulations: Callable[[], ArticulationBuffer],
    ) -> None:
        """`array_publisher` sends all states in one message; None: they go out one by one only."""
        self.rates = rates
        self._read_articulations = read_articulations
        self._shown: dict[Key, ShownFields] = {}  # other than described
        self._world_frame = world_frame
        self._array_publisher = None if array_publisher is None else ManyPublishers([array_publisher])
        self._publishers: dict[Key, Any] = {}
        self._elements: dict[Key, FrozenElement] = {}
        self._commanded: set[Key] = set()
        self._census = WallTimer(_CENSUS_RATE_HZ)
        self._attached: tuple[NDArray[np.int64], ManyPublishers] | None = None  # rows with a publisher; None: look anew
        self._listened: NDArray[np.int64] | None = None  # places in _attached with a subscriber; None: to be counted
        self._table: tuple[NDArray[np.int64], StateTable] | None = None  # of those
        self._array_table: StateTable | None = None  # of all rows
        self.rebuild([], time_step=1.0)

    def attach(self, key: Key, publisher: Any) -> None:
        """From now on the object's state goes out through `publisher`."""
        self._publishers[key] = publisher
        self._attached = self._listened = None

    def detach(self, key: Key) -> None:
        """Lets go of the object's publisher."""
        self._publishers.pop(key, None)
        self._elements.pop(key, None)
        self._commanded.discard(key)
        self._shown.pop(key, None)
        self._attached = self._listened = None

    def show(self, entry: Entry, shown: ShownFields) -> None:
        """Chooses the fields that a robot's state carries from now on."""
        if self._shown.get(entry.key, ShownFields.described(entry)) != shown:
            self._shown[entry.key] = shown
            self._elements.pop(entry.key, None)
            self._table = self._array_table = None

    def refresh(self, key: Key) -> None:
        """What does not change from step to step has changed: the mass."""
        self._elements.pop(key, None)
        self._table = self._array_table = None

    def set_commanded(self, key: Key, commanded: bool) -> None:
        """Chooses between the upper and the lower rate."""
        (self._commanded.add if commanded else self._commanded.discard)(key)
        row = self._row_of.get(key)
        if row is not None:
            self._periods[row] = self._fast[row] if commanded else self._slow[row]
            self._distinct_periods = self._distinct()

    def rebuild(self, rows: Sequence[Entry], time_step: float) -> None:
        """Takes over a new list of objects or a new time step."""
        self._rows = rows
        self._row_of = {entry.key: row for row, entry in enumerate(rows)}
        rates = [self.rates.of(entry) for entry in rows]
        self._slow = np.array([period_in_steps(slow, time_step) for slow, _ in rates], np.int64)
        self._fast = np.array([period_in_steps(fast, time_step) for _, fast in rates], np.int64)
        commanded = np.array([entry.key in self._commanded for entry in rows], np.bool_)
        self._periods = np.where(commanded, self._fast, self._slow)
        self._array_period = period_in_steps(self.rates.array_hz, time_step)
        self._distinct_periods = self._distinct()
        self._attached = self._listened = self._table = self._array_table = None

    def _distinct(self) -> list[int]:
        array = [] if self._array_publisher is None else [self._array_period]
        return [*array, *np.unique(self._periods).tolist()]

    def steps_until_due(self, step: int) -> int:
        """Steps until the next state must go out."""
        return min((steps_until_multiple(step, period) for period in self._distinct_periods), default=NEVER)

    def due(self, moment: Moment) -> bool:
        """Whether a state must go out at this moment."""
        return moment.everything or any(moment.step % period == 0 for period in self._distinct_periods)

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes what is due."""
        self._publish_singles(moment, states)
        array_due = moment.everything or moment.step % self._array_period == 0
        if array_due and self._array_publisher is not None and self._array_publisher.subscribed()[0]:
            if self._array_table is None:
                self._array_table = self._make_table(range(len(self._rows)))
            self._update(self._array_table, states, moment)
            if self._array_publisher.publish(self._array_table.array_message(moment), _ONLY):
                raise RuntimeError("the states of all objects could not be sent")

    def _publish_singles(self, moment: Moment, states: StateBuffer) -> None:
        attached, publishers = self._attached_rows()
        listened = self._listened_places(publishers, moment)
        if not len(listened):
            return
        rows = attached[listened]
        if self._table is None or not np.array_equal(self._table[0], rows):
            self._table = (rows, self._make_table(rows.tolist()))
        table = self._table[1]
        due = np.flatnonzero(moment.everything | (moment.step % self._periods[rows] == 0))
        if not len(due):
            return
        self._update(table, states, moment, rows)
        if failed := publishers.publish(table.messages[due], listened[due]):
            raise RuntimeError(f"{failed} states could not be sent")

    def _update(self, table: StateTable, states: StateBuffer, moment: Moment, rows: Rows = slice(None)) -> None:
        table.update(states, moment, rows)
        if table.has_joints:
            table.update_joints(self._read_articulations())

    def _attached_rows(self) -> tuple[NDArray[np.int64], ManyPublishers]:
        if self._attached is None:
            rows = [row for row, entry in enumerate(self._rows) if entry.key in self._publishers]
            publishers = ManyPublishers([self._publishers[self._rows[row].key] for row in rows])
            self._attached = (np.array(rows, np.int64), publishers)
        return self._attached

    def _listened_places(self, publishers: ManyPublishers, moment: Moment) -> NDArray[np.int64]:
        """Which of the publishers have subscribers. Counting takes its time, so it is not done every time."""
        if self._listened is None or moment.everything or self._census.due():
            self._listened = np.flatnonzero(publishers.subscribed())
        return self._listened

    def _make_table(self, rows: Iterable[int]) -> StateTable:
        entries = [self._rows[row] for row in rows]
        for entry in entries:
            if entry.key not in self._elements:
                shown = self._shown.get(entry.key, ShownFields.described(entry))
                self._elements[entry.key] = freeze_state(entry, self._world_frame, shown)
        return StateTable(self._world_frame, [self._elements[entry.key] for entry in entries], entries)
