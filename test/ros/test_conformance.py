"""docs/conformance.md names a test for every promise; each exists, and no service or topic is left out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/conformance.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(ros/(?:\w+/)?test_\w+\.py(?:::\w+)?)`", PAGE)))


@pytest.mark.parametrize("named", NAMED)
def test_every_named_test_exists(named):
    file, _, function = named.partition("::")
    text = (ROOT / "test" / file).read_text(encoding="utf-8")
    assert re.search(rf"^def {function or 'test_'}", text, re.MULTILINE)


def test_every_row_has_a_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| topic", "| service", "| promise"))]
    assert len(rows) > 60
    for row in rows:
        assert re.search(r"`ros/(\w+/)?test_", row), row


def test_every_service_and_topic_of_a_node_is_in_the_table(shared_node, probe):
    own = {"get_parameters", "set_parameters", "set_parameters_atomically", "list_parameters", "describe_parameters",
           "get_parameter_types", "get_type_description"}
    probe.spin_until(lambda: "/load_world_file" in {name for name, _ in services(probe)}, "the services")
    names = {name.lstrip("/") for name, _ in services(probe)}
    served = {name for name in names if "/" not in name and name not in own}
    assert served
    assert sorted(name for name in served if f"`{name}`" not in PAGE) == []
    for topic in ("/clock", "states", "contacts", "markers", "/tf", "/diagnostics", "world/state"):
        assert f"`{topic}`" in PAGE


def services(probe):
    return probe.node.get_service_names_and_types()
