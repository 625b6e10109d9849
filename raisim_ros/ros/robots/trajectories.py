"""Joint trajectories, followed in simulation time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.ros.conversions import Vector, finite_vector
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.pacing import NEVER
from raisim_ros.ros.robots.joint_commands import JointTargets, apply_joint_targets, check_gains
from raisim_ros.ros.rotation_vectors import (
    angular_velocity_map,
    conjugate,
    multiply,
    quaternions_of,
    rotation_vectors,
)


def seconds(time: Any) -> float:
    """A time or duration of a message [s]."""
    return float(time.sec) + 1e-9 * float(time.nanosec)


class OldTrajectoryError(InvalidValueError):
    """The trajectory is over already."""


@dataclass(frozen=True)
class Trajectory:
    """Points that joints pass: rows are points, columns are joints."""

    places: NDArray[np.int64]  # in RobotJoints.names
    start: float  # [s] of simulation time
    times: Vector  # [s] from the start, ascending
    positions: Vector
    velocities: Vector | None  # None: straight from point to point
    efforts: Vector | None
    spherical: Sequence[list[int]] = ()  # columns x, y, z of each spherical joint

    @property
    def end(self) -> float:
        """When the last point is reached [s of simulation time]."""
        return self.start + float(self.times[-1])

    def sample(self, time: float) -> JointTargets:
        """Targets at a time; before the first point and behind the last one those points, at rest."""
        elapsed = time - self.start
        efforts = np.zeros(len(self.places))
        if self.efforts is not None:
            efforts = np.array([np.interp(elapsed, self.times, column) for column in self.efforts.T])
        behind = int(np.searchsorted(self.times, elapsed, side="right"))
        if behind in (0, len(self.times)):
            point = self.positions[min(behind, len(self.times) - 1)]
            return JointTargets(self.places, point.copy(), np.zeros(len(point)), efforts)
        position, velocity = self._between(behind - 1, elapsed)
        return JointTargets(self.places, position, velocity, efforts)

    def _between(self, first: int, elapsed: float) -> tuple[Vector, Vector]:
        p0, p1 = self.positions[first], self.positions[first + 1]
        ends = None if self.velocities is None else (self.velocities[first], self.velocities[first + 1])
        duration = self.times[first + 1] - self.times[first]
        s = (elapsed - self.times[first]) / duration
        position, velocity = _curve(p0, p1, ends, s, duration)
        for columns in self.spherical:
            own_ends = None if ends is None else (ends[0][columns], ends[1][columns])
            position[columns], velocity[columns] = _turn(p0[columns], p1[columns], own_ends, s, duration)
        return position, velocity


def _curve(
    p0: Vector, p1: Vector, ends: tuple[Vector, Vector] | None, s: float, duration: float
) -> tuple[Vector, Vector]:
    """Position and velocity at a part `s` of the way: on a line, or on the cubic with the velocities at its ends."""
    if ends is None:
        return p0 + s * (p1 - p0), (p1 - p0) / duration
    m0, m1 = duration * ends[0], duration * ends[1]
    a, b = 2.0 * (p0 - p1) + m0 + m1, 3.0 * (p1 - p0) - 2.0 * m0 - m1
    return ((a * s + b) * s + m0) * s + p0, ((3.0 * a * s + 2.0 * b) * s + m0) / duration


def _turn(
    r0: Vector, r1: Vector, ends: tuple[Vector, Vector] | None, s: float, duration: float
) -> tuple[Vector, Vector]:
    """The same for a rotation: vectors of the rotations, angular velocities.

    The curve is that of the rotation vector which is left to turn from the first rotation: without velocities the turn
    about one axis, wherever the two rotations lie.
    """
    start = quaternions_of(r0)
    whole = rotation_vectors(multiply(quaternions_of(r1), conjugate(start)))
    if ends is not None:
        ends = (ends[0], np.asarray(np.linalg.solve(angular_velocity_map(whole), ends[1]), np.float64))
    turned, rate = _curve(np.zeros(3), whole, ends, s, duration)
    return rotation_vectors(multiply(quaternions_of(turned), start)), angular_velocity_map(turned) @ rate


def _column(points: Any, field: str, joints: int) -> Vector | None:
    """One field of all points, or None when no point has it."""
    lengths = {len(getattr(point, field)) for point in points}
    if lengths == {0}:
        return None
    for index, point in enumerate(points):
        count = len(getattr(point, field))
        if count != joints:
            raise InvalidValueError(f"points[{index}].{field} has {count} numbers for {joints} joints")
    rows = [finite_vector(getattr(point, field), f"points[{i}].{field}") for i, point in enumerate(points)]
    return np.array(rows)


def _times(points: Any) -> Vector:
    times = np.array([seconds(point.time_from_start) for point in points])
    if times[0] < 0.0 or (np.diff(times) <= 0.0).any():
        raise InvalidValueError(f"time_from_start is {times.tolist()}; expected ascending times, none negative")
    return times


def trajectory_of(entry: ObjectRow, message: Any, now: float) -> Trajectory:
    """What a JointTrajectory asks for; it begins where the joints are at `now` [s of simulation time]."""
    assert entry.joints is not None  # only robots have the topic
    places = entry.joints.places(message.joint_names, "joint_names")
    times = _times(message.points)
    positions = _column(message.points, "positions", len(places))
    if positions is None:
        raise InvalidValueError("points have no positions; expected one per joint")
    check_gains(entry, places, positions[0], np.full(len(places), np.nan))
    velocities = _column(message.points, "velocities", len(places))
    efforts = _column(message.points, "effort", len(places))
    stamp = seconds(message.header.stamp)
    start = now if stamp == 0.0 else stamp
    if start + times[-1] < now:
        raise OldTrajectoryError(f"the trajectory ended at {start + times[-1]:g} s, and now it is {now:g} s")
    if times[0] > 0.0:
        coordinates, speeds = entry.handle.get_state()
        times = np.concatenate(([0.0], times))
        positions = np.vstack((entry.joints.positions(coordinates)[places], positions))
        velocities = None if velocities is None else np.vstack((speeds[entry.joints.u[places]], velocities))
        efforts = None if efforts is None else np.vstack((efforts[0], efforts))
    spherical = entry.joints.spherical_columns(places)
    return Trajectory(places, start, times, positions, velocities, efforts, spherical)


Check = Callable[["Followed", float], bool]
GiveUp = Callable[[str], None]


@dataclass(frozen=True)
class Followed:
    """A trajectory that is being followed.

    `check` looks after every step where the joints are and says whether to go on, also behind the end; without it the
    trajectory is over at its end. `give_up` is told why it ends before that.
    """

    trajectory: Trajectory
    check: Check | None = None
    give_up: GiveUp = lambda reason: None


class Trajectories:
    """The trajectories that are being followed, one per robot at most. For the stepping thread."""

    def __init__(self) -> None:
        self._active: dict[int, Followed] = {}

    def accept(
        self,
        entry: ObjectRow,
        message: Any,
        now: float,
        check: Check | None = None,
        give_up: GiveUp = lambda reason: None,
    ) -> None:
        """Follows a trajectory in place of the former one; a message without joints and points only ends that."""
        if not message.joint_names and not message.points:
            self.cancel(entry.id, "stopped by an empty trajectory")
            return
        if not message.joint_names or not message.points:
            raise InvalidValueError("joint_names or points is empty; expected both, or none to stop")
        trajectory = trajectory_of(entry, message, now)
        self.cancel(entry.id, "replaced by another trajectory")
        self._active[entry.id] = Followed(trajectory, check, give_up)

    def is_active(self, object_id: int) -> bool:
        """Whether the robot follows one."""
        return object_id in self._active

    def cancel(self, object_id: int, reason: str) -> None:
        """Leaves the joints to the last targets."""
        followed = self._active.pop(object_id, None)
        if followed is not None:
            followed.give_up(reason)

    def steps_until_due(self) -> int:
        """Targets change with every step."""
        return 1 if self._active else NEVER

    def advance(self, time: float, entry_of: Callable[[int], ObjectRow]) -> None:
        """Sets the targets that shall be reached at `time`, the end of the next step."""
        for object_id, followed in list(self._active.items()):
            trajectory = followed.trajectory
            if time >= trajectory.start:
                apply_joint_targets(entry_of(object_id), trajectory.sample(time))
            if time >= trajectory.end and followed.check is None:
                del self._active[object_id]

    def check(self, time: float, hold: Callable[[int], None]) -> None:
        """Looks after a step at those that are watched; `hold` keeps the joints of one that failed where they are."""
        for object_id, followed in list(self._active.items()):
            if followed.check is not None and not followed.check(followed, time):
                del self._active[object_id]
                if time < followed.trajectory.end:
                    hold(object_id)
