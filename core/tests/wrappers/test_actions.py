"""`ClipAction`, `RescaleAction` and `StickyAction`."""

from __future__ import annotations

from typing import Any

import chex
import jax
import jax.numpy as jnp
import pytest
from envcore.wrappers import ClipAction, RescaleAction, StickyAction
from toy import Counter, Spring

KEY = jax.random.key(3)


def test_clip_action_clips() -> None:
    env, inner = ClipAction(Spring()), Spring()
    _, state = env.reset(KEY)
    far = jnp.full(env.action_space(env.default_params).shape, 100.0)
    high = jnp.asarray(inner.action_space(inner.default_params).high)
    assert bool(env.action_space(env.default_params).contains(far))
    chex.assert_trees_all_equal(env.step(KEY, state, far), inner.step(KEY, state, high), strict=True)


def test_rescale_action_maps_the_ends() -> None:
    inner = Spring()
    env = RescaleAction(inner, low=0.0, high=2.0)
    _, state = env.reset(KEY)
    space = inner.action_space(inner.default_params)
    for given, meant in ((0.0, space.low), (2.0, space.high)):
        ours = env.step(KEY, state, jnp.full(space.shape, given))
        chex.assert_trees_all_equal(ours, inner.step(KEY, state, jnp.asarray(meant)), strict=True)


def test_sticky_action_repeats_as_often_as_it_says() -> None:
    env = StickyAction(Counter(), repeat_action_probability=0.25)
    _, state = env.reset(KEY)
    state = state.replace(last_action=jnp.int32(1), has_last_action=jnp.bool_(True))
    keys = jax.random.split(KEY, 4000)
    executed = jax.vmap(lambda key: env.step(key, state, 0)[1].last_action)(keys)
    assert abs(executed.mean() - 0.25) < 4 * (0.25 * 0.75 / 4000) ** 0.5


def test_sticky_action_executes_the_first_action_of_an_episode() -> None:
    env = StickyAction(Counter(goal=10_000), repeat_action_probability=0.99)
    params = env.default_params.replace(max_steps_in_episode=1)  # every step is a first step
    _, state = env.reset(KEY, params)
    for seed in range(20):
        action = env.action_space(params).sample(jax.random.key(seed))
        _, after, _, done, _ = env.step(jax.random.key(seed), state, action, params)
        assert done
        assert int(after.last_action) == int(action)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: ClipAction(Counter()), "needs an environment with float Box actions"),
        (lambda: RescaleAction(ClipAction(Spring())), "needs a bounded action space"),
        (lambda: RescaleAction(Spring(), 1.0, 0.0), "needs finite low < high"),
        (lambda: StickyAction(Counter(), 1.0), r"must be in \[0, 1\)"),
    ],
)
def test_bad_options(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
