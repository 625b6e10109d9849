"""Carries out the commands and requests of a recording again, each before the same step as then.

The world then goes through the same states, bit by bit; hashes in the recording tell whether it did. What a request
does to the world happens in one or more actions on the stepping thread, and the recording has the step of each: one
that comes earlier is held back, and the world waits for one that comes later.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from geometry_msgs.msg import Twist, TwistStamped
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.msg import ObjectCmd
from raisim_ros.ros.node import inputs
from raisim_ros.ros.node.deferred_service import Ticket
from raisim_ros.ros.node.inputs import Direct, Input
from raisim_ros.ros.node.preparing import ExecutorTasks
from raisim_ros.ros.node.services import Services
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.objects.command_inbox import CommandTopic
from raisim_ros.ros.pacing import NEVER
from raisim_ros.ros.request_queue import Action, Origin, QueueClosedError, RequestQueue, acting_for

_COMMANDS = {kind.__name__: kind for kind in (ObjectCmd, JointState, JointTrajectory, Twist, TwistStamped)}
_REQUESTS = (inputs.SERVICE, inputs.PARAMETERS)
_QUITTING = 3  # simulation_interfaces/SimulationState
# While the world waits for an action, it looks this often whether the node shall end [s].
_WAKE_PERIOD = 0.05


@dataclass(eq=False)
class _Request:
    """A request of the recording that is being carried out on the executor thread."""

    held: deque[Action] = field(default_factory=deque)
    over: bool = False


class Replay:
    """For the stepping thread, except where it says otherwise."""

    def __init__(
        self,
        recorded: Sequence[Input],
        loop: SteppingLoop,
        queue: RequestQueue,
        tasks: ExecutorTasks,
        direct: dict[str, Direct],
        requests: Requests,
        tell: Callable[[str], object],
    ) -> None:
        self._left = deque(recorded)
        self._actions = Counter(one.request for one in recorded if one.kind in _REQUESTS)  # left, by request
        self._count = sum(one.kind not in (inputs.START, inputs.CHECK, inputs.END) for one in recorded)
        self._loop = loop
        self._queue = queue
        self._tasks = tasks
        self._direct = direct
        self._requests = requests
        self._tell = tell
        self._running: dict[int, _Request] = {}
        self._by_origin: dict[Origin, _Request] = {}
        self._equal = self._different = 0
        self.differs_at: float | None = None  # [s] simulated time of the first state that is not as recorded
        queue.holding = self._hold
        loop.between_steps.append(self._catch_up)
        loop.steps_until_input = self._steps_until_input

    def _steps_until_input(self) -> int:
        return max(1, self._left[0].at - self._loop.taken) if self._left else NEVER

    def _catch_up(self) -> None:
        """Carries out what comes before the next step."""
        if not self._left:
            return
        while self._left and self._left[0].at <= self._loop.taken and not self._loop.stopping:
            self._carry_out(self._left.popleft())
        if not self._left:
            self._end()

    def _carry_out(self, one: Input) -> None:
        if one.kind == inputs.CHECK:
            self._compare(int(one.name, 16))
        elif one.kind == inputs.COMMAND:
            self._command(one)
        elif one.kind in _REQUESTS:
            self._act(one)
        elif one.kind in self._direct:
            self._do(one, self._direct[one.kind])

    def _do(self, one: Input, direct: Direct) -> None:
        kind = direct.message_type
        future: Future[None] = Future()
        try:
            message = None if kind is None else deserialize_message(one.data, kind)
            origin = Origin(one.kind, one.name, message)
            self._queue.carry_out(Action(lambda: direct.carry_out(one.name, message), future, origin))
            future.result()
        except Exception as error:
            self._tell(f"replay: {one.kind} '{one.name}': {error}")

    def _compare(self, recorded: int) -> None:
        if self._loop.world.get_state_hash() == recorded:
            self._equal += 1
            return
        self._different += 1
        if self.differs_at is None:
            self.differs_at = self._loop.world.get_world_time()
            self._tell(f"replay: at {self.differs_at:.6g} s the world is not as it was recorded")

    def _command(self, one: Input) -> None:
        kind, _, topic = one.detail.partition(" ")
        try:
            entry = self._loop.table.get(one.name)
            message = deserialize_message(one.data, _COMMANDS[kind])
            self._loop.command(entry, int(topic) if topic.isdigit() else CommandTopic(topic), message)
        except (RaisimError, KeyError, ValueError, IndexError) as error:
            self._tell(f"replay: {one.name}/{topic}: {error}")

    # ---- requests ----

    def _act(self, one: Input) -> None:
        """One action of a request, which begins with the first."""
        request = self._running.get(one.request)
        if request is None:
            request = self._running[one.request] = self._begin(one)
        while not request.held and not request.over and not self._loop.stopping:
            self._queue.wait(_WAKE_PERIOD)
            self._queue.run_pending()
        if request.held:
            self._run(request.held.popleft())
        self._actions[one.request] -= 1
        if not self._actions[one.request]:
            self._let_go(one.request)

    def _let_go(self, number: int) -> None:
        """What else the request does is of no account: it was not recorded."""
        request = self._running.pop(number)
        self._by_origin = {origin: other for origin, other in self._by_origin.items() if other is not request}
        while request.held:
            self._run(request.held.popleft())

    def _run(self, action: Action) -> None:
        """Whether the world runs, and how fast, is up to those who look at the replay."""
        loop = self._loop
        before = loop.paused, loop.throttled, loop.pacer.real_time_factor
        self._queue.carry_out(action)
        loop.paused, loop.throttled = before[:2]
        loop.pacer.set_real_time_factor(before[2], loop.world.get_world_time())

    def _begin(self, one: Input) -> _Request:
        request = _Request()
        origin = Origin(one.kind, one.name, None)

        def over() -> None:
            request.over = True
            self._by_origin.pop(origin, None)
            self._queue.wake()

        def begin() -> None:
            try:
                origin.message = self._requests.message(one)
                with acting_for(origin):
                    self._requests.carry_out(one, origin.message, over)
            except Exception as error:
                self._tell(f"replay: {one.kind} '{one.name}': {error}")
                over()

        self._by_origin[origin] = request
        self._tasks.post(begin)
        return request

    def _hold(self, action: Action) -> bool:
        request = None if action.origin is None else self._by_origin.get(action.origin)
        if request is None:
            return False
        request.held.append(action)
        return True

    def _end(self) -> None:
        loop = self._loop
        for number in list(self._running):
            self._let_go(number)
        self._queue.holding = lambda action: False
        loop.steps_until_input = lambda: NEVER
        loop.set_paused(True)
        checks = self._equal + self._different
        verdict = "equal, bit by bit" if not self._different else f"{self._different} of them differ"
        self._tell(
            f"replay is over at {loop.world.get_world_time():.6g} s and paused: {self._count} commands and actions of "
            f"requests, {checks} states compared: {verdict}"
        )

    def close(self) -> None:
        """Lets those go who wait for an action. When the loop has ended; any thread."""
        for request in self._running.values():
            while request.held:
                request.held.popleft().future.set_exception(QueueClosedError("the simulation has ended"))


class Requests:
    """Carries recorded requests out as if a client had sent them. For the executor thread."""

    def __init__(self, node: Node, services: Services) -> None:
        self._node = node
        self._services = services

    def message(self, one: Input) -> Any:
        """The message of a recorded request."""
        if one.kind == inputs.PARAMETERS:
            return deserialize_message(one.data, SetParametersAtomically.Request)
        if one.name not in self._services.changing:
            raise InvalidValueError("there is no such service")
        return deserialize_message(one.data, self._services.changing[one.name][0].Request)

    def carry_out(self, one: Input, message: Any, over: Callable[[], None]) -> None:
        """Does what the message asks for; `over` is called at the end, on any thread."""
        if one.name == "set_simulation_state" and message.state.state == _QUITTING:
            over()  # the end of the recorded node is not that of this one
            return
        if one.kind == inputs.PARAMETERS:
            changes = [Parameter.from_parameter_msg(parameter) for parameter in message.parameters]
            self._node.set_parameters_atomically(changes)
            over()
            return
        service_type, callback = self._services.changing[one.name]
        answer = callback(message, service_type.Response())
        if isinstance(answer, Ticket):
            answer.answer_to(over)
        else:
            over()
