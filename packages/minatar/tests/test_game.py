"""What all games have in common, tested for each of them."""

from __future__ import annotations

import inspect
from typing import Any

import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidParamsError
from envcore_minatar import plugin
from envcore_testing import check_env
from envcore_testing.compilation import quick_jit
from minatar import Environment

IDS = [spec.id for spec in plugin.envcore_env_specs()]
KEY = jax.random.key(0)


def make(env_id: str, **options: Any) -> Any:
    return envcore.make(env_id, **options)[0]


@pytest.fixture(params=IDS)
def env_id(request: pytest.FixtureRequest) -> str:
    return request.param


def original(env_id: str) -> Any:
    name = "".join(f"_{c.lower()}" if c.isupper() else c for c in env_id.removesuffix("-MinAtar")).strip("_")
    return Environment(name)


def test_spaces_are_the_originals(env_id: str) -> None:
    env, theirs = make(env_id), original(env_id)
    assert list(env.minimal_actions) == theirs.minimal_action_set()
    assert env.action_space(env.default_params).n == len(theirs.minimal_action_set())
    full = make(env_id, use_minimal_action_set=False)
    assert full.action_space(full.default_params).n == theirs.num_actions()
    assert list(env.observation_space(env.default_params).shape) == theirs.state_shape()
    assert list(env.channels) == list(theirs.env.channels)


def test_defaults_are_the_originals(env_id: str) -> None:
    env, defaults = make(env_id), inspect.signature(Environment.__init__).parameters
    assert env.default_params.sticky_action_prob == defaults["sticky_action_prob"].default
    assert env.difficulty_ramping == defaults["difficulty_ramping"].default


# What the base class does, tested in one game.

SEA = make("Seaquest-MinAtar", use_minimal_action_set=False)


@pytest.mark.parametrize("prob", [0.0, 0.1, 1.0])
def test_sticky_actions_repeat_the_last_executed_one(prob: float) -> None:
    params = SEA.default_params.replace(sticky_action_prob=prob)
    state = SEA.reset(KEY, params)[1].replace(last_action=jnp.int32(5))
    keys = jax.random.split(KEY, 4000)
    executed = np.asarray(quick_jit(jax.vmap(lambda key: SEA.step_env(key, state, 1, params)[1].last_action))(keys))
    assert set(executed) <= {1, 5}
    assert abs((executed == 5).mean() - prob) <= 4 * (prob * (1 - prob) / 4000) ** 0.5


def test_last_action_survives_the_reset() -> None:
    params = SEA.default_params.replace(max_steps_in_episode=1, sticky_action_prob=0.0)
    _, state = SEA.reset(KEY, params)
    _, state, _, done, _ = SEA.step(KEY, state, 4, params)
    assert done
    assert (int(state.time), int(state.last_action)) == (0, 4)


def test_minimal_actions_are_numbers_of_the_full_set() -> None:
    minimal = make("SpaceInvaders-MinAtar")
    full = make("SpaceInvaders-MinAtar", use_minimal_action_set=False)
    _, state = minimal.reset(KEY)
    for number, action in enumerate(minimal.minimal_actions):
        both = minimal.step_env(KEY, state, number), full.step_env(KEY, state, action)
        jax.tree.map(np.testing.assert_array_equal, *both)


def test_sticky_action_prob_is_a_probability() -> None:
    for prob in (-0.1, 1.1):
        with pytest.raises(InvalidParamsError, match=f"sticky_action_prob must be from 0 to 1, got {prob}"):
            SEA.reset(KEY, SEA.default_params.replace(sticky_action_prob=prob))


@pytest.mark.slow
def test_conforms(env_id: str) -> None:
    check_env(make(env_id))


@pytest.mark.slow
def test_conforms_with_other_options() -> None:
    check_env(make("SpaceInvaders-MinAtar", use_minimal_action_set=False, difficulty_ramping=False))
