"""The examples of learning do what they say: parameters are found again, plans bring robots where they shall go."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

LEARNING = Path(__file__).resolve().parents[2] / "examples/learning"


def load(name):
    spec = importlib.util.spec_from_file_location(f"learning_{name}", LEARNING / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", [6, 7])
def test_masses_and_frictions_are_found_again(seed):
    identify = load("identify")
    rng = np.random.default_rng(seed)
    truth = identify.NOMINAL + rng.uniform(-0.4, 0.4, len(identify.NOMINAL))
    recording = identify.run(identify.WorldBatch(identify.make_world(), 1), truth[None])[0]
    found, left = identify.fit(recording, rounds=14)
    assert left < 1e-4  # there is no noise here
    assert found == pytest.approx(np.exp(truth), rel=0.02)


def test_a_plan_swings_the_pole_up_and_holds_it():
    pytest.importorskip("gymnasium", reason="the extra raisim_ros[learn] is not installed")
    mpc = load("predictive_sampling")
    problem = mpc.SwingUp()
    real, controller = mpc.WorldBatch(problem.make_world(), 1, 1), mpc.Controller(problem, 64, seed=3)
    costs = []
    for _ in range(200):
        problem.command(real, controller.act(real))
        real.step(problem.substeps)
        costs.append(problem.cost(real)[0])
    assert costs[0] > 9
    assert np.mean(costs[-50:]) < 1.5
    assert np.cos(real.robot().coordinates[0, 1]) > 0.8


def test_a_plan_lets_the_quadruped_walk():
    pytest.importorskip("gymnasium", reason="the extra raisim_ros[learn] is not installed")
    mpc = load("predictive_sampling")
    problem = mpc.Walk()
    real, controller = mpc.WorldBatch(problem.make_world(), 1, 1), mpc.Controller(problem, 24, seed=1)
    for _ in range(40):
        problem.command(real, controller.act(real))
        real.step(problem.substeps)
    q = real.robot().coordinates[0]
    assert q[0] > 0.15  # in 0.8 s; the trot alone goes backwards
    assert abs(q[1]) < 0.1
    assert q[2] > 0.35
    assert np.abs(q[4:6]).max() < 0.15


def test_a_sweep_slides_as_far_as_the_closed_form(capsys, monkeypatch):
    sweep = load("sweep_friction")
    monkeypatch.setattr("sys.argv", ["sweep_friction.py", "--workers", "0", "--count", "3"])
    sweep.main()
    assert "9 boxes" in capsys.readouterr().out


def test_ppo_makes_some_steps(tmp_path):
    baselines = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    train = load("train_quadruped")
    train.train(1.0, 4, str(tmp_path / "policy.zip"), 200)
    assert baselines.PPO.load(tmp_path / "policy.zip", device="cpu").num_timesteps >= 200
