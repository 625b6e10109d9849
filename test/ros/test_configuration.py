"""Shipped files and documentation agree with the code."""

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("yaml", reason="needs PyYAML")

import yaml

from raisim_ros.ros.node import parameters

ROOT = Path(__file__).parents[2]


def test_parameter_file_has_every_parameter_at_its_default():
    content = yaml.safe_load((ROOT / "config" / "world.yaml").read_text())
    shipped = content["/**"]["ros__parameters"]
    declared = {name: default for name, (default, *_) in parameters._DECLARATIONS.items()}
    assert shipped == declared
    assert {name: type(value) for name, value in shipped.items()} == {
        name: type(value) for name, value in declared.items()
    }


def test_every_interface_and_parameter_is_documented():
    documentation = (ROOT / "docs" / "ros_interface.md").read_text()
    for service in (ROOT / "srv").glob("*.srv"):
        assert service.stem in documentation
        assert re.sub(r"(?<!^)(?=[A-Z])", "_", service.stem).lower() in documentation
    for rate in (name for name in parameters._DECLARATIONS if name.endswith(("_hz", "_s"))):
        assert rate in documentation


def test_every_service_answers_with_result_and_message():
    for service in (ROOT / "srv").glob("*.srv"):
        answer = service.read_text().split("---\n")[1].splitlines()
        fields = [line.split()[:2] for line in answer if line and not line.startswith("#")]
        assert fields[:2] == [["uint8", "result"], ["string", "message"]], service.name
