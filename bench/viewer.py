"""The viewer with 1000 objects that all move: frames per second, and what it costs the world.

    python bench/viewer.py

A world of this process steps in real time, and as fast as possible, with nobody looking and with a page open in a
headless Chromium; then one of a node, with the viewer as another process. Without a graphics card a browser would draw
on the cores that are measured, so the page takes its frames and draws one a second; the browser gives way (nice 19).
What the viewer itself does is told by its frames, the bytes that the page gets, and the processor time of its threads.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from raisim_ros import Viewer, World
from raisim_ros.viewer.viewer import Page

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, table

OBJECTS, SECONDS, STEP = 1000, 8.0, 0.005
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SELDOM = "window.requestAnimationFrame = call => setTimeout(() => call(performance.now()), 1000);"


def moving_world() -> World:
    """Boxes and balls that bounce in a bowl without losing speed."""
    world, random = World(), np.random.default_rng(3)
    world.set_time_step(STEP)
    x, y = np.meshgrid(np.linspace(-12, 12, 60), np.linspace(-12, 12, 60))
    world.add_height_map(60, 60, 24.0, 24.0, 0.0, 0.0, (0.03 * (x**2 + y**2)).ravel(), material="floor")
    for material in ("floor", "default"):
        world.set_material_pair_prop(material, "default", friction=0.0, restitution=1.0, res_threshold=0.0)
    for number in range(OBJECTS):
        body = world.add_sphere(0.08, 0.2) if number % 2 else world.add_box(0.14, 0.14, 0.14, 0.2)
        body.set_position(*random.uniform(-9, 9, 2), 4.0 + random.uniform(0, 6))
    return world


class Meter:
    """What happens in a second of wall time: `steps` counts those of the world, whose time step is STEP."""

    def __init__(self, steps: Callable[[], float], viewer: Page) -> None:
        self._steps, self._viewer = steps, viewer
        self._bytes = 0

    def listen(self, page: Any) -> None:
        """Count what a page gets from its server."""
        page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, data: Any) -> None:
        self._bytes += len(data)

    def _cpu(self) -> float:
        """Processor time that the page's own thread and that of its server have used [s]."""
        names = {self._viewer._thread.name, "Thread-1 (<lambda>)", "raisim_ros viewer ROS"}
        owners = [one.ident for one in threading.enumerate() if one.name in names and one.ident is not None]
        return sum(time.clock_gettime(time.pthread_getcpuclockid(one)) for one in owners)

    def _totals(self) -> Any:
        return np.array([self._steps(), self._viewer.frames, self._bytes, self._cpu()], float)

    def rates(self, seconds: float, page: Any) -> list[float]:
        """Steps, frames of the viewer, bytes that the page got, processor seconds of the viewer."""
        before, begin = self._totals(), time.monotonic()
        if page is None:
            time.sleep(seconds)
        else:
            page.wait_for_timeout(1000.0 * seconds)  # Playwright must breathe
        return [float(value) for value in (self._totals() - before) / (time.monotonic() - begin)]


def open_page(browser: Any, viewer: Page, meter: Meter, frames: float) -> Any:
    """A page that has got so many frames, and with them what does not move."""
    page = browser.new_page(viewport={"width": 320, "height": 200})
    page.add_init_script(SELDOM)
    meter.listen(page)
    page.goto(viewer.address)
    viewer.wait_for_browser(60.0)
    shown = viewer.frames
    while viewer.frames < shown + frames:
        page.wait_for_timeout(100)
    return page


def in_process(browser: Any, effort: Effort) -> list[list[str]]:
    """A world of this process."""
    world = moving_world()
    viewer, lines = Viewer(world, port=0, quiet=True), []
    meter, start = Meter(world.get_step_count, viewer), world.save_snapshot()
    for name, speed in (("in real time", 1.0), ("as fast as possible", 0.0)):
        measured = []
        for looked_at in (False, True):
            viewer.pause()
            world.restore_snapshot(start)
            viewer._world_feed.set_speed(speed)
            page = open_page(browser, viewer, meter, 60 * min(effort.share * 10.0, 1.0)) if looked_at else None
            viewer.play()
            measured.append(meter.rates(max(effort.share * SECONDS, 0.5), page))
            if page is not None:
                page.close()
        lines.append(row(name, *measured))
    viewer.close()
    return lines


def over_ros(browser: Any, effort: Effort) -> list[list[str]]:
    """The world of a node; this process is the viewer."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("ROS_DOMAIN_ID", str(151 + os.getpid() % 50))
    try:
        import rclpy

        from raisim_ros.viewer.ros_feed import RosFeed
    except ImportError:
        return []
    rclpy.init()
    with tempfile.TemporaryDirectory() as folder:
        moving_world().export_to_xml(Path(folder) / "world.xml")
        command = [sys.executable, "-m", "raisim_ros.ros.world_node", "--ros-args", "-p", f"world:={folder}/world.xml"]
        node = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        feed = RosFeed(rclpy.create_node("viewer_bench"))
        viewer = Page(feed, port=0, quiet=True)
        meter, measured = Meter(lambda: feed._state.sim_time / STEP, viewer), []
        while feed._state.sim_time < 2.0 * min(effort.share * 10.0, 1.0):  # a node that has just started is behind
            time.sleep(0.1)
        for looked_at in (False, True):
            page = open_page(browser, viewer, meter, 60 * min(effort.share * 10.0, 1.0)) if looked_at else None
            measured.append(meter.rates(max(effort.share * SECONDS, 0.5), page))
        viewer.close()
        node.send_signal(signal.SIGINT)
        node.wait(10.0)
    rclpy.try_shutdown()
    return [row("of a node, in real time", *measured)]


def row(name: str, without: list[float], looked_at: list[float]) -> list[str]:
    """A line of the table."""
    alone, (seen, frames, size, cores) = without[0], looked_at
    ratio = f"{seen / alone:.3f}" if alone > 0.0 else "-"  # a short run may end before the node is heard again
    numbers = [f"{alone:.0f}", f"{seen:.0f}", ratio, f"{frames:.1f}", f"{size / 1e3:.0f}"]
    return [name, *numbers, f"{cores:.3f}"]


def measure(effort: Effort) -> str:
    """Markdown for docs/benchmarks.md."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RAISIM_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        last = Path(folder) / "chromium"
        last.write_text(f'#!/bin/sh\nexec nice -n 19 {shlex.quote(str(chromium))} "$@"\n')
        last.chmod(0o755)
        browser = playwright.chromium.launch(executable_path=last, args=FLAGS)
        lines = [*in_process(browser, effort), *over_ros(browser, effort)]
        browser.close()
    of_steps, of_viewer = ["steps/s alone", "with a page", "ratio"], ["frames/s", "kB/s", "its cores"]
    return f"## The viewer\n\n{table(['world of 1000 moving objects', *of_steps, *of_viewer], lines)}"


if __name__ == "__main__":
    print(measure(Effort()))
