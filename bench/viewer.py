"""The viewer with 1000 objects that all move: frames per second, and what it costs the world.

    python bench/viewer.py

A world of this process steps in real time, and as fast as possible, with nobody looking and with a page open in a
headless Chromium. Without a graphics card a browser would draw on the cores that are measured, so the page takes its
frames and draws one a second.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

import numpy as np

from raisim_ros import Viewer, World

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH hides it

from section import Effort, table

OBJECTS, SECONDS = 1000, 8.0
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
SELDOM = "window.requestAnimationFrame = call => setTimeout(() => call(performance.now()), 1000);"


def moving_world() -> World:
    """Boxes and balls that bounce in a bowl without losing speed."""
    world, random = World(), np.random.default_rng(3)
    world.set_time_step(0.005)
    x, y = np.meshgrid(np.linspace(-12, 12, 60), np.linspace(-12, 12, 60))
    world.add_height_map(60, 60, 24.0, 24.0, 0.0, 0.0, (0.03 * (x**2 + y**2)).ravel(), material="floor")
    world.set_material_pair_prop("floor", "default", friction=0.0, restitution=1.0, res_threshold=0.0)
    for number in range(OBJECTS):
        body = world.add_sphere(0.08, 0.2) if number % 2 else world.add_box(0.14, 0.14, 0.14, 0.2)
        body.set_position(*random.uniform(-9, 9, 2), 4.0 + random.uniform(0, 6))
    return world


def steps_per_second(world: World, viewer: Viewer, seconds: float) -> tuple[float, float]:
    """Steps of the world and frames of the viewer in a second of wall time."""
    steps, frames, begin = world.get_step_count(), viewer.frames, time.monotonic()
    time.sleep(seconds)
    spent = time.monotonic() - begin
    return (world.get_step_count() - steps) / spent, (viewer.frames - frames) / spent


def measure(effort: Effort) -> str:
    """Markdown for docs/benchmarks.md."""
    from playwright.sync_api import sync_playwright

    chromium = os.environ.get("RAISIM_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    world = moving_world()
    viewer, lines = Viewer(world, port=0, quiet=True), []
    start = world.save_snapshot()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name, speed in (("in real time", 1.0), ("as fast as possible", 0.0)):
            measured = []
            for looked_at in (False, True):
                viewer.pause()
                world.restore_snapshot(start)
                viewer._world_feed.set_speed(speed)
                page = None
                if looked_at:
                    page = browser.new_page(viewport={"width": 320, "height": 200})
                    page.add_init_script(SELDOM)
                    page.goto(viewer.address)
                    viewer.wait_for_browser(60.0)
                    shown = viewer.frames
                    while viewer.frames < shown + 60 * min(effort.share * 10.0, 1.0):  # it has what does not move
                        page.wait_for_timeout(100)
                viewer.play()
                measured.append(steps_per_second(world, viewer, max(effort.share * SECONDS, 0.5)))
                if page is not None:
                    page.close()
            (alone, _), (seen, frames) = measured
            lines.append([name, f"{alone:.0f}", f"{seen:.0f}", f"{seen / alone:.3f}", f"{frames:.1f}"])
        browser.close()
    viewer.close()
    head = ["world of 1000 moving objects", "steps/s alone", "steps/s with a page", "ratio", "frames/s"]
    return f"## The viewer\n\n{table(head, lines)}"


if __name__ == "__main__":
    print(measure(Effort()))
