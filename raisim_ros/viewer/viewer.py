"""The viewer: a page in the browser that shows a world and lets people lay hands on it."""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
import webbrowser
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

try:
    import viser
except ImportError as error:
    raise ImportError("the viewer needs the package viser: pip install 'raisim_ros[viewer]'") from error

from raisim_ros.description.errors import InvalidValueError
from raisim_ros.viewer.canvas import FIELD_OF_VIEW, Canvas
from raisim_ros.viewer.feed import Feed
from raisim_ros.viewer.following import Follower
from raisim_ros.viewer.hand import Hand
from raisim_ros.viewer.panel import Panel
from raisim_ros.viewer.scene import Moment, SceneModel, View, boxes_of, first_view, view_with
from raisim_ros.viewer.visitors import let_in_own_pages

FRAME_RATE = 30.0


class Page:
    """A page that shows what a feed gives, in a thread of its own."""

    def __init__(
        self, feed: Feed, host: str = "127.0.0.1", port: int = 8080, *, open_browser: bool = False, quiet: bool = False
    ) -> None:
        """The address is printed unless `quiet`; when the port is taken, the next free one is used."""
        if not 0 <= port <= 65535:
            raise InvalidValueError(f"port is {port}; expected 0 to 65535 (0: any that is free)")
        _check_host(host)
        self._feed = self._first_feed = feed
        self._wanted_feed: Feed | None = None
        with contextlib.redirect_stdout(io.StringIO()):  # it prints a table of its own
            self._server = viser.ViserServer(host=host, port=port, label="raisim_ros", verbose=False)
        let_in_own_pages(self._server)
        self._canvas = Canvas(self._server)
        self._panel = Panel(self._server, feed, self._canvas.show_layer)
        self._canvas.on_click = lambda picked: self._panel.select(picked.item)
        self._hand = Hand(self._panel.select, self._panel.notices.attempt)
        self._hand.serve(feed)
        self._canvas.on_drag = self._hand.touch
        self._panel.on_feed, self._panel.on_load = self._want_feed, self._aim_again
        self._panel.on_new = self._reveal
        self._panel.on_shadows = self._canvas.turn_shadows
        self._panel.follow_feed(feed, recorded=False)
        self._number: Hashable = None
        self._model = SceneModel([], 0)
        self._follower = Follower()
        self._followed = ""  # name of the object
        self._revealed = ""  # name of an object that all pages shall see
        self._open = True
        self.frames = 0  # shown so far
        self._told = ""
        self._aimed = False
        self._view: tuple[str, tuple[float, ...]] | None = None
        self._update()
        if not quiet:
            print(f"raisim_ros viewer: {self.address}", flush=True)
        self._thread = threading.Thread(target=self._loop, name="raisim_ros viewer", daemon=True)
        self._thread.start()
        if open_browser:
            webbrowser.open(self.address)

    @property
    def address(self) -> str:
        """Where browsers find the page."""
        host = self._server.get_host()
        return f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{self._server.get_port()}"

    def is_open(self) -> bool:
        """Whether close() was not called yet."""
        return self._open

    def wait_for_browser(self, timeout: float | None = None) -> bool:
        """Wait until somebody looks; False when nobody came in time [s]."""
        end = None if timeout is None else time.monotonic() + timeout
        while not self._server.get_clients():
            if end is not None and time.monotonic() > end:
                return False
            time.sleep(0.02)
        return True

    def close(self) -> None:
        """The page goes away."""
        if not self._open:
            return
        self._open = False
        if threading.current_thread() is not self._thread:
            self._thread.join()
        for feed in {id(one): one for one in (self._feed, self._first_feed)}.values():
            feed.close()
        with contextlib.redirect_stdout(io.StringIO()):
            self._server.stop()
        self._hand.close()
        self._panel.close()

    # ---- every frame ----

    def _loop(self) -> None:
        next_time = time.monotonic()
        while self._open:
            if self._server.get_clients():
                try:
                    self._update()
                    self.frames += 1
                    self._told = ""
                except Exception as error:  # whatever it was: the page goes on
                    self._tell(error)
            next_time = max(next_time + 1.0 / FRAME_RATE, time.monotonic())
            time.sleep(max(0.0, next_time - time.monotonic()))

    def _tell(self, error: Exception) -> None:
        """Once for each different one in a row: frames are many."""
        if str(error) != self._told:
            self._panel.notices.tell(error)
            self._told = str(error)

    def _want_feed(self, feed: Feed | None) -> None:
        self._wanted_feed = feed or self._first_feed

    def _change_feed(self) -> None:
        """Between two frames."""
        wanted, self._wanted_feed = self._wanted_feed, None
        if wanted is None or wanted is self._feed:
            return
        former, self._feed = self._feed, wanted
        if former is not self._first_feed:
            former.close()
        self._number, self._followed = None, ""
        self._hand.serve(wanted)
        self._panel.follow_feed(wanted, recorded=wanted is not self._first_feed)

    def _update(self) -> None:
        self._change_feed()
        wanted = self._panel.wanted()
        moment = self._feed.moment(wanted)
        changed = moment.number != self._number
        if changed:
            self._number = moment.number
            self._model = self._feed.model()
            self._canvas.draw(self._model)
            self._panel.take_over(self._model)
            moment = self._feed.moment(wanted)
        self._canvas.look_inside(wanted.centres)
        if len(moment.poses) != self._model.frames:
            return  # objects came or went in between: the next round sees it
        trail = self._panel.tick(moment)
        self._canvas.show_pull(self._hand.pull(moment, self._model))
        self._canvas.show(moment, self._panel.selected, trail)
        if self._revealed:
            self._show_revealed(moment)
        self._follow(moment)
        view = self._feed.viewpoint()
        if self._model.items and (view != self._view or (changed and not self._aimed)):
            self._aim(view, moment)

    # ---- the camera ----

    def _aim_again(self) -> None:
        """Another world was loaded."""
        self._aimed, self._number = False, None

    def _aim(self, view: tuple[str, tuple[float, ...]] | None, moment: Moment) -> None:
        """Look from where the world file says, or so that all is seen."""
        self._aimed, self._view = self._model.complete, view  # more may come into sight
        first, item = first_view(self._model, moment.poses, view)
        position, look_at = first.position, first.look_at
        if item is not None:
            self._panel.start_following(item.name)
            self._followed = item.name
            self._follower.begin(np.subtract(position, look_at))
        self._canvas.set_distance(float(np.linalg.norm(np.subtract(position, look_at))))
        camera = self._server.initial_camera
        camera.fov, camera.far, camera.up = FIELD_OF_VIEW, 500.0, (0.0, 0.0, 1.0)
        camera.position, camera.look_at = position, look_at
        for client in self._server.get_clients().values():  # those who look already
            with client.atomic():
                client.camera.position, client.camera.look_at = position, look_at

    def _reveal(self, name: str) -> None:
        self._revealed = name

    def _show_revealed(self, moment: Moment) -> None:
        """Pages that do not see all of a new object look at it from where they look; its meshes come one by one."""
        item = next((one for one in self._model.items if one.name == self._revealed), None)
        if item is not None and self._panel.follows():
            item = None  # somebody looks at something else
        if item is not None:
            box = boxes_of([item], moment.poses)[0]
            for client in self._server.get_clients().values():
                camera = client.camera
                seen = View(tuple(camera.position), tuple(camera.look_at))
                view = view_with(box, seen, FIELD_OF_VIEW, closer=self._model.complete)
                if view is not None:
                    with client.atomic():
                        camera.position, camera.look_at = view.position, view.look_at
                    self._canvas.set_distance(float(np.linalg.norm(np.subtract(view.position, view.look_at))))
        if item is None or self._model.complete:
            self._revealed = ""

    def _follow(self, moment: Moment) -> None:
        item = self._panel.selected
        if item is None or not self._panel.follows():
            self._followed = ""
            return
        if item.name != self._followed:
            self._followed = item.name
            self._follower.begin()
        self._follower.follow(self._server.get_clients(), moment.poses[item.first_frame, :3])


