"""Pages from elsewhere, and names of strangers, do nothing in the viewer."""

from __future__ import annotations

import time

import pytest
import viser
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from raisim_ros import World
from raisim_ros.viewer.describe import describe_object, literal
from raisim_ros.viewer.viewer import Viewer
from raisim_ros.viewer.visitors import is_own_page


@pytest.mark.parametrize(
    ("origin", "host", "address", "own"),
    [
        (None, "127.0.0.1:8080", "127.0.0.1", True),  # no browser
        ("http://127.0.0.1:8080", "127.0.0.1:8080", "127.0.0.1", True),
        ("http://localhost:8080", "localhost:8080", "127.0.0.1", True),
        ("http://[::1]:8080", "[::1]:8080", "::1", True),
        ("http://lab:8080", "lab:8080", "0.0.0.0", True),  # opened to others on purpose
        ("https://evil.example", "127.0.0.1:8080", "127.0.0.1", False),
        ("http://127.0.0.1:9000", "127.0.0.1:8080", "127.0.0.1", False),
        ("null", "127.0.0.1:8080", "127.0.0.1", False),  # a file, or a frame without rights
        ("http://evil.example:8080", "evil.example:8080", "127.0.0.1", False),  # a name that was led here
        ("http://evil.example", "lab:8080", "0.0.0.0", False),
        ("http://[", "127.0.0.1:8080", "127.0.0.1", False),
    ],
)
def test_whose_page_it_is(origin, host, address, own):
    assert is_own_page(origin, host, address) is own


def test_only_the_own_page_is_let_in():
    viewer = Viewer(World(), port=0, quiet=True)
    try:
        address, protocol = viewer.address, [f"viser-v{viser.__version__}"]
        with connect(address.replace("http", "ws"), origin=address, subprotocols=protocol) as page:
            assert page.recv(10.0)
        foreign = connect(address.replace("http", "ws"), origin="http://evil.example", subprotocols=protocol)
        with foreign as page, pytest.raises(ConnectionClosed):
            page.recv(10.0)
        with connect(address.replace("http", "ws"), origin=address, subprotocols=protocol) as page:
            assert page.recv(10.0)  # the others are still served
    finally:
        viewer.close()


@pytest.mark.parametrize(
    "name",
    ['<iframe srcdoc="<script>alert(1)</script>">', "![](/etc/passwd)", "[a](javascript:alert(1))", "`{1+1}`", "a|b\n# c", "&lt;"],
)
def test_names_are_shown_and_do_nothing(name):
    world = World()
    ball = world.add_sphere(0.1, 1.0, name)
    ball.set_name(name)
    text = describe_object(world, ball, name)
    assert literal(name) in text
    assert name not in text
    without_marks = literal(name).replace("\\", "")
    assert without_marks == name.replace("\n", " ")


def test_an_error_that_nobody_expected_is_told_once_and_the_next_frame_comes(monkeypatch):
    viewer = Viewer(World(), port=0, quiet=True)
    tried, told = [], []

    def fail_five_times():
        tried.append(None)
        if len(tried) <= 5:
            raise ZeroDivisionError("nobody expected it")

    try:
        monkeypatch.setattr(viewer._panel.notices, "tell", told.append)
        monkeypatch.setattr(viewer, "_update", fail_five_times)
        monkeypatch.setattr(viewer._server, "get_clients", lambda: {0: "somebody"})
        end = time.monotonic() + 20.0
        while viewer.frames < 2 and time.monotonic() < end:
            time.sleep(0.02)
        assert viewer.frames >= 2
        assert [str(error) for error in told] == ["nobody expected it"]
    finally:
        viewer.close()
