"""Sweeps and rollouts on a local Ray of two workers, of which some are killed: results as in one process."""

from __future__ import annotations

import os
import signal
import sys
from functools import partial

import numpy as np
import pytest

import raisim_ros
from raisim_ros import InvalidValueError, RaisimError, World
from raisim_ros.distributed import JobError, WorkersLostError, rollouts, sweep


def slide(parameters, random, pids=None):
    """A thrown box on ground with friction, and a pole with damping: all places of 60 steps."""
    if pids is not None:
        (pids / str(os.getpid())).touch()
    friction, mass = parameters
    world = World()
    world.set_default_material(friction, 0.2, 0.01)
    world.add_ground()
    box = world.add_box(0.2, 0.3, 0.1, mass, position=(0, 0, 0.06), velocity=random.uniform(-2, 2, 6))
    cart = world.add_articulated_system(raisim_ros.resource("robots/cartpole.urdf"))
    cart.set_generalized_velocity(random.uniform(-1, 1, 2))
    places = np.zeros((60, 5))
    for row in places:
        world.integrate()
        row[:3], row[3:] = box.get_position(), cart.get_generalized_coordinate()
    return {"places": places, "friction": friction}


def parameter_sets(count):
    rng = np.random.default_rng(4)
    return list(zip(rng.uniform(0.1, 1.0, count).tolist(), rng.uniform(0.5, 5.0, count).tolist(), strict=True))


def wrong(parameters, random):
    if parameters == 3:
        raise ValueError("three is too many")
    return parameters


def deadly(parameters, random):
    if parameters == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return parameters


def lean(observations):
    return np.clip(5.0 * observations[:, 1:2] + observations[:, 3:4], -1, 1)


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory):
    ray = pytest.importorskip("ray", reason="the extra raisim_ros[distributed] is not installed")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("ray"))  # workers import from here, and not the sources
        ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import tests
    yield ray
    ray.shutdown()


def test_two_hundred_parameter_sets_with_a_killed_worker_are_those_of_one_process(two_workers, tmp_path):
    sets, seen, killed = parameter_sets(200), [], []

    def watch(progress):
        seen.append(progress)
        if len(seen) in (20, 90):
            victim = next(pid for pid in map(int, sorted(os.listdir(tmp_path))) if pid not in killed)
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    told = partial(slide, pids=tmp_path)
    spread = sweep(told, sets, seed=5, workers=2, progress=watch)
    alone = sweep(slide, sets, seed=5, workers=0)
    assert len(killed) == 2
    assert seen[-1].replaced == 2
    assert [progress.done for progress in seen] == list(range(1, 201))
    assert len(os.listdir(tmp_path)) == 4
    for one, other in zip(spread, alone, strict=True):
        assert np.array_equal(one["places"], other["places"])
        assert one["friction"] == other["friction"]
    assert not spread[0]["places"].flags.writeable  # in shared memory: not copied
    assert not np.array_equal(alone[0]["places"], sweep(slide, sets[:1], seed=6, workers=0)[0]["places"])


def test_rollouts_are_those_of_one_process(two_workers):
    pytest.importorskip("gymnasium", reason="the extra raisim_ros[learn] is not installed")
    from raisim_ros.envs.registration import make_vector_env

    make = partial(make_vector_env, "CartPole-v0", threads=1)
    seeds = range(100, 150)
    spread = rollouts(make, lean, seeds, 40, batch=16, workers=2)
    alone = rollouts(make, lean, seeds, 40, batch=50, workers=0)[0]
    assert [len(one.seeds) for one in spread] == [16, 16, 16, 2]
    assert alone.observations.shape == (41, 50, 4)
    for name in ("observations", "actions", "rewards", "terminated", "truncated"):
        together = np.concatenate([getattr(one, name) for one in spread], axis=1)
        assert np.array_equal(together, getattr(alone, name)), name
    assert alone.rewards.sum() > 0


def test_errors_of_a_job_and_jobs_that_kill_are_told(two_workers):
    for workers in (0, 2):
        with pytest.raises(JobError, match=r"job 3 failed: ValueError: three") as told:
            sweep(wrong, range(6), workers=workers)
        assert told.value.index == 3
    with pytest.raises(WorkersLostError, match="job 1 lost 4 workers"):
        sweep(deadly, range(3), workers=2)
    assert sweep(deadly, [0, 2], workers=2) == [0, 2]


def test_without_ray_there_is_one_process(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert sweep(wrong, [1, 2], workers=0, progress=True) == [1, 2]
    assert "2/2" in capsys.readouterr().err
    assert sweep(wrong, [], workers=2) == []
    with pytest.raises(RaisimError, match="raisim_ros\\[distributed\\]"):
        sweep(wrong, [1, 2], workers=2)
    for settings in ({"workers": -1}, {"workers": 1.5}, {"cpus_per_worker": 0}):
        with pytest.raises(InvalidValueError):
            sweep(wrong, [1], **settings)
    with pytest.raises(InvalidValueError, match="batch"):
        rollouts(lambda count: None, lean, [1], 3, batch=0)


@pytest.mark.parametrize("odd", [None, -1, 0.5, "abc", [None], {"a": 1}, 1j, np.array(["a"])], ids=repr)
def test_wrong_arguments_are_refused_before_anything_begins(odd):
    def never(*_):
        raise AssertionError("it was called")

    for wrong in (
        lambda: sweep(odd, [1], workers=0),
        lambda: sweep(never, 5, workers=0),
        lambda: sweep(never, [1], seed=odd, workers=0),
        lambda: sweep(never, [1], workers=0, progress=[odd]),
        lambda: rollouts(never, never, odd, 1, workers=0),
        lambda: rollouts(never, never, [1], odd, workers=0),
        lambda: rollouts(never, never, [1], 1, batch=odd, workers=0),
    ):
        with pytest.raises(InvalidValueError):
            wrong()
