"""`RandomizeParams`: params that are fixed in an episode, and differ between episodes and environments."""

from __future__ import annotations

import dataclasses
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.environment import EnvParams
from envcore.errors import InvalidParamsError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import (
    ActionMaskObservation,
    Batched,
    LogWrapper,
    RandomizeParams,
    UniformParams,
)
from flax import struct
from toy import Counter

KEY = jax.random.key(5)
BONUS = {"bonus": (0.5, 2.0)}


@pytest.mark.parametrize("each_episode", [True, False])
def test_params_stay_in_an_episode_and_differ_between_episodes(each_episode: bool) -> None:
    env: Any = LogWrapper(Batched(RandomizeParams(Counter(), BONUS, each_episode), 8))
    steps = run_rollout(env, random_policy(env), start_rollout(env, KEY), 60, collect=lambda step: step)[1]
    bonus, done = np.asarray(steps.state.episode_params.bonus), np.asarray(steps.done)
    assert ((bonus >= 0.5) & (bonus <= 2)).all()
    assert done.sum(0).min() > 2
    changes = bonus[1:] != bonus[:-1]
    np.testing.assert_array_equal(changes, done[:-1] & each_episode)
    assert len(np.unique(bonus[0])) == 8
    # `state` is the one before the step, whose params the rules see.
    reward = np.asarray(steps.reward)
    np.testing.assert_array_equal(reward[reward != 0], bonus[reward != 0])


@struct.dataclass
class ArrayParams(EnvParams):
    winds: Any = struct.field(default_factory=lambda: np.zeros(3, np.float32))
    size: Any = 4
    is_slippery: Any = False


@dataclasses.dataclass(frozen=True)
class Arrays(Counter):
    @property
    def default_params(self) -> Any:
        return ArrayParams()

    def transition(self, state: Any, action: Any, draws: Any, params: Any) -> Any:
        return state, params.winds.sum(), jnp.bool_(False)


def test_arrays_and_integers() -> None:
    env = RandomizeParams(Arrays(), {"winds": (-1, 3), "size": (2, 5)})
    assert env.draw_params == UniformParams((("winds", -1, 3), ("size", 2, 5)))
    params = jax.vmap(lambda key: env.reset(key)[1].episode_params)(jax.random.split(KEY, 400))
    chex.assert_shape(params.winds, (400, 3))
    assert np.unique(params.winds).size > 1100
    assert (-1 <= params.winds.min() < -0.9, 2.9 < params.winds.max() <= 3) == (True, True)
    assert (params.size.dtype, np.unique(params.size).tolist()) == (jnp.int32, [2, 3, 4, 5])
    counts = np.bincount(params.size)[2:]
    assert counts.min() > 70


@dataclasses.dataclass(frozen=True)
class Bonus(Counter):
    """Everything that depends on params shows them."""

    def observe(self, state: Any, params: Any) -> Any:
        return super().observe(state, params) * params.bonus

    def action_mask(self, state: Any, params: Any) -> Any:
        return jnp.stack([True, params.bonus > 1])

    def render(self, state: Any, params: Any, height: int = 256) -> Any:
        return jnp.full((height, height, 3), params.bonus * 50).astype(jnp.uint8)


def test_observations_masks_and_pictures_are_of_the_episodes_params() -> None:
    env = RandomizeParams(Bonus(), BONUS)
    for number in range(4):
        obs, state = env.reset(jax.random.key(number))
        bonus = state.episode_params.bonus
        assert obs.max() == bonus
        assert env.render(state, env.default_params, 8)[0, 0, 0] == jnp.uint8(bonus * 50)
        masked, _ = ActionMaskObservation(env).reset(jax.random.key(number))
        assert masked["action_mask"].tolist() == [True, bool(bonus > 1)]
        assert env.action_mask(state, env.default_params).tolist() == [True, bool(bonus > 1)]


@pytest.mark.parametrize(
    ("draw_params", "error", "message"),
    [
        ({"wind": (0, 1)}, InvalidParamsError, "Arrays has no param 'wind'; its params: "),
        ({"winds": (1, 0)}, InvalidParamsError, r"must be two finite numbers, the lower one first, got \(1, 0\)"),
        (
            {"max_steps_in_episode": (0, 3)},
            InvalidParamsError,
            "must be at least 1, or .* got 0",
        ),
    ],
)
def test_what_cannot_be_drawn(draw_params: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        RandomizeParams(Arrays(), draw_params)


def test_a_function_that_returns_something_else() -> None:
    env: Any = RandomizeParams(Counter(), lambda key, params: params.replace(bonus=jnp.zeros(2)))
    with pytest.raises(
        InvalidParamsError, match=r"what draw_params returns for Counter.bonus must have shape \(\), got"
    ):
        env.reset(KEY)


def test_it_goes_inside_a_batch() -> None:
    with pytest.raises(ValueError, match=r"RandomizeParams goes inside Batched: Batched\(RandomizeParams\(env"):
        RandomizeParams(Batched(Counter(), 2), BONUS)
