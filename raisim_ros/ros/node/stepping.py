"""The thread that steps the world, paces it, and publishes between steps."""

from __future__ import annotations

import re
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from raisim_ros.description.errors import RaisimError
from raisim_ros.engine.errors import DivergedError
from raisim_ros.engine.world.world import World
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.node.clock import ClockTopic
from raisim_ros.ros.node.throttled_log import ThrottledLog
from raisim_ros.ros.objects.command_inbox import CommandInbox, CommandTopic
from raisim_ros.ros.objects.commands import CommandRefusedError, Commands
from raisim_ros.ros.objects.object_table import ObjectRow, ObjectTable
from raisim_ros.ros.objects.pulls import Pulls
from raisim_ros.ros.objects.topic import Topic
from raisim_ros.ros.pacing import NEVER, Pacer, RateMeter, period_in_steps, steps_until_multiple
from raisim_ros.ros.request_queue import RequestQueue

# Requests and commands wait at most about this long while the engine computes [s].
_MAX_COMPUTING = 0.01
# A paused world is published this often, for those who come late [s of wall time].
_PAUSED_PERIOD = 0.1
# Requests come one after another, each when the one before was carried out: so long the next one is waited for, so
# long after a wait that was in vain none is made again, and so long they may hold up the world in one go [s].
_NEXT_REQUEST, _VAIN_WAIT, _MAX_SERVING = 0.001, 0.005, 0.01
# While nothing is computed, commands are looked at this often [s].
_IDLE_PERIOD = 0.01


@dataclass(eq=False)
class StepRequest:
    """Steps that somebody asked for.

    `done` is called after the state behind the last one was published, with the steps that were not taken: 0,
    unless the request was cancelled. `advanced` is told the steps that are left, after every `at_once` of them.
    """

    steps: int
    done: Callable[[int], None]
    at_once: int | None = None
    advanced: Callable[[int], None] = lambda left: None


@dataclass
class LoopMeters:
    """What the loop measures about itself."""

    sim_time: RateMeter
    steps: RateMeter
    publishing: RateMeter
    rounds: int = 0
    step_duration: float = 0.0  # [s] mean computing time of a step, smoothed


def _without_numbers(text: str) -> str:
    """What tells one kind of refusal from another, whatever numbers the command had."""
    return re.sub(r"[-+]?\d[\d.e+-]*|nan|inf", "#", text)


