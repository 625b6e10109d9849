"""The package as installed: by make (colcon with links), by plain colcon, and by pip without ROS."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "CMakeLists.txt", "MANIFEST.in", "package.xml", "pyproject.toml", "setup.cfg", "setup.py",
    "CHANGELOG.md", "LICENSE", "README.md",
    "cmake", "config", "csrc", "launch", "raisim_ros", "rsc", "scripts", "tools",
)

USE_THE_ENGINE = """
import platform
from pathlib import Path
import raisim_ros
from raisim_ros.description.resources import resource
world = raisim_ros.World()
world.add_sphere(0.1, 1.0)
world.integrate(10)
assert resource("README.md").is_file()
built = [path.name.split(".")[0] for path in Path(raisim_ros.info().library).parent.glob("_engine*.so")]
assert sorted(built) == (["_engine", "_engine_v3"] if platform.machine() == "x86_64" else ["_engine"]), built
print(raisim_ros.__file__)
"""


def copy_sources(destination: Path) -> Path:
    """The project without what was built in the checkout; its engine shall be compiled quickly, not run quickly."""
    ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyc")
    destination.mkdir()
    for name in SOURCES:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, destination / name, ignore=ignore)
        else:
            shutil.copy(source, destination / name)
    flags = destination / "csrc/flags.txt"
    flags.write_text(flags.read_text().replace("-O3", "-O0"))
    return destination


def run(command: list[str], cwd: Path, env: dict[str, str]) -> str:
    """The standard output of a command that must succeed; its whole output is shown when it does not."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}\n{done.stderr}"
    return done.stdout


def environment_without_ros() -> dict[str, str]:
    kept = {"HOME", "PATH", "TMPDIR"}
    return {name: value for name, value in os.environ.items() if name in kept or name.startswith("PIP_")}


def installed_package(prefix: Path) -> Path:
    return next(prefix.glob("lib/python3*/*-packages/raisim_ros"))


def check_colcon_layout(prefix: Path) -> None:
    package = installed_package(prefix)
    assert (package / "__init__.py").read_text() == (ROOT / "raisim_ros/__init__.py").read_text()
    assert list((package / "engine").glob("_engine.*.so"))
    if platform.machine() == "x86_64":
        assert list((package / "engine").glob("_engine_v3.*.so"))
    assert (package / "msg/__init__.py").is_file()
    assert os.access(prefix / "lib/raisim_ros/world_node", os.X_OK)
    for folder in ("launch", "config", "rsc"):
        assert any((prefix / "share/raisim_ros" / folder).iterdir())
    assert (prefix / "share/ament_index/resource_index/packages/raisim_ros").is_file()


def ament_prefix_of_this_build() -> Path:
    import raisim_ros

    package = Path(raisim_ros.__file__).parent
    if not (package / "msg").is_dir():
        pytest.skip("raisim_ros is not imported from a colcon build")
    return package.parents[3]


def test_the_build_under_test_is_complete_and_its_init_is_ours():
    check_colcon_layout(ament_prefix_of_this_build())


@pytest.mark.timeout(900)
def test_plain_colcon_build_installs_a_package_that_works_without_the_sources(tmp_path):
    if shutil.which("colcon") is None:
        pytest.skip("colcon is not installed")
    ament_prefix_of_this_build()  # skips where there is no ROS to build with
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    sources = copy_sources(workspace / "raisim_ros")
    # One message is enough to see where rosidl installs; all of them would take minutes.
    (sources / "msg").mkdir()
    (sources / "msg/Probe.msg").write_text("float64 value\n")
    python = f"-DPython3_EXECUTABLE={sys.executable}"
    run(["colcon", "build", "--merge-install", "--cmake-args", python, "-DBUILD_TESTING=OFF"], workspace,
        dict(os.environ))
    shutil.rmtree(sources)

    prefix = workspace / "install"
    check_colcon_layout(prefix)
    site = installed_package(prefix).parent
    env = {**os.environ, "PYTHONPATH": f"{site}:{os.environ.get('PYTHONPATH', '')}",
           "LD_LIBRARY_PATH": f"{prefix / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    use_both = USE_THE_ENGINE + "from raisim_ros.msg import Probe\nassert Probe(value=2.0).value == 2.0\n"
    printed = run([sys.executable, "-c", use_both], tmp_path, env)
    assert printed.strip().startswith(str(site))


@pytest.mark.timeout(900)
def test_pip_install_gives_the_python_api_without_ros(tmp_path):
    sources = copy_sources(tmp_path / "sources")
    venv.create(tmp_path / "venv", with_pip=True)
    python = str(tmp_path / "venv/bin/python")
    env = environment_without_ros()
    run([python, "-m", "pip", "install", "--quiet", str(sources)], tmp_path, env)
    shutil.rmtree(sources)

    no_ros = "import importlib.util\nassert importlib.util.find_spec('rclpy') is None\n"
    printed = run([python, "-c", no_ros + USE_THE_ENGINE], tmp_path, env)
    assert printed.strip().startswith(str(tmp_path / "venv"))
