"""Data flows one way: Python imports go ros → engine → description, C includes go world → … → base."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What each Python folder may import from the package at module level; "" is raisim_ros itself.
PYTHON_MAY_IMPORT = {
    "description": {"description"},
    "engine": {"engine", "description"},
    "client": {"client", "description", "msg", "srv", ""},
    "ros": {"ros", "client", "engine", "description", "msg", "srv", ""},
    "viewer": {"viewer", "ros", "client", "engine", "description", "msg", "srv", ""},
    "envs": {"envs", "engine", "description", ""},
    "distributed": {"distributed", "engine", "description", ""},
    "cli": {"cli", "viewer", "engine", "description", ""},
    "": {"cli", "viewer", "engine", "description", ""},
}
ROS_MODULES = {
    "ament_index_python", "builtin_interfaces", "control_msgs", "diagnostic_msgs", "geometry_msgs", "launch", "nav_msgs",
    "rcl_interfaces", "rclpy", "rosgraph_msgs", "sensor_msgs", "simulation_interfaces", "std_msgs", "std_srvs", "tf2_msgs",
    "trajectory_msgs", "visualization_msgs",
}
# Within a folder of the package: what each inner folder may import of its siblings; "" is what lies beside them, shared by
# all, except for the entries, which stand above and may import everything.
INNER_MAY_IMPORT = {
    "description": {
        "": set(),
        "mesh": {""},
        "xml": {""},
        "robot": {""},
        "urdf": {"", "robot", "xml"},
        "sensor": {"", "robot", "urdf", "xml"},
        "world": {"", "robot", "sensor", "xml"},
        "mjcf": {"", "mesh", "robot", "sensor", "urdf", "world", "xml"},
    },
    "engine": {
        "": set(),
        "objects": {""},
        "articulated": {"", "objects"},
        "sensors": {"", "articulated", "objects"},
        "entries": {"", "articulated", "objects", "sensors"},
        "world": {"", "articulated", "entries", "objects", "sensors"},
        "batch": {"", "articulated", "objects", "world"},
    },
    "ros": {
        "": set(),
        "objects": {"", "robots"},  # an object may be a robot
        "robots": {"", "objects"},
        "sensors": {"", "objects"},
        "wires": {"", "objects"},
        "soft": {"", "objects", "sensors"},
        "node": {"", "objects", "robots", "sensors", "soft", "wires"},
        "standard": {"", "node", "objects"},
    },
}
ENTRIES = {"description/file_kind.py", "description/world_file.py", "ros/world_node.py"}
MAY_IMPORT_ROS = {"client", "ros", "viewer"}
MAY_IMPORT_CFFI = {"engine"}

# Lowest first; a file may include its own folder and those before it, and the public header.
C_FOLDERS = ["base", "model", "collision", "dynamics", "contact", "soft", "sensors", "world"]
C_FORBIDDEN = re.compile(r"\b(printf|fprintf|puts|abort|exit|longjmp|setjmp|assert)\s*\(")
C_ALLOCATION = re.compile(r"\b(malloc|calloc|realloc|free)\s*\(")
C_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


def module_level_imports(folder: str, source: str) -> list[str]:
    """Absolute names of what a file in raisim_ros/<folder> imports, without lazy imports in functions."""
    package = f"raisim_ros.{folder}".rstrip(".").split(".")
    names: list[str] = []
    nodes: list[ast.stmt] = list(ast.parse(source).body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            names += [f"{module}.{alias.name}" for alias in node.names]
        elif isinstance(node, (ast.If, ast.Try)) and not is_type_checking(node):
            nodes += node.body + node.orelse
            nodes += [inner for handler in getattr(node, "handlers", []) for inner in handler.body]
    return names


def is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def forbidden_imports(folder: str, source: str) -> list[str]:
    """The imports of a file in raisim_ros/<folder> that go in a wrong direction."""
    top = folder.split(".")[0]
    subpackages = set(PYTHON_MAY_IMPORT) | {"msg", "srv"}
    wrong = []
    for name in module_level_imports(folder, source):
        parts = name.split(".")
        if parts[0] == "raisim_ros":
            target = parts[1] if len(parts) > 1 and parts[1] in subpackages else ""
            allowed = target in PYTHON_MAY_IMPORT[top]
        elif parts[0] in ROS_MODULES:
            allowed = top in MAY_IMPORT_ROS
        elif parts[0] in {"cffi", "_cffi_backend"}:
            allowed = top in MAY_IMPORT_CFFI
        else:
            allowed = True
        if not allowed:
            wrong.append(name)
    return wrong


def forbidden_inner_imports(folder: str, source: str) -> list[str]:
    """The imports of a file in raisim_ros/<folder> of siblings that are none of its business."""
    top, _, inner = folder.partition(".")
    rules = INNER_MAY_IMPORT.get(top, {})
    wrong = []
    for name in module_level_imports(folder, source):
        parts = name.split(".")
        if rules and parts[:2] == ["raisim_ros", top]:
            target = parts[2] if len(parts) > 2 and parts[2] in rules else ""
            if target != inner and target not in rules[inner]:
                wrong.append(name)
    return wrong


def forbidden_includes(folder: str, source: str) -> list[str]:
    """The quoted includes of a file in csrc/<folder> that go upwards."""
    wrong = []
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', source, re.MULTILINE):
        # Written relative to the including file ("../base/x.h", "y.h") or to csrc ("base/x.h").
        path = name.removeprefix("../")
        target = path.split("/")[0] if "/" in path else folder
        if path in {"raisim_engine.h", "include/raisim_engine.h"}:
            continue
        if target not in C_FOLDERS or C_FOLDERS.index(target) > C_FOLDERS.index(folder):
            wrong.append(name)
    return wrong


def forbidden_calls(folder: str, source: str) -> list[str]:
    """Calls the engine must not make: it neither prints nor ends the process, and only base/ allocates."""
    code = C_COMMENT.sub("", source)
    calls = C_FORBIDDEN.findall(code)
    return calls if folder == "base" else calls + C_ALLOCATION.findall(code)


PYTHON_FILES = sorted((ROOT / "raisim_ros").rglob("*.py"))
C_FILES = sorted(path for path in (ROOT / "csrc").glob("*/*.[ch]") if path.parent.name != "include")


@pytest.mark.parametrize("path", PYTHON_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_imports_go_one_way(path):
    folder = ".".join(path.relative_to(ROOT / "raisim_ros").parts[:-1])
    source = path.read_text(encoding="utf-8")
    assert forbidden_imports(folder, source) == []
    if str(path.relative_to(ROOT / "raisim_ros")) not in ENTRIES:
        assert forbidden_inner_imports(folder, source) == []


@pytest.mark.parametrize("path", C_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_c_includes_go_one_way_and_the_engine_is_quiet(path):
    source = path.read_text(encoding="utf-8")
    assert forbidden_includes(path.parent.name, source) == []
    assert forbidden_calls(path.parent.name, source) == []


def test_public_headers_include_each_other_only_and_in_one_order():
    folder = ROOT / "csrc/include/raisim_engine"
    order = re.findall(r'#include "raisim_engine/(.+)"', (folder.parent / "raisim_engine.h").read_text(encoding="utf-8"))
    assert sorted(order) == sorted(path.name for path in folder.iterdir())
    for place, name in enumerate(order):
        text = (folder / name).read_text(encoding="utf-8")
        assert set(re.findall(r'#\s*include\s*"(.+)"', text)) <= set(order[:place]), name
        assert len(text.splitlines()) <= 300, name


def test_sources_txt_lists_every_c_file_once():
    lines = (ROOT / "csrc/sources.txt").read_text(encoding="utf-8").splitlines()
    listed = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    present = [str(path.relative_to(ROOT / "csrc")) for path in C_FILES if path.suffix == ".c"]
    assert sorted(listed) == sorted(present)


@pytest.mark.parametrize("layer", ["description", "engine", "ros"])
def test_folders_of_tests_are_those_of_the_sources(layer):
    """What the C engine computes is tested through Python, too: in folders named as those of csrc/."""
    found = folders_in(ROOT / "test" / layer)
    assert found
    assert found <= folders_in(ROOT / "raisim_ros" / layer) | (set(C_FOLDERS) if layer == "engine" else set())
    assert folders_in(ROOT / "test/c") <= set(C_FOLDERS)


def folders_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir() and not path.name.startswith("__")}


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("root", ["raisim_ros", "csrc"])
def test_every_folder_is_in_the_picture(root):
    cells = {line.split("|")[1] for line in ARCHITECTURE.splitlines() if line.startswith("| `")}
    named = {name.strip("/").split("/")[-1] for cell in cells for name in re.findall(r"`([a-z/]+)`", cell)}
    folders = {path.name for path in (ROOT / root).rglob("*") if path.is_dir() and not path.name.startswith("_")}
    assert folders - named <= {"raisim_engine", "tasks"}  # within include and envs, which say so


def test_files_in_the_picture_exist():
    files = {path.name for folder in ("raisim_ros", "csrc", "test", "tools") for path in (ROOT / folder).rglob("*")}
    named = set(re.findall(r"`(?:[a-z_]+/)*([a-z_]\w*\.(?:py|c|h))`", ARCHITECTURE))
    assert named - files <= {"setup.py"}


def test_generated_packages_are_not_in_the_source():
    assert not (ROOT / "raisim_ros/msg").exists()
    assert not (ROOT / "raisim_ros/srv").exists()


@pytest.mark.parametrize(
    ("folder", "source", "expected"),
    [
        ("description", "from raisim_ros.engine import world", ["raisim_ros.engine.world"]),
        ("description", "from ..engine.world import World", ["raisim_ros.engine.world.World"]),
        ("description", "from .types import Body", []),
        ("engine", "import rclpy.node", ["rclpy.node"]),
        ("engine", "from raisim_ros import ros", ["raisim_ros.ros"]),
        ("engine", "try:\n    import rclpy\nexcept ImportError:\n    pass", ["rclpy"]),
        ("engine", "def lazy():\n    import rclpy", []),
        ("ros", "import cffi\nfrom ..engine.world import World", ["cffi"]),
        ("", "from .ros.client import Client", ["raisim_ros.ros.client.Client"]),
    ],
)
def test_the_python_check_finds_wrong_directions(folder, source, expected):
    assert forbidden_imports(folder, source) == expected


def test_the_python_check_finds_wrong_inner_directions():
    source = "from raisim_ros.ros.node.stepping import SteppingLoop\nfrom raisim_ros.ros import qos"
    assert forbidden_inner_imports("ros.node", source) == []
    assert forbidden_inner_imports("ros.objects", source) == ["raisim_ros.ros.node.stepping.SteppingLoop"]
    assert forbidden_inner_imports("ros", source) == ["raisim_ros.ros.node.stepping.SteppingLoop"]


@pytest.mark.parametrize(
    ("folder", "source", "expected"),
    [
        ("base", '#include "model/shape.h"', ["model/shape.h"]),
        ("collision", '#include "contact/contact.h"\n#include "base/math3d.h"', ["contact/contact.h"]),
        ("world", '#include "contact/contact.h"\n#include "world.h"\n#include <math.h>', []),
        ("model", '#include "../base/core.h"\n#include "../world/world.h"', ["../world/world.h"]),
        ("world", '#include "../bench/scene.h"', ["../bench/scene.h"]),
    ],
)
def test_the_c_check_finds_wrong_directions(folder, source, expected):
    assert forbidden_includes(folder, source) == expected


def test_the_call_check_ignores_comments_and_finds_calls():
    source = '/* free( */ x = malloc(3); // exit(1)\n printf("x");'
    assert forbidden_calls("model", source) == ["printf", "malloc"]
    assert forbidden_calls("base", "p = malloc(3); rs_free(p);") == []
