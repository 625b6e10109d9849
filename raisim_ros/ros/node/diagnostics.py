"""`/diagnostics`: whether the world keeps up with time, and what a step costs."""

from __future__ import annotations

from typing import Any

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from std_msgs.msg import Header

from raisim_ros.engine.types import StateBuffer
from raisim_ros.ros.moment import Moment
from raisim_ros.ros.node.stepping import SteppingLoop
from raisim_ros.ros.objects.topic import WallTimeTopic

_RATE_HZ = 1.0  # of wall time
# A world that runs slower than this part of the wanted factor does not keep up.
_KEEPS_UP = 0.9


class DiagnosticsTopic(WallTimeTopic):
    """Publishes one status per world, once a second of wall time."""

    def __init__(self, loop: SteppingLoop, name: str, publisher: Any) -> None:
        """`name` tells the world from others."""
        super().__init__(_RATE_HZ, publisher)
        self._loop = loop
        self._name = name
        self._overruns = 0  # told so far

    def due(self, moment: Moment) -> bool:
        """Whether its time has come and somebody listens."""
        if self._publisher.get_subscription_count() == 0:
            self._overruns = self._loop.pacer.overruns  # nobody is told of them later, as if they were new
            return False
        return self.timer.due()

    def publish(self, moment: Moment, states: StateBuffer) -> None:
        """Publishes how the world is doing."""
        header = Header(stamp=Time(sec=moment.stamp.sec, nanosec=moment.stamp.nanosec))
        self._publisher.publish(DiagnosticArray(header=header, status=[self._status(moment)]))

    def _status(self, moment: Moment) -> DiagnosticStatus:
        loop = self._loop
        factor, wanted = loop.meters.sim_time.rate(), loop.pacer.real_time_factor
        late = loop.pacer.overruns - self._overruns
        self._overruns = loop.pacer.overruns
        counters = loop.world.get_collision_counters()
        level, message = DiagnosticStatus.OK, "running"
        if not loop.free_running:
            factor, message = 0.0, "paused" if loop.paused else "stepped by a client"
        elif late or (factor > 0.0 and factor < _KEEPS_UP * wanted):
            level = DiagnosticStatus.WARN
            message = f"too slow: real-time factor {factor:.3g} instead of {wanted:g}, {late} overruns"
        values = {
            "real-time factor": f"{factor:.4g}",
            "wanted real-time factor": f"{wanted:g}" if wanted else "as fast as possible",
            "step time [ms]": f"{1e3 * loop.meters.step_duration:.4g}",
            "time step [ms]": f"{1e3 * loop.world.get_time_step():g}",
            "steps": str(moment.step),
            "overruns": str(loop.pacer.overruns),
            "solver iterations": str(counters.solver_iterations),
            "solver error [m/s]": f"{counters.solver_error:.3g}",
            "solver error, relative": f"{counters.solver_relative_error:.3g}",
            "work of contacts [J]": f"{counters.contact_work:.4g}",
            "restrained islands": str(counters.restrained_islands),
            "contacts": str(counters.contacts),
            "awake bodies": str(counters.awake_bodies),
            "objects": str(len(loop.table)),
        }
        pairs = [KeyValue(key=key, value=value) for key, value in values.items()]
        return DiagnosticStatus(
            level=level, name=f"{self._name}: simulation", message=message, hardware_id="raisim_ros", values=pairs
        )
