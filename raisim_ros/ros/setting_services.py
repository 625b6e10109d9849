"""Services that change settings while the world runs: of the simulation, and gains of joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import raisim_ros.srv as srv
from raisim_ros.description.errors import InvalidValueError
from raisim_ros.engine.errors import WrongTypeError
from raisim_ros.ros.conversions import Vector, finite_vector
from raisim_ros.ros.joint_commands import set_gains
from raisim_ros.ros.request_queue import RequestQueue
from raisim_ros.ros.stepping import SteppingLoop

Handler = Callable[[Any, Any], str]
_SWITCH = {srv.SetWorldSettings.Request.ON: True, srv.SetWorldSettings.Request.OFF: False}


class SettingServices:
    """Handlers for `Services`: they raise what is wrong and return what was done."""

    def __init__(self, queue: RequestQueue, loop: SteppingLoop) -> None:
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
            set_gains(entry, places, *(_gains(request, field, len(names)) for field in ("p_gains", "d_gains")))

        self._queue.call(change)
        return f"gains of '{request.name}' set"

    # ---- the simulation ----

    def _set_settings(self, request: Any, response: Any) -> str:
        changes = self._changes(request)
        if not changes:
            raise InvalidValueError("no setting is given; expected at least one")
        self._queue.call(lambda: _apply_all(list(changes.values())))
        return f"set: {', '.join(changes)}"

    def _changes(self, request: Any) -> dict[str, tuple[Callable[[], Any], Callable[[], Callable[[], Any]]]]:
        """What is asked for, by name: how to do it, and how to find out what undoes it."""
        world, loop = self._loop.world, self._loop
        changes: dict[str, tuple[Callable[[], Any], Callable[[], Callable[[], Any]]]] = {}

        def add(name: str, setter: Callable[[Any], Any], value: Any, present: Callable[[], Any]) -> None:
            def undo() -> Callable[[], Any]:
                before = present()
                return lambda: setter(before)

            changes[name] = (lambda: setter(value), undo)

        if len(request.gravity):
            if len(request.gravity) != 3:
                raise InvalidValueError(f"gravity has {len(request.gravity)} numbers; expected 3")
            add("gravity", self._set_gravity, finite_vector(request.gravity, "gravity"), world.get_gravity)
        if request.time_step != 0.0:
            if not 0.0 < request.time_step <= 1.0:
                raise InvalidValueError(f"time_step is {request.time_step:g}; expected above 0, at most 1 s")
            add("time_step", world.set_time_step, request.time_step, world.get_time_step)
        if len(request.erp):
            if len(request.erp) != 2:
                raise InvalidValueError(f"erp has {len(request.erp)} numbers; expected 2")
            add("erp", lambda pair: world.set_erp(*pair), list(finite_vector(request.erp, "erp")), world.get_erp)
        if request.solver_iterations or request.solver_threshold >= 0.0:
            iterations, threshold = world.get_contact_solver_param()
            wanted = (
                request.solver_iterations or iterations,
                request.solver_threshold if request.solver_threshold >= 0.0 else threshold,
            )
            add("solver", self._set_solver, wanted, world.get_contact_solver_param)
        if request.ccd:
            settings = replace(world.get_contact_settings(), swept_ccd_enabled=_switch(request.ccd, "ccd"))
            add("ccd", world.set_contact_settings, settings, world.get_contact_settings)
        if request.sleeping:
            value = _switch(request.sleeping, "sleeping")
            add("sleeping", world.set_sleeping_enabled, value, world.is_sleeping_enabled)
        if request.real_time_factor >= 0.0:
            finite_vector((request.real_time_factor,), "real_time_factor")
            add("real_time_factor", self._set_factor, request.real_time_factor, lambda: loop.pacer.real_time_factor)
        return changes

    def _set_gravity(self, gravity: Any) -> None:
        self._loop.world.set_gravity(gravity)
        self._loop.world.wake_all()

    def _set_solver(self, iterations_and_threshold: tuple[int, float]) -> None:
        self._loop.world.set_contact_solver_param(1.0, 1.0, 1.0, *iterations_and_threshold)

    def _set_factor(self, factor: float) -> None:
        self._loop.pacer.set_real_time_factor(factor, self._loop.world.get_world_time())


def _apply_all(changes: list[tuple[Callable[[], Any], Callable[[], Callable[[], Any]]]]) -> None:
    """All of them, or none."""
    undone: list[Callable[[], Any]] = []
    try:
        for change, find_undo in changes:
            undo = find_undo()
            change()
            undone.append(undo)
    except Exception:
        for undo in reversed(undone):
            undo()
        raise


def _switch(value: int, field: str) -> bool:
    if value not in _SWITCH:
        raise InvalidValueError(f"{field} is {value}; expected 0 (unchanged), 1 (on) or 2 (off)")
    return _SWITCH[value]


def _gains(request: Any, field: str, count: int) -> Vector | None:
    """One gain for each joint; None: unchanged."""
    values = getattr(request, field)
    if not len(values):
        return None
    if len(values) not in (1, count):
        raise InvalidValueError(f"{field} has {len(values)} numbers; expected 1, {count} or none")
    numbers = np.broadcast_to(finite_vector(values, field), (count,)).copy()
    if (numbers < 0.0).any():
        raise InvalidValueError(f"{field} is {numbers.tolist()}; expected numbers that are not negative")
    return numbers
