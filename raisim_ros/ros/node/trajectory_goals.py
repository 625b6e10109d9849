"""`<robot>/follow_joint_trajectory`: trajectories with tolerances, feedback and an end that is told."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.ros.conversions import Vector
from raisim_ros.ros.conversions import stamp as time_stamp
from raisim_ros.ros.node import inputs
from raisim_ros.ros.node.deferred_action import DeferredAction, Goal, GoalEnd
from raisim_ros.ros.node.inputs import Direct
from raisim_ros.ros.node.preparing import ExecutorTasks
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.objects.object_table import ObjectRow
from raisim_ros.ros.request_queue import Action, Origin, RequestQueue, acting_for
from raisim_ros.ros.robots.trajectories import Followed, OldTrajectoryError, seconds

_RESULT = FollowJointTrajectory.Result
# Feedback, at most this often [s of simulation time].
_FEEDBACK_PERIOD = 0.05
# How long joints may take to come within the goal tolerance, when the goal does not say [s].
_GOAL_TIME = 1.0


@dataclass(frozen=True)
class _Tolerances:
    """How far joints may be from where they shall be; infinite: as far as they want."""

    positions: Vector
    velocities: Vector

    def violation(self, names: list[str], position_error: Vector, velocity_error: Vector) -> str:
        """Which joint is too far off; empty: none."""
        for what, errors, limits in (
            ("position", position_error, self.positions),
            ("velocity", velocity_error, self.velocities),
        ):
            beyond = np.abs(errors) > limits
            if beyond.any():
                at = int(np.flatnonzero(beyond)[0])
                return f"{what} of '{names[at]}' is off by {abs(errors[at]):.4g}, allowed is {limits[at]:.4g}"
        return ""


def _tolerances(messages: Any, names: list[str], field: str) -> _Tolerances:
    positions, velocities = np.full(len(names), np.inf), np.full(len(names), np.inf)
    for message in messages:
        if message.name not in names:
            raise InvalidValueError(f"{field}: '{message.name}' is no joint of the trajectory")
        at = names.index(message.name)
        for value, limits in ((message.position, positions), (message.velocity, velocities)):
            if not np.isfinite(value):
                raise InvalidValueError(f"{field}: the tolerance of '{message.name}' is {value}")
            # The standard: 0 leaves it to the server, which has no limit; negative takes the limit away.
            limits[at] = value if value > 0.0 else np.inf
    return _Tolerances(positions, velocities)


class _Watch:
    """Watches one goal while its trajectory is followed. For the stepping thread."""

    def __init__(self, goal: Goal | _PastGoal, entry: ObjectRow) -> None:
        request = goal.request
        self._goal = goal
        self._names = list(request.trajectory.joint_names)
        if request.multi_dof_trajectory.points or request.multi_dof_trajectory.joint_names:
            raise InvalidValueError("multi_dof_trajectory is not supported; spherical joints have three entries")
        self._path = _tolerances(request.path_tolerance, self._names, "path_tolerance")
        self._end = _tolerances(request.goal_tolerance, self._names, "goal_tolerance")
        self._patience = seconds(request.goal_time_tolerance) or _GOAL_TIME
        self._next_feedback = -np.inf
        self._entry = entry
        self.is_over = False

    def check(self, followed: Followed, time: float) -> bool:
        """Looks where the joints are at `time`; False when the goal is over."""
        trajectory, joints = followed.trajectory, self._entry.joints
        assert joints is not None  # only robots have goals
        wanted = trajectory.sample(time)
        coordinates, speeds = self._entry.handle.get_state()
        positions = joints.positions(coordinates)[trajectory.places]
        velocities = speeds[joints.u[trajectory.places]]
        errors = wanted.positions - positions, wanted.velocities - velocities
        if time >= self._next_feedback:
            self._next_feedback = time + _FEEDBACK_PERIOD
            self._tell(time - trajectory.start, time, (wanted.positions, wanted.velocities), (positions, velocities))
        if time < trajectory.end:
            wrong = self._path.violation(self._names, *errors) if time >= trajectory.start else ""
            return not wrong or self._over(GoalEnd.ABORTED, _RESULT.PATH_TOLERANCE_VIOLATED, wrong)
        wrong = self._end.violation(self._names, *errors)
        if not wrong:
            return self._over(GoalEnd.SUCCEEDED, _RESULT.SUCCESSFUL, "")
        if time > trajectory.end + self._patience:
            return self._over(GoalEnd.ABORTED, _RESULT.GOAL_TOLERANCE_VIOLATED, wrong)
        return True

    def give_up(self, reason: str) -> None:
        """Something else happened to the robot."""
        how = GoalEnd.CANCELED if self._goal.wants_cancel else GoalEnd.ABORTED
        self._over(how, _RESULT.INVALID_GOAL if how is GoalEnd.ABORTED else _RESULT.SUCCESSFUL, reason)

    def _over(self, how: GoalEnd, code: int, text: str) -> bool:
        self.is_over = True
        self._goal.end(how, FollowJointTrajectory.Result(error_code=code, error_string=text))
        return False

    def _tell(
        self, elapsed: float, time: float, wanted: tuple[Vector, Vector], actual: tuple[Vector, Vector]
    ) -> None:
        feedback = FollowJointTrajectory.Feedback(joint_names=self._names)
        feedback.header.stamp.sec, feedback.header.stamp.nanosec = time_stamp(time)
        differences = wanted[0] - actual[0], wanted[1] - actual[1]
        sec, nanosec = time_stamp(max(0.0, elapsed))
        for field, (positions, velocities) in (("desired", wanted), ("actual", actual), ("error", differences)):
            point = JointTrajectoryPoint(positions=positions.tolist(), velocities=velocities.tolist())
            point.time_from_start = Duration(sec=sec, nanosec=nanosec)
            setattr(feedback, field, point)
        self._goal.tell(feedback)


class _PastGoal:
    """A goal of a recording: nobody waits for what becomes of it."""

    wants_cancel = False

    def __init__(self, request: Any) -> None:
        self.request = request
        self.on_cancel: Callable[[], None] = lambda: None

    def tell(self, feedback: Any) -> None:
        """Nobody listens."""

    def end(self, how: GoalEnd, result: Any) -> None:
        """Nobody waits."""


class TrajectoryActions:
    """Makes the action of a robot. For the executor thread."""

    def __init__(self, node: Node, tasks: ExecutorTasks, queue: RequestQueue, loop: SteppingLoop) -> None:
        self._node = node
        self._tasks = tasks
        self._queue = queue
        self._loop = loop

    def make(self, robot: str, object_id: int) -> DeferredAction:
        """The action server of one robot."""

        def accept(goal: Goal) -> None:
            with acting_for(Origin(inputs.GOAL, robot, goal.request)):
                self._queue.post(lambda: self._begin(goal, object_id))

        name = f"{robot}/follow_joint_trajectory"
        return DeferredAction(self._node, FollowJointTrajectory, name, self._tasks, accept)

    def _begin(self, goal: Goal | _PastGoal, object_id: int) -> None:
        """For the stepping thread."""
        loop = self._loop
        try:
            entry = loop.table.by_id(object_id)
            watch = _Watch(goal, entry)
            if not goal.request.trajectory.joint_names or not goal.request.trajectory.points:
                raise InvalidValueError("trajectory: joint_names or points is empty; expected both")
            time = loop.world.get_world_time()
            loop.commands.accept_trajectory(entry, goal.request.trajectory, time, watch.check, watch.give_up)
        except (RaisimError, KeyError) as error:
            goal.end(GoalEnd.ABORTED, FollowJointTrajectory.Result(error_code=_code(error), error_string=str(error)))
            return
        goal.on_cancel = lambda: self._cancel(entry, watch)
        if goal.wants_cancel:  # already, before it had begun
            goal.on_cancel()

    def _cancel(self, entry: ObjectRow, watch: _Watch) -> None:
        def stop() -> None:
            if watch.is_over:  # the robot may follow another goal by now
                return
            origin = Origin(inputs.CANCEL, entry.name, None)
            self._queue.carry_out(Action(lambda: self._loop.commands.stop_trajectory(entry), Future(), origin))

        self._queue.post(stop)

    def direct(self) -> dict[str, Direct]:
        """How recorded goals, whose clients are gone, are begun and cancelled. For the stepping thread."""
        table, commands = self._loop.table, self._loop.commands
        return {
            inputs.GOAL: Direct(
                FollowJointTrajectory.Goal, lambda robot, goal: self._begin(_PastGoal(goal), table.get(robot).id)
            ),
            inputs.CANCEL: Direct(None, lambda robot, _: commands.stop_trajectory(table.get(robot))),
        }


def _code(error: Exception) -> int:
    if isinstance(error, OldTrajectoryError):
        return int(_RESULT.OLD_HEADER_TIMESTAMP)
    if "no joint is named" in str(error) or "occurs twice" in str(error):
        return int(_RESULT.INVALID_JOINTS)
    return int(_RESULT.INVALID_GOAL)
