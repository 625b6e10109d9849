"""An action whose goals are carried out elsewhere, while the executor goes on.

rclpy runs a goal in a callback: one that waits would stop all services, and a coroutine that waits makes the executor
spin. Here a goal is only begun; whoever carries it out tells when it is over.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from raisim_ros.ros.node.preparing import ExecutorTasks
from raisim_ros.ros.qos import SERVICE


class GoalEnd(Enum):
    """How a goal ended."""

    SUCCEEDED = "succeed"
    ABORTED = "abort"
    CANCELED = "canceled"


class Goal:
    """One goal that was accepted. Any thread may use it."""

    def __init__(self, server: _Server, handle: Any, tasks: ExecutorTasks) -> None:
        self._server = server
        self._handle = handle
        self._tasks = tasks
        self._over = False
        self.request = handle.request
        self.on_cancel: Callable[[], None] = lambda: None  # called when the client wants it to end

    def tell(self, feedback: Any) -> None:
        """Sends feedback."""
        if not self._over:
            self._handle.publish_feedback(feedback)

    def end(self, how: GoalEnd, result: Any) -> None:
        """Ends the goal, once; later calls do nothing."""
        if self._over:
            return
        self._over = True
        self._tasks.post(lambda: self._server.finish(self._handle, how, result))

    @property
    def wants_cancel(self) -> bool:
        """Whether the client asked for the end."""
        return bool(self._handle.is_cancel_requested)


class _Server(ActionServer):
    """rclpy's server with the execution taken out of it."""

    def __init__(self, node: Node, action_type: Any, name: str, begin: Callable[[Any], None], **callbacks: Any) -> None:
        self._begin = begin
        super().__init__(node, action_type, name, execute_callback=_never, **callbacks)

    def notify_execute(self, goal_handle: Any, execute_callback: Any) -> None:
        """The goal is accepted: begin, and come back when it is over."""
        self._begin(goal_handle)

    def finish(self, goal_handle: Any, how: GoalEnd, result: Any) -> None:
        """Tells the client how it ended."""
        getattr(goal_handle, how.value)()
        super().notify_execute(goal_handle, lambda _: result)


def _never(goal_handle: Any) -> Any:
    """rclpy wants a callback; `notify_execute` never calls it."""


class DeferredAction:
    """An action server whose handler gets goals, to be ended at any time. For the executor thread."""

    def __init__(
        self,
        node: Node,
        action_type: Any,
        name: str,
        tasks: ExecutorTasks,
        accept: Callable[[Goal], None],
    ) -> None:
        """`accept` begins a goal; it may end it at once."""
        self._node = node
        self._goals: dict[bytes, Goal] = {}
        self._tasks = tasks
        self._accept = accept
        self._server = _Server(
            node,
            action_type,
            name,
            self._begin,
            goal_callback=lambda _: GoalResponse.ACCEPT,
            cancel_callback=self._cancel,
            # Of its own: the node's group never forgets who was in it.
            callback_group=MutuallyExclusiveCallbackGroup(),
            # As deep as those of services: of a burst of goals, none and no result is lost.
            goal_service_qos_profile=SERVICE,
            result_service_qos_profile=SERVICE,
            cancel_service_qos_profile=SERVICE,
        )

    def _begin(self, handle: Any) -> None:
        goal = Goal(self._server, handle, self._tasks)
        self._goals = {key: one for key, one in self._goals.items() if not one._over}
        self._goals[bytes(handle.goal_id.uuid)] = goal
        self._accept(goal)

    def _cancel(self, handle: Any) -> CancelResponse:
        goal = self._goals.get(bytes(handle.goal_id.uuid))
        if goal is None or goal._over:
            return CancelResponse.REJECT
        # The client is told first that its wish was accepted.
        self._tasks.post(goal.on_cancel)
        return CancelResponse.ACCEPT

    def close(self) -> None:
        """Takes the action away."""
        self._server.destroy()
