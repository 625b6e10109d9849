"""Every example builds, runs, can be drawn, and is shown in the gallery."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith("ros_"))


def load(path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_example_builds_runs_and_is_drawn(path):
    example = load(path)
    world = example.build()
    control = getattr(example, "control", None)
    for _ in range(25):
        if control is not None:
            control(world)
        world.integrate()
    assert np.isfinite(world.read_states().poses).all()
    picture = world.render(example.VIEW, 64, 36, points=getattr(example, "POINTS", False))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 20


@pytest.mark.parametrize("path", sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("ros/*.py")]), ids=lambda path: path.stem)
def test_example_is_in_the_gallery(path):
    gallery = (ROOT / "docs/gallery.md").read_text(encoding="utf-8")
    name = path.relative_to(EXAMPLES).with_suffix("").as_posix()
    picture = f"images/gallery/{name.replace('/', '_')}.jpg"
    assert f"examples/{name}.py" in gallery
    assert picture in gallery
    assert (ROOT / "docs" / picture).is_file()


def test_there_are_enough():
    assert len(list(EXAMPLES.glob("*.py"))) >= 15


def test_two_futures_of_one_moment_are_equal_to_the_bit():
    first, again, pushed = load(EXAMPLES / "branching.py").branches()
    assert first == again != pushed


def test_the_carts_balance_their_poles():
    example = load(EXAMPLES / "cartpole.py")
    world = example.build()
    for _ in range(2000):
        example.control(world)
        world.integrate()
    for number in range(example.ROBOTS):
        assert abs(world.get_object(f"cartpole_{number}").get_generalized_coordinate()[1]) < 0.1


def test_the_gripper_lifts_the_cube():
    example = load(EXAMPLES / "gripper.py")
    world = example.build()
    for _ in range(1500):
        example.control(world)
        world.integrate()
    assert world.get_object("cube").get_position()[2] > 0.2


def test_a_run_is_recorded_and_read_back(tmp_path):
    recording = load(EXAMPLES / "record_and_replay.py").record(tmp_path / "wall.raisim")
    assert len(recording) > 100


def test_the_cells_of_the_notebook_run(monkeypatch):
    pytest.importorskip("viser", reason="the viewer's extra is not installed")
    display = types.SimpleNamespace(IFrame=lambda address, **size: address)
    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    scope = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), scope)
    assert max(scope["heights"]) > 1.0
    assert not scope["viewer"].is_open()
