"""Parameters that can be changed while the world runs: checked, all or none, told to those who listen for events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.node import Node
from rclpy.parameter import Parameter

from raisim_ros.description.errors import InvalidValueError, RaisimError
from raisim_ros.ros.node import inputs
from raisim_ros.ros.node.gain_parameters import GAINS, gain_changes
from raisim_ros.ros.node.long_work import LongWork
from raisim_ros.ros.node.parameters import check_watchdog_action
from raisim_ros.ros.node.setting_services import Change, apply_all
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.objects.commands import Watchdog
from raisim_ros.ros.objects.state_topics import StateTopics
from raisim_ros.ros.pacing import WallTimer
from raisim_ros.ros.request_queue import Origin, RequestQueue, acting_for

# Settings of the simulation: description and range. Their first values are those of the world.
_SETTINGS: dict[str, tuple[str, tuple[float, float] | None]] = {
    "gravity": ("Gravitational acceleration [m/s^2]: 3 numbers.", None),
    "time_step": ("Duration of a step [s].", (1e-7, 1.0)),
    "erp": ("Overlap correction: strength, damping.", None),
    "solver_iterations": ("Most sweeps of the contact solver in a step.", (1, 1_000_000)),
    "solver_threshold": ("Squared relative change at which the sweeps end.", (0.0, 1.0)),
    "ccd": ("Keep fast bodies from tunnelling.", None),
    "sleeping": ("Bodies at rest are skipped.", None),
    "threads": ("Threads that share the work of a step.", (1, 256)),
}


class LiveParameters:
    """For the executor thread."""

    def __init__(self, node: Node, queue: RequestQueue, loop: SteppingLoop, work: LongWork) -> None:
        self._node = node
        self._queue = queue
        self._loop = loop
        self._work = work
        self._syncing = False
        self._gains: dict[str, Change] = {}
        self._setters: dict[str, Change] = {**self._settings(), **self._running()}

    def add_rates(self, name: str, topics: Iterable[Any]) -> None:
        """A parameter is the rate of topics, in Hz of simulation time."""
        chosen = list(topics)

        def change(rate: float) -> None:
            for topic in chosen:
                topic.rate_hz = rate
            self._loop.rebuild()

        self._setters[name] = Change(change, lambda: chosen[0].rate_hz)

    def add_timers(self, name: str, timers: Sequence[WallTimer]) -> None:
        """A parameter is the rate of what follows wall time [Hz]."""

        def change(rate: float) -> None:
            for timer in timers:
                timer.set_rate(rate)

        self._setters[name] = Change(change, lambda: timers[0].rate_hz)

    def add_state_rates(self, topics: Sequence[StateTopics]) -> None:
        """The three rates of states."""

        def check() -> None:
            rates = topics[0].rates
            if rates.min_hz > rates.max_hz:
                limit = f"state_max_rate_hz {rates.max_hz:g}"
                raise InvalidValueError(f"state_min_rate_hz is {rates.min_hz:g}; expected at most {limit}")

        def setter(field: str) -> Change:
            def change(rate: float) -> None:
                for one in topics:
                    one.rates = replace(one.rates, **{field: rate})
                self._loop.rebuild()

            return Change(change, lambda: getattr(topics[0].rates, field), check)

        for name, field in (
            ("state_min_rate_hz", "min_hz"),
            ("state_max_rate_hz", "max_hz"),
            ("states_rate_hz", "array_hz"),
        ):
            self._setters[name] = setter(field)

    def begin(self) -> None:
        """Declares the settings, lets those that were given at the start act, and takes changes from now on."""
        present = {name: self._setters[name].present() for name in _SETTINGS}
        given = {}
        for name, (description, limits) in _SETTINGS.items():
            descriptor = ParameterDescriptor(name=name, description=description)
            if limits is not None and isinstance(present[name], float):
                descriptor.floating_point_range = [FloatingPointRange(from_value=limits[0], to_value=limits[1])]
            elif limits is not None:
                descriptor.integer_range = [IntegerRange(from_value=int(limits[0]), to_value=int(limits[1]))]
            value = self._node.declare_parameter(name, present[name], descriptor).value
            if value != present[name]:
                given[name] = value
        apply_all([(self._setters[name], value) for name, value in given.items()])
        apply_all(self._take_over(*self._present()))
        self._node.add_on_set_parameters_callback(self._on_set)
        self._node.add_post_set_parameters_callback(self._after_set)

    def set_all(self, wanted: dict[str, Any]) -> None:
        """Changes settings as the service asks for it; raises what is wrong."""
        for name, value in wanted.items():
            if name not in self._setters:
                raise InvalidValueError(f"{name} is given; this node was started without such topics")
            self._check_range(name, value)
        self._queue.call(lambda: apply_all([(self._setters[name], value) for name, value in wanted.items()]))
        self.sync()

    def _check_range(self, name: str, value: Any) -> None:
        """A service may set no more than the parameter of that name takes."""
        descriptor = self._node.describe_parameter(name)
        for limits in (*descriptor.floating_point_range, *descriptor.integer_range):
            low, high = limits.from_value, limits.to_value
            if not low <= value <= high:
                raise InvalidValueError(f"{name} is {value:g}; expected {low:g} to {high:g}")

    def sync(self) -> None:
        """The world has changed otherwise: parameters take its settings and the gains of its robots over."""
        given = self._take_over(*self._queue.call(self._present))
        if given:
            try:
                self._queue.call(lambda: apply_all(given))
            except RaisimError as error:
                self._node.get_logger().warning(f"not taken over: {error}")

    def _take_over(self, gains: dict[str, Change], present: dict[str, Any]) -> list[tuple[Change, Any]]:
        """Brings the parameters to what is present; returns gains of new robots that were given at the start."""
        self._syncing = True
        try:
            for name in self._gains.keys() - gains.keys():
                self._node.undeclare_parameter(name)
            given = {}
            for name in gains.keys() - self._gains.keys():
                descriptor = ParameterDescriptor(description=GAINS[name.rpartition(".")[2]])
                value = self._node.declare_parameter(name, present[name], descriptor).value
                if list_of(value) != present[name]:
                    given[name] = value
            self._gains = gains
            changed = [
                Parameter(name, value=value)
                for name, value in present.items()
                if name not in given and list_of(self._node.get_parameter(name).value) != list_of(value)
            ]
            if changed:
                self._node.set_parameters_atomically(changed)
        finally:
            self._syncing = False
        return [(gains[name], value) for name, value in given.items()]

    def _present(self) -> tuple[dict[str, Change], dict[str, Any]]:
        """The gains that there are, and the values of all that others can change too. For the stepping thread."""
        gains = gain_changes(self._loop.table)
        watched = self._setters | gains
        return gains, {name: setting.present() for name, setting in watched.items()}

    def _on_set(self, changes: Sequence[Parameter]) -> SetParametersResult:
        setters = self._setters | self._gains
        known = [(setters[change.name], change.value) for change in changes if change.name in setters]
        if self._syncing or not known:
            return SetParametersResult(successful=True)
        request = SetParametersAtomically.Request(parameters=[change.to_parameter_msg() for change in changes])
        try:
            with acting_for(Origin(inputs.PARAMETERS, "", request)):
                self._queue.call(lambda: apply_all(known))
        except RaisimError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _after_set(self, changes: Sequence[Parameter]) -> None:
        """One number for all joints of a robot is told as a number for each."""
        if not self._syncing and any(change.name in self._gains for change in changes):
            self.sync()

    # ---- what they do, on the stepping thread ----

    def _settings(self) -> dict[str, Change]:
        world = self._loop.world

        def set_gravity(gravity: Sequence[float]) -> None:
            if len(gravity) != 3:
                raise InvalidValueError(f"gravity has {len(gravity)} numbers; expected 3")
            world.set_gravity(gravity)
            world.wake_all()

        def set_erp(pair: Sequence[float]) -> None:
            if len(pair) != 2:
                raise InvalidValueError(f"erp has {len(pair)} numbers; expected 2")
            world.set_erp(*pair)

        def set_solver(iterations: int | None = None, threshold: float | None = None) -> None:
            present = world.get_contact_solver_param()
            wanted = (iterations or present[0], present[1] if threshold is None else threshold)
            world.set_contact_solver_param(1.0, 1.0, 1.0, *wanted)

        def set_ccd(enabled: bool) -> None:
            world.set_contact_settings(replace(world.get_contact_settings(), swept_ccd_enabled=enabled))

        return {
            "gravity": Change(set_gravity, lambda: [float(value) for value in world.get_gravity()]),
            "time_step": Change(world.set_time_step, world.get_time_step),
            "erp": Change(set_erp, lambda: list(world.get_erp())),
            "solver_iterations": Change(set_solver, lambda: world.get_contact_solver_param()[0]),
            "solver_threshold": Change(
                lambda value: set_solver(threshold=value), lambda: world.get_contact_solver_param()[1]
            ),
            "ccd": Change(set_ccd, lambda: bool(world.get_contact_settings().swept_ccd_enabled)),
            "sleeping": Change(world.set_sleeping_enabled, lambda: bool(world.is_sleeping_enabled())),
            "threads": Change(world.set_threads, world.get_threads),
        }

    def _running(self) -> dict[str, Change]:
        loop, work = self._loop, self._work

        def set_watchdog(**fields: Any) -> None:
            loop.commands.watchdog = replace(loop.commands.watchdog, **fields)

        def watchdog() -> Watchdog:
            return loop.commands.watchdog

        def set_factor(factor: float) -> None:
            loop.pacer.set_real_time_factor(factor, loop.world.get_world_time())

        def set_clock_rate(rate: float) -> None:
            loop.clock_rate_hz = rate
            loop.rebuild()

        return {
            "real_time_factor": Change(set_factor, lambda: loop.pacer.real_time_factor),
            "clock_rate_hz": Change(set_clock_rate, lambda: loop.clock_rate_hz),
            "command_watchdog_s": Change(lambda value: set_watchdog(timeout=value), lambda: watchdog().timeout),
            "command_watchdog_action": Change(
                lambda text: set_watchdog(action=check_watchdog_action(text)), lambda: watchdog().action.value
            ),
            "world_watchdog_s": Change(_attribute(loop, "client_timeout"), lambda: loop.client_timeout),
            "long_work_limit_s": Change(_attribute(work, "limit_s"), lambda: work.limit_s),
        }


def _attribute(owner: Any, name: str) -> Callable[[Any], None]:
    return lambda value: setattr(owner, name, value)


def list_of(value: Any) -> Any:
    """Arrays of parameters as lists, which compare; other values as they are."""
    return list(value) if hasattr(value, "__len__") and not isinstance(value, str) else value
