"""The examples of the README and of docs/ work as they stand. (Those that need ROS: test/ros/test_documented_commands.py)"""

import importlib
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import raisim_ros
from raisim_ros import World
from raisim_ros.description.sensor.file import load_sensor_set

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(language: str):
    """The examples in that language, each named by its page and line."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, found.start()) + 1
            yield pytest.param(found.group(1), id=f"{page.name}:{line}")


# Those that talk to a node are run beside one, in test/ros.
NEEDS_A_NODE = re.compile(r"rclpy|raisim_ros\.client")
PYTHON = [example for example in blocks("python") if not NEEDS_A_NODE.search(example.values[0])]


@pytest.fixture
def examples_folder(tmp_path):
    """A folder with the robots and worlds that come with the package: examples name them without a path."""
    for folder in ("robots", "worlds"):
        shutil.copytree(ROOT / "rsc" / folder, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_the_pages_with_python_examples_are_found():
    pages = {example.id.split(":")[0] for example in PYTHON}
    assert pages >= {"README.md", "mjcf.md", "robot_files.md", "sensors.md"}


@pytest.mark.parametrize("code", PYTHON)
def test_a_python_example_runs(code, examples_folder):
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=examples_folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    assert bool(done.stdout) == ("print(" in code)


LOADERS = {
    "<raisim": lambda path: World(path).get_obj_list(),
    "<robot": lambda path: World().add_articulated_system(path).get_body_names(),
    "<sensor_set": lambda path: load_sensor_set(path).sensors,
}


@pytest.mark.parametrize("text", list(blocks("xml")))
def test_an_xml_example_is_read_without_a_warning(text, tmp_path, recwarn):
    root = re.match(r"<\w+", text).group()
    if root not in LOADERS:
        pytest.skip(f"{root}> is a part of a file")
    path = tmp_path / "example.xml"
    path.write_text(text)
    assert LOADERS[root](path)
    assert [str(one.message) for one in recwarn] == []


def named(path: str):
    """What a dotted name of the reference means."""
    parts = path.split(".")
    for length in range(len(parts) - 1, 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError:
            continue
        for part in parts[length:]:
            found = getattr(found, part)
        return found
    raise AssertionError(path)


def referred() -> dict:
    """What the pages of the reference name."""
    text = "".join(page.read_text() for page in (ROOT / "docs/reference").glob("*.md"))
    return {path: named(path) for path in re.findall(r"^::: (\S+)$", text, re.MULTILINE)}


def test_every_public_name_is_in_the_reference():
    pytest.importorskip("viser")
    pytest.importorskip("gymnasium")
    modules = [raisim_ros, *(importlib.import_module(f"raisim_ros.{name}") for name in ("envs", "distributed"))]
    public = [getattr(module, name) for module in modules for name in module.__all__]
    public = [raisim_ros.Viewer, *(one for one in public if inspect.isclass(one) or inspect.isfunction(one))]
    shown = list(referred().values())
    assert [one.__name__ for one in public if one not in shown] == []


def test_everything_in_the_reference_is_documented():
    silent = []
    for path, thing in referred().items():
        members = inspect.getmembers(thing) if inspect.isclass(thing) else []
        for name, one in [(path, thing), *members]:
            ours = isinstance(one, property) or str(getattr(one, "__module__", "")).startswith("raisim_ros")
            if name[0] != "_" and ours and not inspect.getdoc(one):
                silent.append(f"{path}: {name}")
    assert silent == []


def test_every_page_is_in_the_contents_of_the_site():
    contents = (ROOT / "mkdocs.yml").read_text()
    pages = [page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    assert [page for page in pages if f": {page}" not in contents] == []


def test_the_tests_of_the_table_of_attacks_exist():
    rows = [line for line in (ROOT / "docs/reliability.md").read_text().splitlines() if line.count("|") >= 5]
    assert len(rows) > 60
    for row in rows[2:]:
        named = re.findall(r"`([\w/]+\.(?:py|c))::(\w+)`", row)
        assert named, f"no test is named: {row}"
        for file, test in named:
            assert f" {test}(" in (ROOT / "test" / file).read_text(), f"there is no test {test} in test/{file}"
