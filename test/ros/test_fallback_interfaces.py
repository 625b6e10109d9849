"""Interfaces under fallback/ have the type hashes of the published packages: simulation_interfaces 1.5, control_msgs 5."""

import json
from pathlib import Path

import pytest

pytest.importorskip("ament_index_python", reason="needs ROS")
from ament_index_python.packages import get_package_share_directory

ROOT = Path(__file__).parents[2]
PUBLISHED = json.loads(Path(__file__).with_name("interface_hashes.json").read_text())


@pytest.mark.parametrize("package", ["simulation_interfaces", "control_msgs"])
def test_types_have_the_published_hashes(package):
    share = Path(get_package_share_directory(package))
    if ROOT / "install" not in share.parents:
        pytest.skip(f"an installed {package} is used, not that of fallback/")
    own = {
        entry["type_name"]: entry["hash_string"]
        for file in share.glob("*/*.json")
        for entry in json.loads(file.read_text())["type_hashes"]
        if entry["type_name"].startswith(f"{package}/")
    }
    expected = {name: value for name, value in PUBLISHED.items() if name.startswith(f"{package}/")}
    assert own == expected
