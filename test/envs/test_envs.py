"""Environments of Gymnasium: its own checks, vector against single, seeds, autoreset modes, randomisation, pictures."""

from __future__ import annotations

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the extra raisim_ros[learn] is not installed")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import raisim_ros.envs as envs  # noqa: E402
from raisim_ros import InvalidValueError  # noqa: E402
from raisim_ros.envs.registration import make_env, make_vector_env  # noqa: E402

TASKS = list(envs.TASKS)


def actions(space, count, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(space.low, space.high, (count, *space.shape)).astype(np.float32)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_gymnasium_accepts_the_environment(name):
    check_env(gymnasium.make(f"raisim_ros/{name}").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("name", TASKS)
def test_a_vector_environment_is_its_single_environments_to_the_bit(name):
    vector = gymnasium.make_vec(f"raisim_ros/{name}", num_envs=3, threads=2)
    single = gymnasium.make(f"raisim_ros/{name}")
    rows, _ = vector.reset(seed=7)
    row, _ = single.reset(seed=8)
    assert rows.shape == (3, *vector.single_observation_space.shape)
    assert vector.observation_space.contains(rows)
    assert np.array_equal(rows[1], row)
    for step in range(30):
        given = actions(vector.single_action_space, 3, step)
        rows, rewards, ended, cut, _ = vector.step(given)
        row, reward, over, *_ = single.step(given[1])
        assert np.array_equal(rows[1], row)
        assert rewards[1] == reward
        assert ended[1] == over
        assert not cut.any()
        if over:
            break


def test_the_same_seeds_give_the_same_bits_whatever_the_threads():
    runs = []
    for threads in (1, 2):
        env = make_vector_env("Quadruped-v0", 4, threads=threads, randomization=[envs.Randomization("masses", 0.8, 1.2)])
        rows = [env.reset(seed=3)[0]]
        rows += [env.step(actions(env.single_action_space, 4, k))[0] for k in range(40)]
        runs.append(np.array(rows))
    assert np.array_equal(runs[0], runs[1])


def until_one_ends(env):
    for _ in range(200):
        rows, rewards, ended, cut, info = env.step(np.ones((env.num_envs, *env.single_action_space.shape)))
        if (ended | cut).any():
            return rows, rewards, ended, cut, info
    raise AssertionError("no episode ended")


def test_autoreset_in_the_next_step():
    env = make_vector_env("CartPole-v0", 3)
    env.reset(seed=1)
    rows, _, ended, _, _ = until_one_ends(env)
    assert (np.abs(rows[ended]) > 0.19).any(axis=1).all()
    rows, rewards, again, _, _ = env.step(np.zeros((3, 1)))
    assert (np.abs(rows[ended]) <= 0.05).all()
    assert (rewards[ended] == 0).all()
    assert not again[ended].any()


def test_autoreset_in_the_same_step():
    env = make_vector_env("CartPole-v0", 3, autoreset_mode=AutoresetMode.SAME_STEP)
    env.reset(seed=1)
    rows, rewards, ended, _, info = until_one_ends(env)
    assert (np.abs(rows[ended]) <= 0.05).all()
    assert (rewards[ended] == 1).all()
    assert np.array_equal(info["_final_obs"], ended)
    assert np.abs(info["final_obs"][np.flatnonzero(ended)[0]]).max() > 0.19


def test_no_autoreset_and_a_mask():
    env = make_vector_env("CartPole-v0", 3, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=1)
    rows, _, ended, _, _ = until_one_ends(env)
    after, _ = env.reset(options={"reset_mask": ended})
    assert (np.abs(after[ended]) <= 0.05).all()
    assert np.array_equal(after[~ended], rows[~ended])


@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("name", ["CartPole-v0", "BallBalance-v0", "CubeGrasp-v0", "Hopper-v0"])
def test_episodes_are_those_of_gymnasiums_own_vector_environment(name, mode):
    """Over the ends of episodes, which fall or are cut, in every mode; SyncVectorEnv is the reference."""
    limit = {"max_episode_steps": 9}
    makers = [lambda: gymnasium.make(f"raisim_ros/{name}", **limit)] * 3
    theirs = gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)
    ours = make_vector_env(name, 3, threads=2, autoreset_mode=mode, **limit)
    for attribute in ("single_observation_space", "single_action_space", "observation_space", "action_space", "num_envs"):
        assert getattr(ours, attribute) == getattr(theirs, attribute)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    pair = [env.reset(seed=[4, 11, 2]) for env in (ours, theirs)]
    assert np.array_equal(pair[0][0], pair[1][0])
    for step in range(25):
        given = actions(ours.single_action_space, 3, step)
        one, other = ours.step(given), theirs.step(given)
        for k in range(4):
            assert np.array_equal(one[k], other[k])
            assert one[k].dtype == other[k].dtype
        ended = one[2] | one[3]
        if mode == AutoresetMode.SAME_STEP and ended.any():
            assert np.array_equal(one[4]["_final_obs"], other[4]["_final_obs"])
            for mine, reference in zip(one[4]["final_obs"], other[4]["final_obs"], strict=True):
                assert (mine is None and reference is None) or np.array_equal(mine, reference)
        if mode == AutoresetMode.DISABLED and ended.any():
            pair = [env.reset(options={"reset_mask": ended})[0] for env in (ours, theirs)]
            assert np.array_equal(*pair)
    theirs.close()


def test_wrong_calls_are_told():
    env = make_vector_env("CartPole-v0", 3)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(np.zeros((3, 1)))
    env.reset(seed=0)
    for shape in ((3,), (3, 2), (2, 1), ()):
        with pytest.raises(InvalidValueError, match="actions"):
            env.step(np.zeros(shape))
    with pytest.raises(InvalidValueError, match="member 1"):
        env.step(np.array([[0.0], [np.nan], [0.0]]))
    with pytest.raises(InvalidValueError, match="seed"):
        env.reset(seed=[1, 2])
    assert env.step(np.zeros((3, 1)))[0].shape == (3, 4)


def test_episodes_are_cut_at_their_limit():
    env = make_vector_env("ArmReach-v0", 2, max_episode_steps=5)
    env.reset(seed=0)
    cuts = [env.step(np.zeros((2, 6)))[3].tolist() for _ in range(6)]
    assert cuts == [[False] * 2] * 4 + [[True] * 2, [False] * 2]


def test_randomisation_draws_at_every_reset():
    table = [
        envs.Randomization("masses", 0.5, 1.5),
        envs.Randomization("friction", 0.2, 0.9, operation="set"),
        envs.Randomization("p_gains", -5.0, 5.0, operation="add", each=True),
        envs.Randomization("gravity", 0.9, 1.1),
    ]
    env = make_vector_env("Quadruped-v0", 3, randomization=table)
    env.reset(seed=0)
    masses, friction = env.batch.robot().masses().copy(), env.batch.material_pair()[:, 0].copy()
    nominal = env.task.make_world()["quadruped"].get_masses()
    shares = masses / nominal
    assert np.ptp(shares, axis=1) == pytest.approx(0, abs=1e-12)
    assert ((shares > 0.5) & (shares < 1.5)).all()
    assert len(np.unique(shares[:, 0])) == len(np.unique(friction)) == 3
    assert env.batch.member(1)["quadruped"].get_mass(0) == masses[1, 0]
    assert len(np.unique(env.batch.robot().p_gains[0, 6:])) == 12
    env.reset()
    assert not np.array_equal(env.batch.robot().masses(), masses)
    env.reset(seed=0)
    assert np.array_equal(env.batch.robot().masses(), masses)
    for wrong in ({"what": "colour"}, {"operation": "divide"}, {"low": 2.0}):
        with pytest.raises(InvalidValueError):
            envs.Randomization(**{"what": "masses", "low": 0.5, "high": 1.5, **wrong})


def test_a_diverged_environment_is_terminated():
    env = make_vector_env("CartPole-v0", 2)
    env.reset(seed=0)
    env.batch.robot().velocities[1] = 1e49
    ended = [env.step(np.zeros((2, 1)))[2].tolist() for _ in range(3)]
    assert any(row[1] for row in ended)
    assert not any(row[0] for row in ended)


def test_pictures():
    env = gymnasium.make("raisim_ros/Quadruped-v0", render_mode="rgb_array")
    env.reset(seed=0)
    picture = env.render()
    assert picture.dtype == np.uint8
    assert picture.ndim == 3
    assert np.ptp(picture) > 50
    with pytest.raises(InvalidValueError, match="render_mode"):
        make_vector_env("CartPole-v0", 1, render_mode="ascii")


def test_stable_baselines_trains_and_its_checks_pass():
    baselines = pytest.importorskip("stable_baselines3", reason="stable-baselines3 is not installed")
    from raisim_ros.envs.stable_baselines import StableBaselinesEnv

    env = StableBaselinesEnv("CartPole-v0", 4)
    env.seed(1)
    first = env.reset()
    env.seed(1)
    assert np.array_equal(env.reset(), first)
    ended = []
    for _ in range(60):
        rows, rewards, over, infos = env.step(np.ones((4, 1), dtype=np.float32))
        ended += [info for info, done in zip(infos, over, strict=True) if done]
    assert rows.shape == (4, 4)
    assert rewards.dtype == np.float32
    assert ended
    assert all(np.abs(info["terminal_observation"]).max() > 0.19 for info in ended)
    assert all(info["episode"]["l"] > 1 for info in ended)
    baselines.PPO("MlpPolicy", env, n_steps=8, batch_size=32, device="cpu").learn(64)


def test_a_gripper_can_pick_the_cube_up_wherever_it_lies():
    """By rule: above it, down, close, up."""
    env = make_vector_env("CubeGrasp-v0", 24, threads=2)
    rows, _ = env.reset(seed=5)
    closing = np.zeros(24, dtype=int)
    for _ in range(130):
        way, given = rows[:, 16:19], np.zeros((24, 4))
        over = np.abs(way[:, :2]).max(axis=1) < 0.006
        closing += (closing > 0) | (over & (np.abs(way[:, 2]) < 0.012))
        held = closing > 0
        given[:, :2] = np.where(held[:, None], 0.0, way[:, :2] / 0.02)
        given[:, 2] = np.where(held, (closing > 12) * (0.23 - rows[:, 15]) / 0.04, over * way[:, 2] / 0.02)
        given[:, 3] = np.where(held, -1.0, 1.0)
        rows, rewards, ended, *_ = env.step(given)
        assert not ended.any()
    assert rows[:, 15] == pytest.approx(0.23, abs=0.02)
    assert (rewards > 1.9).all()


def test_rsl_rl_trains_on_it():
    pytest.importorskip("rsl_rl", reason="rsl-rl-lib is not installed")
    import torch

    from raisim_ros.envs.rsl_rl import RslRlEnv

    env = RslRlEnv("CartPole-v0", 4, max_episode_steps=20)
    env.seed(1)
    first = env.get_observations()["policy"].clone()
    env.seed(1)
    assert torch.equal(env.get_observations()["policy"], first)
    ended, late = 0, 0
    for _ in range(45):
        rows, rewards, dones, extras = env.step(torch.zeros(4, 1))
        ended, late = ended + int(dones.sum()), late + int(extras["time_outs"].sum())
    assert rows["policy"].shape == (4, 4)
    assert rewards.shape == (4,)
    assert ended >= late > 0
    env.episode_length_buf = torch.full((4,), 19)
    assert env.step(torch.zeros(4, 1))[2].tolist() == [1] * 4


ODD = [None, -1, float("nan"), "abc", b"x", [], {"a": 1}, object(), np.zeros(3), np.array(["a"]), 1j]


def test_wrong_arguments_are_refused_by_name():
    task, row = envs.TASKS["CartPole-v0"][0], {"what": "friction", "low": 0.5, "high": 2.0}
    env = make_vector_env("CartPole-v0", 2)
    first, _ = env.reset(seed=3)
    for odd in ODD:
        for wrong in (
            lambda odd=odd: make_vector_env([odd]),
            lambda odd=odd: envs.RaisimVectorEnv(odd, 2),
            lambda odd=odd: envs.RaisimVectorEnv(task(), 2, autoreset_mode=odd),
            lambda odd=odd: envs.RaisimVectorEnv(task(), 2, render_mode=[odd]),
            lambda odd=odd: envs.RaisimVectorEnv(task(), 2, randomization=[odd]),
            lambda odd=odd: envs.Randomization(**{**row, "what": odd}),
            lambda odd=odd: envs.Randomization(**{**row, "low": [odd]}),
            lambda odd=odd: envs.Randomization(**row, operation=odd),
            lambda odd=odd: envs.Randomization(**row, materials=(odd,)),
            lambda odd=odd: env.reset(seed=[odd, odd] if odd is not None else -1),
            lambda odd=odd: env.reset(options=[odd]),
            lambda odd=odd: env.step(odd),
        ):
            with pytest.raises(InvalidValueError):
                wrong()
    assert np.array_equal(env.reset(seed=3)[0], first)


@pytest.mark.parametrize("name", ["CartPole-v0", "Quadruped-v0"])
def test_a_policy_that_gives_nan_is_told_and_spoils_nothing(name):
    """It was written into the worlds, and no reset brought them back."""
    env, single = make_vector_env(name, 3), make_env(name)
    first, alone = env.reset(seed=3)[0], single.reset(seed=3)[0]
    actions = np.zeros(env.action_space.shape)
    after = env.step(actions)[0]
    env.reset(seed=3)
    actions[1, -1] = np.nan
    with pytest.raises(InvalidValueError, match="member 1: its actions"):
        env.step(actions)
    with pytest.raises(InvalidValueError, match="member 0: its actions"):
        single.step(actions[1])
    assert np.array_equal(env.step(np.nan_to_num(actions))[0], after)
    assert np.array_equal(env.reset(seed=3)[0], first)
    assert np.array_equal(single.reset(seed=3)[0], alone)
    assert np.isfinite(env.step(np.full(actions.shape, np.inf))[0]).all()


def test_odd_seeds_masks_and_actions_are_refused_by_name():
    env, single = make_vector_env("CartPole-v0", 2), make_env("CartPole-v0")
    first, alone = env.reset(seed=3)[0], single.reset(seed=3)[0]
    for odd in ([1, [2]], "ab", [0.5, 1.0], [None, True], {1, 2}, np.zeros((2, 2), bool), object()):
        for wrong in (
            lambda odd=odd: env.reset(options={"reset_mask": odd}),
            lambda odd=odd: single.reset(seed=odd),
            lambda odd=odd: single.reset(options=[odd]),
            lambda odd=odd: single.step([odd]),
            lambda odd=odd: single.step([[1.0], odd]),
        ):
            with pytest.raises(InvalidValueError):
                wrong()
    assert np.array_equal(env.reset(seed=np.array([3, 4]))[0], first)
    assert np.array_equal(env.reset(seed=np.array(3))[0], first)
    assert np.array_equal(single.reset(seed=np.int64(3))[0], alone)
