"""Specs have the environment's own time limit, and its original's reward threshold."""

# Gymnasium's types are wide.
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false, reportAttributeAccessIssue=false

import gymnasium
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_adapters.gymnasium import GymnasiumEnv
from gymnasium.wrappers import TimeAwareObservation


@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0"]
)
def test_limit_and_threshold_are_gymnasiums(env_id):
    ours, theirs = gymnasium.make(f"envcore/{env_id}").spec, gymnasium.spec(env_id)
    assert (ours.max_episode_steps, ours.reward_threshold) == (theirs.max_episode_steps, theirs.reward_threshold)


def test_the_limit_is_that_of_the_params():
    params = {"max_steps_in_episode": 1000}
    env = gymnasium.make("envcore/CartPole-v1", params=params)
    assert env.spec.max_episode_steps == env.unwrapped.spec.max_episode_steps == 1000
    assert gymnasium.make("envcore/CartPole-v1", params=params, max_episode_steps=30).spec.max_episode_steps == 30
    assert gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, params=params).spec.max_episode_steps == 1000
    assert GymnasiumEnv("CartPole-v1").spec is None
    assert gymnasium.make("envcore/Catch-bsuite").spec.reward_threshold is None


def test_gymnasiums_wrapper_reads_it():
    env = TimeAwareObservation(gymnasium.make("envcore/CartPole-v1"), normalize_time=True)
    assert env.observation_space.shape == (5,)
    env.reset(seed=0)
    assert env.step(0)[0][-1] == pytest.approx(1 / 500)


@pytest.mark.parametrize("given", [30, 501])
def test_a_batch_with_a_shorter_limit(given):
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, max_episode_steps=given)
    assert envs.unwrapped.params.max_steps_in_episode == min(given, 500)
    assert envs.unwrapped.params.max_steps_in_episode.dtype == np.int32


@pytest.mark.parametrize("given", [0, -1, "x"])
def test_invalid_limits(given):
    with pytest.raises(InvalidArgumentError, match="max_episode_steps must be a positive integer"):
        gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, max_episode_steps=given)
