"""The viewer's process, and both of `make run`, ended by signals while pages are open: all are gone within a second."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("viser", reason="the viewer's extra is not installed")

import rclpy
from ament_index_python.packages import get_package_prefix
from page_tools import browser, wait_until  # noqa: F401  a fixture
from victims import assert_quick, descendants

from raisim_ros.description.errors import RaisimError
from raisim_ros.viewer.ros_feed import RosFeed
from raisim_ros.viewer.scene import Wanted

VIEWER = ("-m", "raisim_ros.viewer.viewer_node")
RUN_NODES = Path(__file__).resolve().parents[2] / "tools" / "run_nodes.sh"
WORLD = Path(__file__).with_name("node_world.xml")


def wait_for_address(read_output):
    end = time.monotonic() + 60.0
    while not (found := re.search(r"viewer: (http://\S+)", read_output())):
        assert time.monotonic() < end, read_output()
        time.sleep(0.02)
    return found[1]


def open_pages(browser, address, count):  # noqa: F811
    """In windows of their own, drawn and listening."""
    pages = []
    for _ in range(count):
        pages.append(browser.new_context(viewport={"width": 320, "height": 240}).new_page())
        pages[-1].goto(address)
        pages[-1].get_by_text("Object", exact=True).first.wait_for()
    return pages


@pytest.mark.parametrize(("number", "pages"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_a_viewer_with_open_pages_ends(start_node, browser, number, pages):  # noqa: F811
    """Also when the world has just been killed, and nobody knows yet."""

    def end():
        world, viewer = start_node(), start_node(program=VIEWER, port=0)
        shown = open_pages(browser, wait_for_address(lambda: viewer.output), pages)
        wait_until(lambda: "stop with Ctrl-C" in world.output, shown[0])
        shown[0].wait_for_timeout(500)
        world.interrupt(signal.SIGKILL)
        code, seconds = viewer.interrupt(number)
        for page in shown:
            page.context.close()
        assert code == 0, viewer.output
        assert "Traceback" not in viewer.output
        return seconds

    assert_quick(end)


def test_waiting_for_an_answer_ends_with_the_viewer(start_node, domain_id):
    """Of a node that was killed: its services are still believed to be there."""
    world = start_node()
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    stop = threading.Event()
    feed = RosFeed(rclpy.create_node("viewer", context=context), stop)
    while not feed.moment(Wanted()).time:
        time.sleep(0.02)
    feed.describe("ground")
    world.interrupt(signal.SIGKILL)
    refused = []

    def ask():
        try:
            feed.describe("ground")
        except RaisimError as error:
            refused.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    time.sleep(0.3)
    assert asking.is_alive()
    stop.set()
    asking.join(5.0)
    assert len(refused) == 1
    feed.close()
    rclpy.shutdown(context=context)


FEED = """
import rclpy
from raisim_ros.viewer.ros_feed import RosFeed
rclpy.init()
feed = RosFeed(rclpy.create_node("viewer"))
"""


@pytest.mark.parametrize("end", ["", "rclpy.shutdown()", "feed.close()", "raise SystemExit(0)"])
def test_a_process_ends_whether_its_feed_was_closed_or_not(ros_environment, end):
    """The middleware aborted it, "terminate called", also tests whose fixture had failed."""
    command = [sys.executable, "-c", f"{FEED}{end}"]
    run = subprocess.run(command, env=ros_environment, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def send_to_script(script, number):
    script.send_signal(number)


def send_to_group(script, number):
    os.killpg(script.pid, number)


@pytest.mark.parametrize(
    ("send", "number"),
    [(send_to_script, signal.SIGTERM), (send_to_script, signal.SIGKILL), (send_to_group, signal.SIGINT)],
)
def test_what_make_run_starts_ends_with_it(ros_environment, tmp_path, send, number):
    log = tmp_path / "log.txt"
    programs = Path(get_package_prefix("raisim_ros")) / "lib" / "raisim_ros"
    command = [str(RUN_NODES), str(programs), "yes", "-p", f"world:={WORLD}", "-p", "port:=0"]
    with log.open("wb") as output:
        script = subprocess.Popen(command, env=ros_environment, stdout=output, stderr=output, start_new_session=True)
    with script:
        wait_for_address(log.read_text)
        while "stop with Ctrl-C" not in log.read_text():
            assert script.poll() is None, log.read_text()
            time.sleep(0.02)
        nodes = descendants(script.pid)
        assert len(nodes) == 2
        send(script, number)
        script.wait(20.0)
        end = time.monotonic() + 20.0
        while any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in nodes):
            assert time.monotonic() < end, "a node was left behind"
            time.sleep(0.02)
    assert "Traceback" not in log.read_text()
