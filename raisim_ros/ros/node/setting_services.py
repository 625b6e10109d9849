"""Services that change settings while the world runs: of the simulation, and gains of joints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import raisim_ros.srv as srv
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.ros.conversions import Vector, finite_vector
from raisim_ros.ros.node.stepping import SteppingLoop
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

    # ---- the simulation ----

    def _set_settings(self, request: Any, response: Any) -> str:
        wanted = _wanted(request)
        if not wanted:
            raise InvalidValueError("no setting is given; expected at least one")
        self._set_live(wanted)
        return f"set: {', '.join(wanted)}"


def _wanted(request: Any) -> dict[str, Any]:
    """What is asked for, by the names of the parameters that it also is."""
    wanted: dict[str, Any] = {}
    for name in ("gravity", "erp"):
        if len(getattr(request, name)):
            wanted[name] = [float(value) for value in finite_vector(getattr(request, name), name)]
    if request.time_step != 0.0:
        if not 0.0 < request.time_step <= 1.0:
            raise InvalidValueError(f"time_step is {request.time_step:g}; expected above 0, at most 1 s")
        wanted["time_step"] = request.time_step
    if request.solver_iterations:
        wanted["solver_iterations"] = request.solver_iterations
    if request.solver_threshold >= 0.0:
        wanted["solver_threshold"] = request.solver_threshold
    for name in ("ccd", "sleeping"):
        if getattr(request, name):
            wanted[name] = _switch(getattr(request, name), name)
    if request.real_time_factor >= 0.0:
        finite_vector((request.real_time_factor,), "real_time_factor")
        wanted["real_time_factor"] = request.real_time_factor
    return wanted


@dataclass(frozen=True)
class Change:
    """How a setting is changed, and what it is at present."""

    change: Callable[[Any], Any]
    present: Callable[[], Any]


def apply_all(changes: Sequence[tuple[Change, Any]]) -> None:
    """Makes all changes, or none. For the stepping thread."""
    done: list[tuple[Change, Any]] = []
    try:
        for setting, value in changes:
            done.append((setting, setting.present()))
            setting.change(value)
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
