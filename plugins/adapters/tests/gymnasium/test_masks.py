"""Legal actions are told of every state that an agent acts in, after resets too."""

from __future__ import annotations

import dataclasses
import pickle

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.wrappers import LogWrapper
from envcore_adapters.gymnasium import GymnasiumEnv, GymnasiumVectorEnv
from flax import struct
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics


@struct.dataclass
class Place(envcore.EnvState):
    number: jax.Array


@dataclasses.dataclass(frozen=True)
class Circle(envcore.Environment):
    """Goes round a circle of five places from a random one; only the place's own number is a legal action."""

    @property
    def default_params(self):
        return envcore.EnvParams(max_steps_in_episode=3)

    def init_state(self, draws, params):
        return Place(number=envcore.random.integers(envcore.random.bits(draws), 5))

    def transition(self, state, action, draws, params):
        is_legal = action == state.number
        return state.replace(number=(state.number + 1) % 5), is_legal.astype(jnp.float32), False, {"wrong": ~is_legal}

    def observe(self, state, params):
        return state.number.astype(jnp.float32)[None]

    def action_mask(self, state, params):
        return np.arange(5) == state.number

    def action_space(self, params) -> envcore.spaces.Space:
        return envcore.spaces.Discrete(5)

    def observation_space(self, params):
        return envcore.spaces.Box(0, 4, (1,))


@pytest.mark.parametrize("wrap", [lambda env: env, RecordEpisodeStatistics], ids=["bare", "wrapped"])
def test_one_environment(wrap):
    env = wrap(GymnasiumEnv(Circle()))
    obs, info = env.reset(seed=0)
    assert set(info) == {"action_mask"}
    starts = set()
    for _ in range(20):
        starts.add(int(obs[0]))
        truncated = False
        while not truncated:
            assert info["action_mask"].dtype == np.bool_
            assert info["action_mask"].tolist() == [place == obs[0] for place in range(5)]
            action = env.action_space.sample(info["action_mask"].astype(np.int8))
            obs, reward, _, truncated, info = env.step(action)
            assert reward == 1
            assert not info["wrong"]
        obs, info = env.reset()
    assert len(starts) > 2


def test_what_maskable_ppo_asks_for():
    env = RecordEpisodeStatistics(GymnasiumEnv(Circle()))
    with pytest.raises(ResetNeeded):
        env.get_wrapper_attr("action_masks")()
    obs, info = env.reset(seed=0)
    for _ in range(3):
        mask = env.get_wrapper_attr("action_masks")()
        assert mask.tolist() == info["action_mask"].tolist()
        obs, _, _, _, info = env.step(int(obs[0]))
    copy = pickle.loads(pickle.dumps(env.unwrapped))
    assert copy.action_masks().tolist() == info["action_mask"].tolist()


@dataclasses.dataclass(frozen=True)
class Circles(Circle):
    """The place is named together with a second number, 0 or 1."""

    def action_mask(self, state, params):
        return np.arange(5)[None] == jnp.stack([state.number, state.number % 2])[:, None]

    def transition(self, state, action, draws, params):
        return super().transition(state, action[0], draws, params)

    def action_space(self, params):
        return envcore.spaces.MultiDiscrete([5, 2])


def test_masks_of_several_numbers_follow_one_another():
    env = GymnasiumEnv(Circles())
    obs, info = env.reset(seed=0)
    assert info["action_mask"].shape == (2, 5)
    expected = np.concatenate([np.arange(5) == obs[0], np.arange(2) == obs[0] % 2])
    assert env.action_masks().tolist() == expected.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("arrays", ["numpy", "jax"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_batch(mode, arrays):
    envs = GymnasiumVectorEnv(LogWrapper(Circle()), 4, autoreset_mode=mode, arrays=arrays)
    obs, infos = envs.reset(seed=0)
    assert set(infos) == {"action_mask", "_action_mask"}
    ended = np.zeros(4, bool)
    for _ in range(12):
        mask = np.asarray(infos["action_mask"])
        assert np.asarray(infos["_action_mask"]).all()
        np.testing.assert_array_equal(mask, np.arange(5) == np.asarray(obs))
        obs, reward, terminated, truncated, infos = envs.step(mask.argmax(1))
        is_reset_step = mode is AutoresetMode.NEXT_STEP and ended.any()
        assert np.asarray(reward).tolist() == [0 if is_reset_step else 1] * 4
        ended = np.asarray(terminated) | np.asarray(truncated)
        if mode is AutoresetMode.SAME_STEP and ended.any():
            assert np.asarray(infos["final_info"]["returned_episode_returns"]).tolist() == [3] * 4
            assert "action_mask" not in infos["final_info"]
        if mode is AutoresetMode.DISABLED and ended.any():
            obs, infos = envs.reset(options={"reset_mask": ended})
