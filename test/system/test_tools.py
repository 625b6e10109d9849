"""The scripts that the Makefile leans on: the check of the machine and the environment script."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECK = ROOT / "tools/check_prerequisites.sh"
# What the script itself uses; everything else is what it looks for.
SHELL_TOOLS = ("sh", "sed", "sort", "head", "echo", "printf")
BUILD_TOOLS = ("cc", "c++", "cmake", "as", "ld")


def machine_with(folder: Path, tools: tuple[str, ...]) -> dict[str, str]:
    """An environment whose PATH holds only these programs."""
    folder.mkdir()
    for tool in (*SHELL_TOOLS, *tools):
        if found := shutil.which(tool):
            (folder / tool).symlink_to(found)
    return {"PATH": str(folder)}


def check(env: dict[str, str], python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    shell = shutil.which("sh")
    assert shell is not None
    return subprocess.run([shell, str(CHECK), python], env=env, capture_output=True, text=True, timeout=60)


def test_a_complete_machine_is_accepted_silently(tmp_path):
    done = check(machine_with(tmp_path / "bin", BUILD_TOOLS))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("missing", "package"), [("cc", "build-essential"), ("c++", "build-essential"), ("cmake", "cmake")]
)
def test_a_missing_tool_is_named_in_one_sentence_with_its_apt_line(tmp_path, missing, package):
    tools = tuple(tool for tool in BUILD_TOOLS if tool != missing)
    done = check(machine_with(tmp_path / "bin", tools))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.rstrip().endswith(f"sudo apt install {package}")


def test_a_missing_python_is_named(tmp_path):
    done = check(machine_with(tmp_path / "bin", BUILD_TOOLS), python="python3.99")
    assert done.returncode == 1
    assert "python3.99" in done.stderr


def fake_python(folder: Path, body: str) -> str:
    """A Python that fails or answers as a shell script says."""
    path = folder / "fake_python"
    path.write_text(f'#!/bin/sh\ncase "$2" in {body} esac\nexec "{sys.executable}" "$@"\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("body", "package"),
    [
        ("*venv*) exit 1;;", "python3-venv"),
        ("*sysconfig*) echo /nowhere; exit 0;;", "python3-dev"),
        ("*version_info*) exit 1;;", "python3"),
    ],
)
def test_an_incomplete_python_is_named_with_its_apt_line(tmp_path, body, package):
    done = check(machine_with(tmp_path / "bin", BUILD_TOOLS), python=fake_python(tmp_path, body))
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert done.stderr.rstrip().endswith(f"sudo apt install {package}")


def sourced(commands: str, **variables: str) -> str:
    env = {"PATH": os.environ["PATH"], **variables}
    command = ["bash", "-euo", "pipefail", "-c", commands]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_ros_the_environment_is_that_of_the_pypi_wheels():
    printed = sourced('source tools/env.sh; echo "$RAISIM_FLAVOUR $VIRTUAL_ENV $AMENT_PREFIX_PATH"')
    assert printed == f"jazzy {ROOT}/.venv {ROOT}/install/jazzy:{ROOT}/.venv"


def test_with_ros_sourced_the_build_lies_over_it(tmp_path):
    (tmp_path / "share" / "rclpy").mkdir(parents=True)
    printed = sourced('source tools/env.sh; echo "$RAISIM_FLAVOUR $AMENT_PREFIX_PATH"', ROS_DISTRO="jazzy",
                      AMENT_PREFIX_PATH=str(tmp_path))
    assert printed == f"system-jazzy {ROOT}/install/system-jazzy:{tmp_path}"


def test_sourcing_for_the_other_distribution_replaces_the_first():
    shown = "echo $AMENT_PREFIX_PATH; echo $PATH; echo $LD_LIBRARY_PATH; echo $PYTHONPATH"
    once = sourced(f"export ROS_DISTRO=kilted; source tools/env.sh; {shown}")
    after = sourced(f"source tools/env.sh; ROS_DISTRO=kilted; source tools/env.sh; {shown}")
    assert after == once
