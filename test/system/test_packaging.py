"""What package.xml, CMake and setup.cfg say must agree."""

from __future__ import annotations

import configparser
import re
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]


def package_dependencies() -> set[str]:
    package = ElementTree.parse(ROOT / "package.xml").getroot()
    return {element.text or "" for element in package if element.tag.endswith("depend")}


def test_every_interface_package_that_cmake_uses_is_declared():
    block = re.search(r"set\(raisim_interface_packages([^)]*)\)", (ROOT / "cmake/ros.cmake").read_text())
    assert block is not None
    assert set(block.group(1).split()) <= package_dependencies()


def test_every_interface_used_in_a_message_is_known_to_cmake():
    used = set()
    for path in [*(ROOT / "msg").glob("*.msg"), *(ROOT / "srv").glob("*.srv")]:
        text = path.read_text(encoding="utf-8")
        used |= set(re.findall(r"^\s*([a-z][a-z0-9_]*)/[A-Z]", text, re.MULTILINE))
    cmake = (ROOT / "cmake/ros.cmake").read_text()
    assert {name for name in used - {"raisim_ros"} if not re.search(rf"\b{name}\b", cmake)} == set()


def test_every_python_dependency_has_its_rosdep_key():
    keys = {"cffi": "python3-cffi", "lxml": "python3-lxml", "numpy": "python3-numpy", "pillow": "python3-pil",
            "pycollada": "python3-collada",
            "scipy": "python3-scipy", "trimesh": "python3-trimesh-pip"}
    lines = (ROOT / "tools/requirements/runtime.txt").read_text().split()
    assert {keys[re.split("[<>=]", line)[0]] for line in lines} <= package_dependencies()


def test_every_requirement_has_a_lower_bound():
    for name in ("runtime", "test", "bench"):
        for line in (ROOT / f"tools/requirements/{name}.txt").read_text().splitlines():
            assert not line or line.startswith("#") or ">=" in line, f"{name}.txt: {line}"


def test_optional_features_are_extras_and_not_required():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    assert {"convex", "viewer", "usd", "test", "bench"} <= set(extras)
    required = (ROOT / "tools/requirements/runtime.txt").read_text()
    assert not re.search("coacd|viser|usd-core", required)
