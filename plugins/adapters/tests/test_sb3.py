"""`SB3VecEnv`, and Stable-Baselines3's and sb3-contrib's own algorithms and wrappers on it."""

# Types are checked where Stable-Baselines3 is not installed.
# pyright: basic, reportMissingImports=false

import numpy as np
import pytest
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore_adapters.gymnasium import GymnasiumEnv
from envcore_adapters.sb3 import SB3VecEnv
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C, DQN, PPO, SAC
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    VecMonitor,
)

pytestmark = pytest.mark.client


def dummy(env_id, num_envs):
    return DummyVecEnv([lambda: GymnasiumEnv(env_id)] * num_envs)


@pytest.mark.parametrize("env_id", ["CartPole-v1", "Pendulum-v1", "Breakout-MinAtar"])
def test_it_is_what_dummy_vec_env_is(env_id):
    """Seeds, shapes, dtypes and, until chance decides something, every number."""
    ours, theirs = SB3VecEnv(env_id, 3), dummy(env_id, 3)
    assert (ours.observation_space, ours.action_space) == (theirs.observation_space, theirs.action_space)
    assert list(ours.seed(5)) == list(theirs.seed(5))
    obs, expected = ours.reset(), theirs.reset()
    np.testing.assert_array_equal(obs, expected)
    assert ours.reset_infos == theirs.reset_infos
    actions = np.array([ours.action_space.sample() for _ in range(3)])
    step, theirs_step = ours.step(actions), theirs.step(actions)
    for value, other in zip(step[:3], theirs_step[:3], strict=True):
        assert (value.shape, value.dtype) == (other.shape, other.dtype)
        np.testing.assert_allclose(value, other, rtol=1e-5, atol=1e-6)
    assert step[3] == theirs_step[3] == [{"TimeLimit.truncated": False}] * 3


def test_the_end_of_an_episode():
    ours, theirs = SB3VecEnv("CartPole-v1", 2), dummy("CartPole-v1", 2)
    for envs in (ours, theirs):
        envs.seed(0)
        envs.reset()
    num_ended = 0
    for _ in range(12):
        (obs, _, dones, infos), (_, _, others, their_infos) = (envs.step(np.array([0, 0])) for envs in (ours, theirs))
        assert dones.tolist() == others.tolist()
        for index in np.flatnonzero(dones):
            num_ended += 1
            assert infos[index].keys() == their_infos[index].keys()
            assert infos[index]["TimeLimit.truncated"] is False
            last = infos[index]["terminal_observation"]
            np.testing.assert_allclose(last, their_infos[index]["terminal_observation"], rtol=1e-5)
            assert abs(last[2]) > 0.2 > 0.05 > abs(obs[index][2])  # the pole has fallen, and stands again
        if num_ended == 2:
            return
    raise AssertionError(num_ended)


def test_time_limits_are_told_from_terminations():
    envs = SB3VecEnv("CartPole-v1", 2, {"max_steps_in_episode": 3})
    envs.reset()
    for count in range(1, 7):
        _, _, dones, infos = envs.step(np.array([count % 2] * 2))
        assert dones.tolist() == [count % 3 == 0] * 2
        assert [info["TimeLimit.truncated"] for info in infos] == [count % 3 == 0] * 2
        assert ("terminal_observation" in infos[0]) == (count % 3 == 0)


def test_seeds_are_used_once():
    envs = SB3VecEnv("CartPole-v1", 3)
    first = [envs.seed(3) and envs.reset() for _ in range(2)]
    np.testing.assert_array_equal(*first)
    assert len(np.unique(first[0], axis=0)) == 3
    assert not np.array_equal(envs.reset(), first[0])
    envs.seed(-5)
    with pytest.raises(InvalidArgumentError, match="seed must be a non-negative integer"):
        envs.reset()


