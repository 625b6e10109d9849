"""What is plotted, without a browser."""

from __future__ import annotations

import sys
import threading
from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("viser", reason="the viewer's extra is not installed")

from raisim_ros.viewer.plot import PLACE, SPEED, Plot


class Gui:
    """As much of a page as a plot needs."""

    def __init__(self):
        self.charts = []

    def add_dropdown(self, label, options):
        return SimpleNamespace(value=options[0], options=options, on_update=lambda callback: None)

    def add_folder(self, label, visible):
        return _Folder()

    def add_uplot(self, data, series, title, scales, aspect):
        self.charts.append(SimpleNamespace(data=data, series=series, title=title, remove=lambda: None))
        return self.charts[-1]


class _Folder(nullcontext):
    visible = True


@pytest.fixture
def plot():
    return Plot(SimpleNamespace(gui=Gui()))


def test_every_moment_has_its_row_while_people_choose(plot):
    """A choice comes from another thread, between two lines of what notes a moment."""
    before, over = sys.getswitchinterval(), threading.Event()
    sys.setswitchinterval(1e-6)

    def choose():
        while not over.is_set():
            for choice in (PLACE, SPEED):
                plot._choice.value = choice
                plot.forget()

    chooser = threading.Thread(target=choose)
    plot._choice.value = PLACE
    chooser.start()
    try:
        for step in range(4000):
            plot.note(0.01 * step, np.array([step, 0.0, 0.0]), {})
            with plot._lock:
                assert len(plot._times) == len(plot._rows)
    finally:
        over.set()
        chooser.join()
        sys.setswitchinterval(before)


def test_time_that_goes_back_begins_anew(plot):
    plot._choice.value = PLACE
    for time_ in (1.0, 1.1, 1.1, 1.2, 0.0, 0.1):
        plot.note(time_, np.array([time_, 0.0, 0.0]), {})
    plot.show(True)
    (chart,) = plot._gui.charts
    assert chart.data[0] == pytest.approx([0.0, 0.1])
    assert chart.data[1] == pytest.approx([0.0, 0.1])
    assert [one["label"] for one in chart.series] == ["t [s]", "x", "y", "z"]
