"""`world/state` and `world/cmd`: the loop that steps the world, seen and steered from outside."""

from __future__ import annotations

import math
from typing import Any

from std_msgs.msg import Header

from raisim_ros.engine.types import StateBuffer
from raisim_ros.msg import WorldCmd, WorldState
from raisim_ros.ros.frozen_message import FrozenMessage
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.node.stepping import SteppingLoop, StepRequest
from raisim_ros.ros.objects.commands import CommandRefusedError
from raisim_ros.ros.objects.topic import WallTimeTopic


class WorldStateTopic(WallTimeTopic):
    """Publishes WorldState, at a rate in Hz of wall time."""

    def __init__(self, loop: SteppingLoop, world_frame: str, rate_hz: float, publisher: Any) -> None:
        super().__init__(rate_hz, publisher)
        self._loop = loop
        self._message = FrozenMessage(WorldState(header=Header(frame_id=world_frame)))
        self._stamp = self._message.numbers("header.stamp.sec", "header.stamp.nanosec").view("u4")

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes the state of world and loop."""
        self._stamp[:] = moment.stamp
        for path, value in self._values(moment).items():
            self._message.numbers(path)[:] = value
        self._message.numbers("gravity.x", "gravity.z")[:] = self._loop.world.get_gravity()
        self._publisher.publish(self._message.to_bytes())

    def _values(self, moment: Moment) -> dict[str, float]:
        loop = self._loop
        stopped = not loop.free_running and not loop.pending_steps
        return {
            "sim_step": moment.step,
            "sim_time": moment.sim_time,
            "wall_time": moment.wall_time,
            "time_step": loop.world.get_time_step(),
            "paused": loop.paused,
            "step_throttling": loop.throttled,
            "pending_steps": loop.pending_steps,
            "target_real_time_factor": loop.pacer.real_time_factor,
            "real_time_factor": 0.0 if stopped else loop.meters.sim_time.rate(),
            "step_rate_hz": 0.0 if stopped else loop.meters.steps.rate(),
            "publish_rate_hz": loop.meters.publishing.rate(),
            "step_duration": loop.meters.step_duration,
            "overruns": loop.pacer.overruns,
            "num_objects": len(loop.table),
            "num_contacts": loop.world.get_collision_counters().contacts,
            "configuration_number": loop.world.get_configuration_number(),
        }


def check_world_command(message: Any, stopped_after: bool) -> None:
    """Refuses a WorldCmd that makes no sense; `stopped_after`: the world stands still after it."""
    if message.run_state not in (WorldCmd.KEEP, WorldCmd.PAUSE, WorldCmd.PLAY):
        raise CommandRefusedError("run_state", f"run_state is {message.run_state}; expected 0, 1 or 2")
    if message.step_throttling not in (WorldCmd.KEEP, WorldCmd.ON, WorldCmd.OFF):
        raise CommandRefusedError("throttling", f"step_throttling is {message.step_throttling}; expected 0, 1 or 2")
    if not math.isfinite(message.real_time_factor):
        raise CommandRefusedError("factor", f"real_time_factor is {message.real_time_factor}; expected a finite number")
    if message.step_count and not stopped_after:
        raise CommandRefusedError("step_count", "step_count needs a world that is paused or throttled")


def apply_world_command(loop: SteppingLoop, message: Any) -> None:
    """Carries a WorldCmd out, all of it or nothing. For the stepping thread."""
    paused = {WorldCmd.PAUSE: True, WorldCmd.PLAY: False}.get(message.run_state, loop.paused)
    throttled = {WorldCmd.ON: True, WorldCmd.OFF: False}.get(message.step_throttling, loop.throttled)
    check_world_command(message, stopped_after=paused or throttled)
    loop.note_client()
    if paused != loop.paused:
        loop.set_paused(paused)
    if throttled != loop.throttled:
        loop.set_throttled(throttled)
    if message.real_time_factor >= 0.0:
        loop.pacer.set_real_time_factor(message.real_time_factor, loop.world.get_world_time())
    if message.step_count:
        loop.request_steps(StepRequest(message.step_count, lambda _: None))
