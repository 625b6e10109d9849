"""Every benchmark runs, with a sliver of its work, and a part of the page can be measured anew."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco", reason="the engine that the benchmarks compare with")

BENCH = Path(__file__).resolve().parents[2] / "bench"
NEEDS_ROS = {"sensors", "ros"}


def load_run():
    spec = importlib.util.spec_from_file_location("bench_run", BENCH / "run.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_run"] = module
    spec.loader.exec_module(module)
    return module


run = load_run()


@pytest.mark.parametrize("section", [one.name for one in run.SECTIONS])
def test_section_runs(section):
    if section in NEEDS_ROS:
        pytest.importorskip("rclpy", reason="needs rclpy")
    if section == "viewer":
        pytest.importorskip("viser", reason="the viewer's extra is not installed")
        pytest.importorskip("playwright", reason="playwright is not installed")
        if not any(shutil.which(name) for name in (os.environ.get("RAISIM_CHROMIUM", ""), "chromium", "google-chrome")):
            pytest.skip("there is no Chromium on this machine")
    options = ["--only", section, "--share", "0.002", "--repeats", "1", "--no-write"]
    # as `source tools/env.sh` sets it
    environment = os.environ | {"PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [sys.executable, str(BENCH / "run.py"), *options], env=environment, capture_output=True, text=True, timeout=110
    )
    assert done.returncode == 0, done.stderr
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) > 1
    assert len(re.findall("^## ", done.stdout, re.MULTILINE)) == 1
    assert "nan" not in done.stdout


def test_every_module_can_be_run_alone():
    modules = {module for one in run.SECTIONS for module in one.modules}
    for module in modules:
        assert 'if __name__ == "__main__":' in (BENCH / f"{module}.py").read_text(encoding="utf-8")


def test_a_section_is_replaced_and_the_others_stay(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    monkeypatch.setattr(run, "PAGE", page)
    run.write_page({"sensors": "## Sensors\n\nfirst", "rigid": "## Rigid bodies\n\nkept"})
    run.write_page({"sensors": "## Sensors\n\nsecond"})
    text = page.read_text(encoding="utf-8")
    assert text.startswith(run.INTRODUCTION)
    assert text.index("bodies\n\nkept") < text.index("Sensors\n\nsecond")
    assert "Sensors\n\nfirst" not in text
    assert text.count("## Sensors") == text.count("begin sensors") == text.count("end sensors") == 1
    run.write_page({})
    assert page.read_text(encoding="utf-8") == text
