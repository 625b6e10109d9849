"""What package.xml, CMake and setup.cfg say must agree."""

from __future__ import annotations

import configparser
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load_tool(name: str):
    spec = importlib.util.spec_from_file_location(name, ROOT / f"tools/{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
    for name in ("runtime", "features", "test", "bench"):
        for line in (ROOT / f"tools/requirements/{name}.txt").read_text().splitlines():
            assert not line or line.startswith("#") or ">=" in line, f"{name}.txt: {line}"


@pytest.mark.parametrize("flavour", ["jazzy", "kilted", "system"])
def test_every_requirement_is_pinned_with_hashes(flavour):
    """Run `make lock` after a change of tools/requirements."""
    locks = {kind: (ROOT / f"tools/requirements/lock/{flavour}{kind}.txt").read_text() for kind in ("", "-test")}
    lock = "\n".join(locks.values())
    pinned = {name.lower().replace("_", "-") for name in re.findall(r"^([A-Za-z0-9._-]+)==", lock, re.MULTILINE)}
    wanted = set()
    for name in (f"ros-{flavour}", "runtime", "features", "test", "colcon"):
        for line in (ROOT / f"tools/requirements/{name}.txt").read_text().splitlines():
            if line and not line.startswith(("#", "-r")):
                wanted.add(re.split(r"[<>=!;~\s\[]", line)[0].lower().replace("_", "-"))
    assert wanted <= pinned
    entries = re.split(r"\n(?=\S)", lock.strip())
    assert all("--hash=sha256:" in entry for entry in entries)
    assert "http" not in re.sub(r"[\w-]*http[\w-]*==", "", lock)
    # `make run` waits for no gigabyte of robots, browsers and other engines; what both need has one version.
    assert not re.search(r"^(example-robot-data|pin|coal|playwright|mypy|ruff)==", locks[""], re.MULTILINE)
    pins = [set(re.findall(r"^\S+==[^\\]*", text, re.MULTILINE)) for text in locks.values()]
    assert {pin.split("==")[0] for pin in pins[1] - pins[0]}.isdisjoint(pin.split("==")[0] for pin in pins[0])


def test_lower_bounds_are_raised_and_never_lowered():
    tool = load_tool("raise_lower_bounds")
    versions = tool.pinned_versions(["numpy==2.2.6 ; x\nabc==1.0", "numpy==1.9.1\nscipy==1.15.3rc1 \\\n    --hash=sha256:00"])
    text = "numpy>=1.24\nscipy>=1.10,<3\nmy-numpy>=1.0\nabc>=2.0\nextra = scipy>=1.9; python_version < '3.14'\n"
    assert tool.raised(text, versions) == (
        "numpy>=1.24\nscipy>=1.15,<3\nmy-numpy>=1.0\nabc>=2.0\nextra = scipy>=1.15; python_version < '3.14'\n"
    )


def test_the_source_archive_is_the_same_whenever_and_wherever_it_is_made(tmp_path):
    archives = []
    for name in ("first", "second"):
        copy = tmp_path / name
        ignored = shutil.ignore_patterns("build", "install", "log", ".git", ".venv*", "__pycache__", "*.so", "dist", "*.egg-info")
        shutil.copytree(ROOT, copy, ignore=ignored, symlinks=True)
        for path in copy.rglob("*.py"):
            os.utime(path, (len(archives), len(archives)))
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
        command = [sys.executable, "setup.py", "-q", "sdist", "--dist-dir", str(tmp_path / f"{name}_dist")]
        subprocess.run(command, cwd=copy, env=environment, check=True, capture_output=True)
        (archive,) = (tmp_path / f"{name}_dist").iterdir()
        archives.append(archive.read_bytes())
    assert archives[0] == archives[1]


def test_optional_features_are_extras_and_not_required():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    assert {"convex", "mjcf", "viewer", "usd", "test", "bench"} <= set(extras)
    required = (ROOT / "tools/requirements/runtime.txt").read_text()
    assert not re.search("coacd|mujoco|viser|usd-core", required)