def _check_host(host: str) -> None:
    """Of an address that is not this machine's the server would never tell."""
    try:
        kind, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind) as trial:
            trial.bind(address)
    except (OSError, UnicodeError, ValueError) as error:
        text = f"host is {host!r}; expected an address of this machine, as 127.0.0.1, or 0.0.0.0 for all of them"
        raise InvalidValueError(f"{text} ({error})") from error


class Viewer(Page):
    """Shows a World of this process.

    The program steps the world as ever and the page follows; or through run() and integrate(), which keep real time
    and obey the page's buttons: play, pause, step, speed, pull.
    """

    def __init__(
        self, world: Any, host: str = "127.0.0.1", port: int = 8080, *, open_browser: bool = False, quiet: bool = False
    ) -> None:
        """`world`: a World. The page is at `address`; nobody else's machine sees it unless `host` says so."""
        from raisim_ros.viewer.world_feed import WorldFeed

        self._world_feed = WorldFeed(world)
        super().__init__(self._world_feed, host, port, open_browser=open_browser, quiet=quiet)

    def play(self) -> None:
        """Let time run, in a thread of its own unless the program calls integrate()."""
        self._world_feed.play()

    def pause(self) -> None:
        """Stop time."""
        self._world_feed.pause()

    def integrate(self, steps: int = 1) -> bool:
        """Advance by a number of steps at the speed the page says; waits while paused. False after close()."""
        if not self._world_feed.driven:
            self._world_feed.driven = True
            self._world_feed.play()
        return self._world_feed.integrate(steps)

    def run(self, seconds: float | None = None, control: Callable[[], Any] | None = None) -> None:
        """Play for so much simulated time, or until close() or Ctrl-C; `control` is called before every step."""
        world = self._world_feed.world
        end = None if seconds is None else world.get_world_time() + seconds
        try:
            while end is None or world.get_world_time() < end:
                if control is not None:
                    control()
                if not self.integrate(1 if control is not None else 5):
                    return
        except KeyboardInterrupt:
            self.close()
