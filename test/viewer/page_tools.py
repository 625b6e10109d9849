"""What several tests of the page share."""

from __future__ import annotations

import io
import os
import shutil
import time

import numpy as np
import pytest
from PIL import Image

from raisim_ros import World
from raisim_ros.description.resources import resource

# Small: the browser draws without a graphics card.
SIZE = {"width": 720, "height": 420}

# How long pages may take for anything [s]: with other programs beside it, one that the processor draws needs a minute.
PATIENCE = 150.0


FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


_started = []  # one for all tests: a second Playwright in the same process does not start


@pytest.fixture(scope="session")
def browser(request):
    """A headless Chromium: the system's, or the one RAISIM_CHROMIUM names; without one the test is skipped."""
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = [os.environ.get("RAISIM_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"]
    found = next((path for path in (shutil.which(name) for name in names if name) if path), None)
    if found is None:
        pytest.skip("there is no Chromium on this machine")
    if not _started:
        playwright = sync_api.sync_playwright().start()
        request.config.add_cleanup(playwright.stop)
        _started.append(playwright.chromium.launch(executable_path=found, args=FLAGS))
        request.config.add_cleanup(_started[0].close)
    return _started[0]


def wait_until(condition, page, timeout=PATIENCE):
    """Waits for something that another thread does; Playwright must breathe meanwhile."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        page.wait_for_timeout(20)


def ball_world():
    """A magenta ball without weight, and an arm behind the camera."""
    world = World()
    world.set_time_step(0.002)
    world.set_gravity((0.0, 0.0, 0.0))
    world.add_ground().set_name("ground")
    ball = world.add_sphere(0.3, 2.0)
    ball.set_name("ball")
    ball.set_appearance("1 0 1 1")
    ball.set_position(0.0, 0.0, 1.0)
    arm = world.add_articulated_system(resource("robots/arm.urdf"))
    arm.set_name("arm")
    arm.set_base_pos((20.0, 0.0, 0.0))
    return world


def open_page(browser, viewer):
    """The page, once it is drawn."""
    before = len(viewer._server.get_clients())
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(1000.0 * PATIENCE)
    page.goto(viewer.address)
    wait_until(lambda: len(viewer._server.get_clients()) > before, page)
    page.get_by_text("Object", exact=True).first.wait_for()
    return page


def without_effects(page_of_viewer):
    """Without a graphics card, shadows take most of the time."""
    page_of_viewer._canvas._sun.cast_shadow = False


def drop(page, name, text):
    """Drops a file on the page."""
    page.evaluate(
        """([name, text]) => {
            const files = new DataTransfer();
            files.items.add(new File([text], name));
            window.dispatchEvent(new DragEvent('drop', {dataTransfer: files, bubbles: true, cancelable: true}));
        }""",
        [name, text],
    )


def drop_from_disk(page, *paths):
    """Drops files and folders on the page as a file manager does."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": 200, "y": 200, "data": data})
    session.detach()


class Stage:
    """A world, its viewer and one browser."""

    def __init__(self, browser):
        self.browser = browser
        self.world = ball_world()
        from raisim_ros import Viewer

        self.viewer = Viewer(self.world, port=0, quiet=True)
        without_effects(self.viewer)
        self.page = open_page(browser, self.viewer)
        self.page.get_by_text("Software WebGL").first.wait_for()
        self.page.get_by_role("alert").get_by_role("button").first.click()
        self.page.wait_for_timeout(1500)  # the picture fades in

    def begin(self):
        feed = self.viewer._world_feed
        feed.pause()
        feed.release()
        feed.reset()
        self.look_from((5.0, 0.0, 1.0), (0.0, 0.0, 1.0))

    def close(self):
        self.page.close()
        self.viewer.close()

    @property
    def ball(self):
        return self.world.get_object("ball")

    def look_from(self, position, look_at):
        for client in self.viewer._server.get_clients().values():
            client.camera.position = position
            client.camera.look_at = look_at
        self.page.wait_for_timeout(300)

    def box(self, page=None):
        return (page or self.page).locator("canvas[data-engine]").first.bounding_box()

    def pixel_of(self, point):
        """Where a point of the world is seen, in pixels of the page."""
        camera, box = next(iter(self.viewer._server.get_clients().values())).camera, self.box()
        w, x, y, z = camera.wxyz
        rotation = np.array([
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ])
        right, down, ahead = rotation.T @ (np.asarray(point) - camera.position)
        focal = 0.5 * box["height"] / np.tan(0.5 * camera.fov)
        middle = np.array([box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]])
        return middle + focal / ahead * np.array([right, down])

    def magenta(self, page=None):
        """Middle of what is magenta in the picture, in pixels; None when nothing is."""
        shown = page or self.page
        picture = np.asarray(Image.open(io.BytesIO(shown.screenshot())).convert("RGB"), int)
        picture = picture[:, : int(self.box(shown)["width"])]
        red, green, blue = (picture[..., k] for k in range(3))
        # By hue: the dark side of a ball belongs to it, however little light reaches it.
        rows, columns = np.nonzero((red > 15) & (blue > 15) & (green < 0.6 * red) & (green < 0.6 * blue))
        return None if len(rows) < 20 else np.array([columns.mean(), rows.mean()])

    def sees_ball_at(self, place, page=None):
        """Whether the ball is drawn there, soon."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            middle = self.magenta(page)
            if middle is not None and np.linalg.norm(middle - self.pixel_of(place)) < 6.0:
                return True
            self.page.wait_for_timeout(200)
        return False

    def drag(self, start, shift):
        # Messages lie over the picture for some seconds: three of them, on a slow machine, cover its middle.
        seen = "([x, y]) => document.elementFromPoint(x, y)?.tagName"
        wait_until(lambda: self.page.evaluate(seen, [float(value) for value in start]) == "CANVAS", self.page)
        mouse = self.page.mouse
        mouse.move(*start)
        mouse.down()
        for share in np.linspace(0.1, 1.0, 8):
            mouse.move(start[0] + share * shift[0], start[1] + share * shift[1])
            self.page.wait_for_timeout(60)
