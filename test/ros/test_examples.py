"""The examples under examples/ros do what they say."""

import importlib.util
import math
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="needs rclpy")
pytest.importorskip("control_msgs", reason="needs control_msgs")

from raisim_ros.client import Client

FOLDER = Path(__file__).parents[2] / "examples" / "ros"
TESTED = {
    "balance_cartpole",
    "walk_quadruped",
    "walk_with_policy",
    "drive_and_map",
    "pick_and_place",
    "knock_over_tower",
    "two_worlds",
    "repeat_steps",
}


def example(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def world(start_node, domain_id):
    start_node(namespace="/examples", world="empty.xml", paused=True)
    with Client("examples", timeout=20.0, domain_id=domain_id) as client:
        yield client


@pytest.fixture(autouse=True)
def _empty(world):
    world.pause()
    world.reset(spawned=True, time=True)


def test_all_of_them_are_tested_and_listed():
    assert {file.stem for file in FOLDER.glob("*.py")} == TESTED
    table = (FOLDER / "README.md").read_text()
    assert all(f"`{name}.py`" in table for name in TESTED)


def test_the_pole_is_balanced(world):
    assert example("balance_cartpole").run(world) < 0.05


def test_the_quadruped_walks(world):
    distance, height = example("walk_quadruped").run(world, 2.0)
    assert distance > 0.3
    assert height > 0.45


def test_a_learnt_policy_walks_as_commanded(world):
    distance, height = example("walk_with_policy").run(world, 3.0, speed=0.6)
    assert 1.2 < distance < 2.4
    assert height > 0.3


def test_the_walls_are_on_the_map(world):
    module = example("drive_and_map")
    mapper = module.run(world)
    x, _, _ = mapper.pose
    assert x > 0.3
    north = {cell for cell in mapper.cells if 2.6 < module.CELL * cell[0] < 3.1}
    west = {cell for cell in mapper.cells if 2.6 < module.CELL * cell[1] < 3.1}
    assert len(north) > 10
    assert len(west) > 10


def test_the_box_is_carried(world):
    before, after = example("pick_and_place").run(world)
    assert math.hypot(after[0] - before[0], after[1] - before[1]) > 0.4


def test_the_tower_falls(world):
    standing, fallen = example("knock_over_tower").run(world)
    assert standing == pytest.approx(1.1, abs=0.01)
    assert fallen < 0.8


def test_the_moon_is_slower(world, start_node, domain_id):
    start_node(namespace="/moon", world="empty.xml", paused=True, publish_clock=False)
    with Client("moon", timeout=20.0, domain_id=domain_id) as moon:
        earth_fall, moon_fall = example("two_worlds").run(world, moon)
    assert earth_fall == pytest.approx(0.5 * 9.81 * 0.25, abs=1e-9)
    assert moon_fall == pytest.approx(0.5 * 1.62 * 0.25, abs=1e-9)


def test_steps_repeat(world):
    assert example("repeat_steps").run(world)
