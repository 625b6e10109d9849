"""Services that change settings while the world runs: of the simulation, rates of an object, and gains of joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import raisim_ros.srv as srv
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.ros.conversions import Vector, finite_vector
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.objects.request_fields import own_rates
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.robots.joint_commands import set_gains

Handler = Callable[[Any, Any], str]
_SWITCH = {srv.SetWorldSettings.Request.ON: True, srv.SetWorldSettings.Request.OFF: False}


class SettingServices:
    """Handlers for `Services`: they raise what is wrong and return what was done."""

    def __init__(
        self,
        queue: RequestQueue,
        loop: SteppingLoop,
        set_live: Callable[[dict[str, Any]], None],
        sync_live: Callable[[], None],
    ) -> None:
        """`set_live` sets settings by their names, all or none; `sync_live` tells that others were changed."""
        self._set_live = set_live
        self._sync_live = sync_live
        self._queue = queue
        self._loop = loop
        self.plain: dict[str, tuple[Any, Handler]] = {
            "set_joint_gains": (srv.SetJointGains, self._set_gains),
            "set_object_rates": (srv.SetObjectRates, self._set_rates),
            "set_world_settings": (srv.SetWorldSettings, self._set_settings),
        }

    # ---- gains ----

    def _set_gains(self, request: Any, response: Any) -> str:
        def change() -> None:
            entry = self._loop.table.get(request.name)
            if entry.joints is None:
                raise WrongTypeError(f"'{request.name}' has no joints")
            names = list(request.joint_names) or entry.joints.names
            places = entry.joints.places(names, "joint_names")
            gains = {field: getattr(request, field) for field in ("p_gains", "d_gains") if len(getattr(request, field))}
            numbers = {field: gain_numbers(values, field, len(names)) for field, values in gains.items()}
            set_gains(entry, places, numbers.get("p_gains"), numbers.get("d_gains"))

        self._queue.call(change)
        self._sync_live()
        return f"gains of '{request.name}' set"

    # ---- topics of one object ----

    def _set_rates(self, request: Any, response: Any) -> str:
        def change() -> None:
            handle = self._loop.table.get(request.name).handle
            low, high = own_rates(request)
            handle.set_interface(replace(handle.get_interface(), min_rate_hz=low, max_rate_hz=high))
            self._loop.rebuild()

        self._queue.call(change)
        return f"rates of '{request.name}' set"

    # ---- the simulation ----

    def _set_settings(self, request: Any, response: Any) -> str:
        wanted = _wanted(request)
        if not wanted:
            raise InvalidValueError("no setting is given; expected at least one")
        self._set_live(wanted)
        return f"set: {', '.join(wanted)}"


_LISTS = ("gravity", "erp")
_COUNTS = ("solver_iterations", "threads")
# Negative numbers leave them as they are.
_NUMBERS = (
    "solver_threshold", "real_time_factor", "clock_rate_hz", "state_min_rate_hz", "state_max_rate_hz", "states_rate_hz",
    "joint_states_rate_hz", "odom_rate_hz", "tf_rate_hz", "contacts_rate_hz", "world_state_rate_hz", "marker_rate_hz",
    "command_watchdog_s", "world_watchdog_s",
)  # fmt: skip


def _wanted(request: Any) -> dict[str, Any]:
    """What is asked for, by the names of the parameters that it also is."""
    wanted: dict[str, Any] = {}
    for name in _LISTS:
        if len(getattr(request, name)):
            wanted[name] = [float(value) for value in finite_vector(getattr(request, name), name)]
    for name in ("time_step", *_COUNTS, "command_watchdog_action"):
        if getattr(request, name):
            wanted[name] = getattr(request, name)
    for name in ("ccd", "sleeping"):
        if getattr(request, name):
            wanted[name] = _switch(getattr(request, name), name)
    for name in _NUMBERS:
        if not getattr(request, name) < 0.0:  # nan is asked for, and refused
            wanted[name] = getattr(request, name)
    return wanted


@dataclass(frozen=True)
class Change:
    """How a setting is changed, what it is at present, and whether it agrees with others that were changed with it."""

    change: Callable[[Any], Any]
    present: Callable[[], Any]
    check: Callable[[], None] = lambda: None


def apply_all(changes: Sequence[tuple[Change, Any]]) -> None:
    """Makes all changes, or none. For the stepping thread."""
    done: list[tuple[Change, Any]] = []
    try:
        for setting, value in changes:
            done.append((setting, setting.present()))
            setting.change(value)
        for setting, _ in changes:
            setting.check()
    except Exception:
        for setting, before in reversed(done):
            setting.change(before)
        raise


def _switch(value: int, field: str) -> bool:
    if value not in _SWITCH:
        raise InvalidValueError(f"{field} is {value}; expected 0 (unchanged), 1 (on) or 2 (off)")
    return _SWITCH[value]


def gain_numbers(values: Sequence[float], field: str, count: int) -> Vector:
    """One gain for each joint."""
    if len(values) not in (1, count):
        raise InvalidValueError(f"{field} has {len(values)} numbers; expected 1 or {count}")
    numbers = np.broadcast_to(finite_vector(values, field), (count,)).copy()
    if (numbers < 0.0).any():
        raise InvalidValueError(f"{field} is {numbers.tolist()}; expected numbers that are not negative")
    return numbers