class SteppingLoop:
    """Owns the world while it runs: everything that touches it goes through `queue` or runs here."""

    def __init__(
        self,
        world: World,
        table: ObjectTable,
        queue: RequestQueue,
        pacer: Pacer,
        commands: Commands,
        inbox: CommandInbox,
        warn: ThrottledLog,
    ) -> None:
        self.world = world
        self.table = table
        self.pacer = pacer
        self.commands = commands
        self.pulls = Pulls(world, table)
        self.meters = LoopMeters(RateMeter(), RateMeter(), RateMeter())
        self.paused = False
        self.throttled = False
        # A throttled world pauses when no WorldCmd came for this long [s of wall time; 0: never].
        self.client_timeout = 0.0
        self._queue = queue
        self._inbox = inbox
        self._warn = warn
        self._topics: Sequence[Topic] = ()
        self._clock: ClockTopic | None = None
        self.clock_rate_hz = 100.0
        self._clock_period = 1
        self._step_offset = 0
        self._built_for: tuple[int, float] | None = None
        self._step_requests: deque[StepRequest] = deque()
        self._last_client_sign = 0.0
        self._next_wait = 0.0  # for the next request
        self._next_paused_publish = 0.0
        self._stopping = threading.Event()
        # Told when time or states jump: what they add up begins again.
        self.jump_listeners: list[Callable[[], None]] = []
        self.is_late = False  # a step is due and nothing is waited for; any thread may read it
        self.taken = 0  # steps since the node began, whatever became of time
        # Called before steps are taken, and how many may be taken until they must be called again.
        self.between_steps: list[Callable[[], None]] = []
        self.steps_until_input: Callable[[], int] = lambda: NEVER
        # Told of every command to an object before it is applied.
        self.command_listeners: list[Callable[[ObjectRow, CommandTopic | int, Any], None]] = []

    def set_topics(self, topics: Sequence[Topic], clock: ClockTopic | None, clock_rate_hz: float) -> None:
        """What is published; the clock always first."""
        self._topics, self._clock, self.clock_rate_hz = topics, clock, clock_rate_hz

    # ---- read and changed by requests ----

    @property
    def step(self) -> int:
        """Steps taken; goes on counting through a reset that keeps time."""
        return self._step_offset + self.world.get_step_count()

    @property
    def pending_steps(self) -> int:
        """Steps asked for and not yet taken."""
        return sum(request.steps for request in self._step_requests)

    @property
    def free_running(self) -> bool:
        """Whether the world advances by itself."""
        return not self.paused and not self.throttled

    def set_paused(self, paused: bool) -> None:
        """Pauses or goes on."""
        self.paused = paused
        self.restart_clock()

    def set_throttled(self, throttled: bool) -> None:
        """Lets the world advance only by the steps that are asked for, or freely."""
        self.throttled = throttled
        self.restart_clock()

    def note_client(self) -> None:
        """The client that asks for steps is alive."""
        self._last_client_sign = time.monotonic()

    def request_steps(self, request: StepRequest) -> None:
        """Takes steps as fast as possible, after those that were asked for before."""
        self._step_requests.append(request)

    def cancel_steps(self) -> None:
        """Drops the steps that were asked for."""
        while self._step_requests:
            request = self._step_requests.popleft()
            request.done(request.steps)

    def cancel_request(self, request: StepRequest) -> None:
        """Drops one request, if it is not done yet."""
        if request in self._step_requests:
            self._step_requests.remove(request)
            request.done(request.steps)

    def set_time(self, step: int, sim_time: float) -> None:
        """Gives the present state another step count and time."""
        self.world.set_world_time(sim_time)
        self._step_offset = step - self.world.get_step_count()
        self.restart_clock()
        self.rebuild()
        for tell in self.jump_listeners:
            tell()

    def restart_clock(self) -> None:
        """Time did not run, or jumped: measure and pace from here on."""
        self.pacer.restart(self.world.get_world_time())
        self.meters.sim_time.restart()
        self.meters.steps.restart()
        self._next_paused_publish = 0.0

    def rebuild(self) -> None:
        """Something about the objects has changed that the topics must take over."""
        self._built_for = None

    # ---- the thread ----

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ends `run` after the step in progress. Any thread may call it."""
        self._stopping.set()
        self._queue.close()

    def run(self) -> None:
        """Steps until `stop`."""
        self.restart_clock()
        while not self._stopping.is_set():
            self._serve_requests()
            self._apply_commands()
            for tell in self.between_steps:
                tell()
            self._check_client()
            if self._step_requests:
                self._serve_step_request()
            elif self.free_running:
                self._run_freely()
            else:
                self._idle()
        self.cancel_steps()

    def _serve_requests(self) -> None:
        """Carries out requests; between two rounds of a busy world more than one fits."""
        end = time.monotonic() + _MAX_SERVING
        while self._queue.run_pending() and not self._step_requests:
            now = time.monotonic()
            if now >= end or now < self._next_wait:
                return
            if not self._queue.wait(_NEXT_REQUEST):
                self._next_wait = now + _VAIN_WAIT

    def _apply_commands(self) -> None:
        for (object_id, topic), message in self._inbox.take():
            self.command(self.table.by_id(object_id), topic, message)

    def command(self, entry: ObjectRow, topic: CommandTopic | int, message: Any) -> None:
        """Applies a command to an object, or says in the log why it cannot. For the stepping thread."""
        for tell in self.command_listeners:
            tell(entry, topic, message)
        try:
            self._apply_command(entry, topic, message)
        except RaisimError as error:
            kind = error.kind if isinstance(error, CommandRefusedError) else _without_numbers(str(error))
            own = topic.value if isinstance(topic, CommandTopic) else CommandTopic.OBJECT.value
            name = entry.name if isinstance(topic, CommandTopic) else entry.links[topic - 1].name
            self._warn((name, own, kind), f"{name}/{own} refused: {error}")

    def pull(self, message: Any) -> None:
        """Lets a hand pull at an object, or says in the log why it cannot. For the stepping thread."""
        try:
            self.pulls.accept(message, self.step)
        except RaisimError as error:
            self._warn(("pull", _without_numbers(str(error))), f"world/pull refused: {error}")

    def _apply_command(self, entry: ObjectRow, topic: CommandTopic | int, message: Any) -> None:
        if topic is CommandTopic.OBJECT:
            self.commands.accept(entry, message, self.step)
        elif topic is CommandTopic.JOINTS:
            self.commands.accept_joints(entry, message, self.step)
        elif topic is CommandTopic.TRAJECTORY:
            self.commands.accept_trajectory(entry, message, self.world.get_world_time())
        elif topic is CommandTopic.VELOCITY:
            self.commands.accept_velocity(entry, message, self.step)
        else:
            self.commands.accept_link(entry, topic, message, self.step)

    def _check_client(self) -> None:
        if not self.throttled or self.client_timeout == 0.0:
            return
        if time.monotonic() - self._last_client_sign > self.client_timeout:
            self.cancel_steps()
            self.throttled = False
            self.set_paused(True)
            self._warn(
                "client",
                f"no world/cmd for {self.client_timeout:g} s from the client that steps the world: paused",
            )

    def _serve_step_request(self) -> None:
        self.is_late = True
        request = self._step_requests[0]
        request.steps -= self._advance(min(request.steps, request.at_once or request.steps))
        if request.at_once is not None:
            request.advanced(request.steps)
        if request.steps <= 0:
            self._step_requests.popleft()
            request.done(0)

    def _run_freely(self) -> None:
        wait = self.pacer.seconds_until(self.world.get_world_time())
        self.is_late = wait <= 0.0
        if wait > 0.0:
            self._queue.wait(min(wait, _IDLE_PERIOD))
        else:
            self._advance(NEVER)

    def _idle(self) -> None:
        self.is_late = False
        if time.monotonic() >= self._next_paused_publish or self._built_for != self._configuration():
            self._publish(everything=True, standing=True)
            self._next_paused_publish = time.monotonic() + _PAUSED_PERIOD
        self._queue.wait(_IDLE_PERIOD)

    def _advance(self, limit: int) -> int:
        """Steps to the next moment at which something must be published, at most `limit` steps.

        The state after the last of these is published completely.
        """
        self._rebuild_topics()
        before = self.world.get_step_count()
        steps = min(limit, self._steps_to_next_stop(), self._steps_that_fit(), self.steps_until_input())
        steps = min(steps, self.pulls.steps_until_due())
        # While a trajectory is followed, there is one step at a time.
        self.commands.trajectories.advance(
            self.world.get_world_time() + self.world.get_time_step(), self.table.by_id
        )
        self.pulls.apply(self.step, self.commands.patience(self.world.get_time_step()))
        started = time.perf_counter()
        try:
            self.world.integrate(steps)
        except DivergedError as error:
            self._warn("diverged", str(error))
        taken = self.world.get_step_count() - before
        self.taken += taken
        self._note_duration((time.perf_counter() - started) / max(taken, 1))
        self.commands.check_trajectories(self.world.get_world_time(), self.table.by_id)
        self.commands.drop_stale(self.step, self.world.get_time_step(), self.table.by_id)
        self._publish(everything=taken >= limit)
        return taken

    def _steps_to_next_stop(self) -> int:
        step = self.step
        stops = [topic.steps_until_due(step) for topic in self._topics]
        stops.append(steps_until_multiple(step, self._clock_period))
        stops.append(self.commands.steps_until_due(step, self.world.get_time_step()))
        return min(stops)

    def _steps_that_fit(self) -> int:
        """Steps that keep requests waiting no longer than they must."""
        duration = self.meters.step_duration
        return max(1, int(_MAX_COMPUTING / duration)) if duration > 0.0 else 1

    def _note_duration(self, duration: float) -> None:
        meters = self.meters
        meters.step_duration += 0.1 * (duration - meters.step_duration) if meters.step_duration else duration
        meters.sim_time.add(self.world.get_world_time())
        meters.steps.add(self.step)

    # ---- publishing ----

    def _configuration(self) -> tuple[int, float]:
        return self.world.get_configuration_number(), self.world.get_time_step()

    def _rebuild_topics(self) -> None:
        configuration = self._configuration()
        if configuration == self._built_for:
            return
        rows, time_step = self.table.rows(), self.world.get_time_step()
        self._clock_period = period_in_steps(self.clock_rate_hz, time_step)
        for topic in self._topics:
            topic.rebuild(rows, time_step)
        self._built_for = configuration

    def _publish(self, everything: bool, standing: bool = False) -> None:
        self._rebuild_topics()
        moment = Moment.now(self.step, self.world.get_world_time(), everything, standing)
        due = [topic for topic in self._topics if topic.due(moment)]
        clock_due = everything or moment.step % self._clock_period == 0
        # Nothing may carry a stamp that /clock has not told yet.
        if self._clock is not None and (due or clock_due):
            self._clock.publish(moment)
        if due:
            states = self.world.read_states(xyzw=True)
            for topic in due:
                topic.publish(moment, states)
            self.meters.rounds += 1
            self.meters.publishing.add(self.meters.rounds)
