"""The `ros2` commands and the controller of the README and of docs/ work on a running node, in the order of the page."""

from __future__ import annotations

import contextlib
import importlib
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

import yaml
from rosidl_parser.definition import AbstractNestedType, NamespacedType

from raisim_ros.description.resources import resource
from raisim_ros.msg import ObjectState, ResultCode
from raisim_ros.srv import ListObjects

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/ros_interface.md", "docs/sensors.md"]


def commands(page):
    """The words of every `ros2 topic` and `ros2 service` command of a page, without comments."""
    text = (ROOT / page).read_text(encoding="utf-8").replace("\\\n", " ")
    for line in re.findall(r"^ros2 (?:topic|service) .*", text, re.MULTILINE):
        yield shlex.split(line, comments=True)[1:]


def imported(name):
    package, kind, type_name = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), type_name)


def filled(message, values):
    """`message` with the values of a YAML mapping, as the command line fills it."""
    slots = dict(zip(message.get_fields_and_field_types(), message.SLOT_TYPES, strict=True))
    for name, value in values.items():
        kind = slots[name]
        if isinstance(kind, NamespacedType):
            filled(getattr(message, name), value)
        elif isinstance(kind, AbstractNestedType) and isinstance(kind.value_type, NamespacedType):
            element = imported("/".join(kind.value_type.namespaced_name()))
            setattr(message, name, [filled(element(), one) for one in value])
        else:
            setattr(message, name, value)
    return message


def run(probe, words):
    """Does what `ros2` does with these words."""
    verb, options = words[1], [word for word in words[2:] if not word.startswith("-")]
    if words[:2] == ["service", "call"]:
        name, type_name, text = (*options, "{}")[:3]
        service = imported(type_name)
        fields = filled(service.Request(), yaml.safe_load(text))
        values = {name: getattr(fields, name) for name in fields.get_fields_and_field_types()}
        response = probe.call(service, name, **values)
        outcome = getattr(response.result, "result", response.result)  # a code of ours, or of simulation_interfaces
        assert outcome == ResultCode.OK, f"{name}: {response}"
    elif verb == "pub":
        name, type_name, text = options[-3:]  # a rate may come first
        message = imported(type_name)
        with probe.publisher(message, name) as publisher:
            publisher.publish(filled(message(), yaml.safe_load(text)))
    else:
        assert verb in ("echo", "hz")
        probe.spin_until(lambda: options[0] in probe.topics(), f"topic {options[0]}")


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_work_one_after_the_other(start_node, probe, page):
    node = start_node(world=resource("worlds/default.xml"))
    found = list(commands(page))
    assert found
    for words in found:
        run(probe, words)
    assert "refused" not in node.output
    node.interrupt()


def ros_example(word):
    """The Python example of the README that uses ROS and has this word."""
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    (code,) = [block for block in blocks if "raisim_ros.client" in block and word in block]
    return code


def test_the_client_of_the_readme_adds_an_object(start_node, probe, ros_environment):
    node = start_node(world=resource("worlds/default.xml"))
    command = [sys.executable, "-c", ros_example("crate_2")]
    done = subprocess.run(command, env=ros_environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    x, y, z = map(float, re.match(r"<box 'crate_2'> is at \((.*), (.*), (.*)\)\n", done.stdout).groups())
    assert abs(x) < 0.5  # it falls on the pyramid meanwhile, on a busy machine
    assert abs(y) < 0.5
    assert 0.2 < z <= 5.0
    assert "crate_2" in probe.call(ListObjects, "list_objects").names
    node.interrupt()


def test_the_controller_of_the_readme_holds_a_ball_in_the_air(start_node, probe, ros_environment):
    code = ros_example("ball_0")
    node = start_node(world=resource("worlds/default.xml"))
    controller = subprocess.Popen([sys.executable, "-c", code], env=ros_environment, stderr=subprocess.DEVNULL)
    try:
        with probe.subscribed(ObjectState, "ball_0/state") as states:

            def held():
                last = states[-200:]
                return len(last) == 200 and all(abs(state.pose.position.z - 2.0) < 0.05 for state in last)

            probe.spin_until(held, "the ball to be held at 2 m")
    finally:
        controller.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            controller.wait(10.0)
        controller.kill()
        controller.wait()
        node.interrupt()
