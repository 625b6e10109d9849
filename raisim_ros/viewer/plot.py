"""Numbers of the selected object over time, live."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import viser

from raisim_ros.viewer.scene import Quantities, Vector

NOTHING = "(none)"
PLACE, SPEED = "position [m]", "speed [m/s]"
# Moments that are shown, and lines at most.
LENGTH, MOST_LINES = 600, 12
COLORS = ("#1f6fd0", "#d0452f", "#2c9a4b", "#8a5bd1", "#c98a12", "#0f9aa8", "#b23a86", "#6b7280")


class Plot:
    """A choice of what to plot, and the chart of it."""

    def __init__(self, server: viser.ViserServer) -> None:
        self._gui = server.gui
        self._lock = threading.RLock()  # a choice comes in a thread of its own
        self._choice = self._gui.add_dropdown("Plot", (NOTHING, PLACE, SPEED))
        self._choice.on_update(lambda _: self.forget())
        self._folder = self._gui.add_folder("Plot", visible=False)
        self._chart: Any = None
        self._labels: tuple[str, ...] = ()
        self._times: list[float] = []
        self._rows: list[list[float]] = []
        self._last: tuple[float, Vector] | None = None

    def offer(self, groups: Quantities) -> None:
        """What can be plotted of the object that is selected now."""
        options = (NOTHING, PLACE, SPEED, *groups)
        if tuple(self._choice.options) != options:
            kept = self._choice.value if self._choice.value in options else NOTHING
            self._choice.options = options
            self._choice.value = kept
        self.forget()

    def forget(self) -> None:
        """Begin anew."""
        with self._lock:
            self._times, self._rows, self._last = [], [], None

    def wants_more(self) -> bool:
        """Whether note() needs numbers besides the place."""
        return self._choice.value not in (NOTHING, PLACE, SPEED)

    def note(self, time: float, place: Vector, groups: Quantities) -> None:
        """A moment of the selected object; times that were noted are passed over, earlier ones begin anew."""
        with self._lock:
            if self._times and time < self._times[-1]:
                self.forget()
            if self._choice.value == NOTHING or (self._times and time == self._times[-1]):
                return
            values = self._values(time, place, groups)
            self._last = (time, place)
            if tuple(values) != self._labels:
                self._labels = tuple(values)
                self.forget()
            self._times = [*self._times[-LENGTH:], time]
            self._rows = [*self._rows[-LENGTH:], list(values.values())]

    def _values(self, time: float, place: Vector, groups: Quantities) -> dict[str, float]:
        if self._choice.value == PLACE:
            return dict(zip("xyz", map(float, place), strict=True))
        if self._choice.value == SPEED:
            moved = 0.0 if self._last is None else float(np.linalg.norm(place - self._last[1]))
            return {"speed": 0.0 if self._last is None else moved / (time - self._last[0])}
        return dict(list(groups.get(str(self._choice.value), {}).items())[:MOST_LINES])

    def show(self, selected: bool) -> None:
        """Draw what was noted."""
        with self._lock:
            shown = selected and self._choice.value != NOTHING and len(self._times) > 1
            data, labels = (np.array(self._times), *np.array(self._rows).T), self._labels
        self._folder.visible = shown
        if not shown:
            return
        lines = [{"label": label, "stroke": COLORS[k % len(COLORS)], "width": 2} for k, label in enumerate(labels)]
        series: Any = ({"label": "t [s]"}, *lines)
        title = str(self._choice.value)
        if self._chart is not None and self._chart.title == title and self._chart.series == series:
            self._chart.data = data
            return
        if self._chart is not None:
            self._chart.remove()
        with self._folder:
            self._chart = self._gui.add_uplot(data, series, title=title, scales={"x": {"time": False}}, aspect=1.3)
