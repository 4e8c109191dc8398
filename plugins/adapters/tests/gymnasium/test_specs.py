"""Specs have the environment's own time limit, and its original's reward threshold."""

# Gymnasium's types are wide.
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false, reportAttributeAccessIssue=false

import gymnasium
import numpy as np
import pytest
from envcore.errors import InvalidArgumentError
from envcore_adapters.gymnasium import GymnasiumEnv


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


@pytest.mark.parametrize("given", [30, 501])
def test_a_batch_with_a_shorter_limit(given):
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, max_episode_steps=given)
    assert envs.unwrapped.params.max_steps_in_episode == min(given, 500)
    assert envs.unwrapped.params.max_steps_in_episode.dtype == np.int32


def test_bad_limit_is_refused():
    with pytest.raises(InvalidArgumentError, match="max_episode_steps must be a positive integer"):
        gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, max_episode_steps=0)
