"""Specs have the environment's own time limit, and its original's reward threshold."""

# Gymnasium's types are wide.
# pyright: reportOptionalMemberAccess=false, reportArgumentType=false, reportAttributeAccessIssue=false

import gymnasium
import numpy as np
import pytest
from envcore.environment import NO_TIME_LIMIT, EnvParams
from envcore.errors import InvalidArgumentError
from envcore_adapters.gymnasium import GymnasiumEnv, specs
from gymnasium.envs.registration import EnvSpec
from gymnasium.wrappers import TimeAwareObservation


@pytest.mark.parametrize(
    "env_id", ["CartPole-v1", "Acrobot-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0"]
)
def test_limit_and_threshold_are_gymnasiums(env_id):
    ours, theirs = gymnasium.make(f"envcore/{env_id}").spec, gymnasium.spec(env_id)
    assert (ours.max_episode_steps, ours.reward_threshold) == (theirs.max_episode_steps, theirs.reward_threshold)


@pytest.mark.parametrize(("limit", "expected"), [(7, 7), (NO_TIME_LIMIT, None), (np.array([3, 4]), None)])
def test_time_limits(limit, expected):
    assert specs.time_limit(EnvParams(max_steps_in_episode=limit)) == expected


def test_a_limit_that_was_given_stays():
    spec = EnvSpec("envcore/Some-v0", max_episode_steps=3)
    assert specs.with_time_limit(spec, EnvParams(max_steps_in_episode=7)) is spec
    assert specs.with_time_limit(None, EnvParams(max_steps_in_episode=7)) is None


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


def test_made_again_from_their_specs():
    params = {"max_steps_in_episode": 3}
    env = gymnasium.make(gymnasium.make("envcore/CartPole-v1", params=params).spec)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(3)] == [False, False, True]
    envs = gymnasium.make_vec(gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, params=params).spec)
    assert (envs.num_envs, envs.unwrapped.params.max_steps_in_episode) == (2, 3)


@pytest.mark.parametrize("given", [30, 501])
def test_a_batch_with_a_shorter_limit(given):
    envs = gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, max_episode_steps=given)
    assert envs.unwrapped.params.max_steps_in_episode == min(given, 500)
    assert envs.unwrapped.params.max_steps_in_episode.dtype == np.int32


@pytest.mark.parametrize("given", [0, -1, "x"])
def test_invalid_limits(given):
    with pytest.raises(InvalidArgumentError, match="max_episode_steps must be a positive integer"):
        gymnasium.make_vec("envcore/CartPole-v1", num_envs=2, max_episode_steps=given)