def test_masks():
    envs = SB3VecEnv("pgx/2048", 3, {"max_steps_in_episode": 4})
    assert envs.has_attr("action_masks")
    with pytest.raises(ResetNeeded):
        envs.env_method("action_masks")
    envs.reset()
    infos = envs.reset_infos
    for _ in range(9):
        masks = envs.env_method("action_masks")
        np.testing.assert_array_equal(masks, [info["action_mask"] for info in infos])
        assert masks[0].dtype == np.bool_
        _, _, dones, infos = envs.step(np.argmax(masks, axis=1))
        if dones.any():
            np.testing.assert_array_equal(envs.reset_infos[0]["action_mask"], envs.env_method("action_masks")[0])
    np.testing.assert_array_equal(envs.env_method("action_masks", indices=[2]), [infos[2]["action_mask"]])


def test_params_are_set_in_the_middle_of_an_episode():
    """As a curriculum does, through Stable-Baselines3's own wrappers."""
    envs = VecMonitor(SB3VecEnv("Pendulum-v1", 2))
    envs.seed(0)
    obs = envs.reset()
    envs.set_attr("params", {"max_torque": 0.0})
    assert envs.get_attr("params")[1].max_torque == 0
    still = SB3VecEnv("Pendulum-v1", 2, {"max_torque": 0.0})
    still.seed(0)
    np.testing.assert_array_equal(still.reset(), obs)
    after, expected = (each.step(np.ones((2, 1), np.float32))[0] for each in (envs, still))
    np.testing.assert_array_equal(after, expected)
    with pytest.raises(InvalidArgumentError, match="has no param 'torque'"):
        envs.set_attr("params", {"torque": 1.0})


def test_pictures():
    envs = SB3VecEnv("CartPole-v1", 4, render_mode="rgb_array", render_height=30)
    envs.reset()
    assert [picture.shape for picture in envs.get_images()] == [(30, 60, 3)] * 4
    assert envs.render().shape == (60, 120, 3)
    assert envs.metadata["render_fps"] == envs.vector_env.env.render_fps
    assert SB3VecEnv("CartPole-v1", 2).get_images() == [None, None]


def test_what_is_refused():
    envs = SB3VecEnv("CartPole-v1", 2)
    with pytest.raises(ResetNeeded):
        envs.step(np.zeros(2, int))
    envs.reset()
    with pytest.raises(InvalidActionError, match="got 2"):
        envs.step(np.array([0, 2]))
    envs.close()
    with pytest.raises(ClosedEnvironmentError):
        envs.step(np.zeros(2, int))


@pytest.mark.parametrize(
    ("algorithm", "env_id", "settings"),
    [
        (PPO, "Breakout-MinAtar", {"n_steps": 16, "batch_size": 32}),
        (A2C, "CartPole-v1", {}),
        (DQN, "FrozenLake-misc", {"learning_starts": 32}),
        (SAC, "Pendulum-v1", {"learning_starts": 32}),
        (MaskablePPO, "pgx/2048", {"n_steps": 16, "batch_size": 32}),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_its_algorithms_train(algorithm, env_id, settings):
    envs = VecMonitor(SB3VecEnv(env_id, 4, {"max_steps_in_episode": 20}))
    model = algorithm("MlpPolicy", envs, seed=0, device="cpu", **settings)
    model.learn(128)
    assert model.num_timesteps >= 128
    assert all(1 <= episode["l"] <= 20 for episode in model.ep_info_buffer)
    assert len(model.ep_info_buffer) >= 4


@pytest.mark.slow
def test_ppo_solves_cartpole():
    envs = VecMonitor(SB3VecEnv("CartPole-v1", 8))
    settings = {"n_steps": 32, "batch_size": 256, "gae_lambda": 0.8, "gamma": 0.98, "n_epochs": 20}
    settings |= {"learning_rate": lambda left: 1e-3 * left, "clip_range": lambda left: 0.2 * left}
    model = PPO("MlpPolicy", envs, seed=0, device="cpu", **settings)
    model.learn(100_000)
    returns, _ = evaluate_policy(model, envs, n_eval_episodes=40, return_episode_rewards=True)
    assert np.mean(returns) >= 475
