"""`Wrapper`, and what holds for all wrappers, alone and in many orders."""

from __future__ import annotations

import copy
import pickle
import random as python_random
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import spaces, wrappers
from envcore.environment import NO_TIME_LIMIT
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers.actions import StickyDraws
from envcore_testing import check_env
from envcore_testing.trees import take
from toy import Counter, Gain, Spring, SpringDraws

KEY = jax.random.key(3)


ALL = {
    "CheckActions": wrappers.CheckActions,
    "LogWrapper": wrappers.LogWrapper,
    "FlattenObservation": wrappers.FlattenObservation,
    "StickyAction": wrappers.StickyAction,
    "ClipAction": wrappers.ClipAction,
    "RescaleAction": wrappers.RescaleAction,
    "FrameStack": wrappers.FrameStack,
    "NormalizeObservation": wrappers.NormalizeObservation,
    "NormalizeReward": wrappers.NormalizeReward,
    "PixelObservation": lambda env: wrappers.PixelObservation(env, (6, 9)),
    "RandomizeParams": lambda env: wrappers.RandomizeParams(env, {"max_steps_in_episode": (2, 9)}),
    "Batched": lambda env: wrappers.Batched(env, 3),
}


def rollout(env: Any, key: jax.Array) -> Any:
    return run_rollout(env, random_policy(env), start_rollout(env, key), 12)[1]


@pytest.mark.parametrize("name", ALL)
def test_whether_steps_may_be_truncated(name: str) -> None:
    """As inside, but where params are drawn."""

    class Cut(wrappers.Wrapper):
        def may_truncate(self, params: Any) -> bool:
            return True

    inside = Spring().default_params
    env, without = ALL[name](Spring()), inside.replace(max_steps_in_episode=NO_TIME_LIMIT)
    assert env.may_truncate(env.default_params)
    default = env.default_params
    params = default.replace(env_params=without) if hasattr(default, "env_params") else without
    assert env.may_truncate(params) == (name == "RandomizeParams")
    assert ALL[name](Cut(Spring())).may_truncate(params)


class MustCount(Counter):
    """Waiting is legal at the start only."""

    def action_mask(self, state: Any, params: Any) -> jax.Array:
        return jnp.stack([state.count == 0, True])


@pytest.mark.slow
@pytest.mark.parametrize(
    "env",
    [
        wrappers.ActionMaskObservation(MustCount()),
        wrappers.LogWrapper(wrappers.CheckActions(wrappers.Batched(Counter(), 3))),
        wrappers.NormalizeReward(wrappers.NormalizeObservation(wrappers.Batched(Spring(), 3)), frozen=True),
        wrappers.Batched(wrappers.NormalizeReward(wrappers.NormalizeObservation(Spring(), frozen=True)), 3),
        wrappers.RandomizeParams(wrappers.StickyAction(Spring()), {"stiffness": (1, 2.0)}),
        wrappers.LogWrapper(wrappers.RandomizeParams(Counter(), {"bonus": (0.5, 2.0)}, each_episode=False)),
        Gain(Spring()),
    ],
    ids=repr,
)
def test_wrapped_environments_conform(env: Any) -> None:
    check_env(env, env.default_params, num_steps=64)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_any_order(seed: int) -> None:
    names = python_random.Random(seed).sample(list(ALL), len(ALL))
    if names.index("ClipAction") < names.index("RescaleAction"):  # rescaling needs the bounds that clipping hides
        names.remove("ClipAction")
    if names.index("Batched") < names.index("RandomizeParams"):  # a batch has one set of params
        names.remove("RandomizeParams")
    env: Any = Spring()
    for name in names:
        env = ALL[name](env)
    steps = jax.jit(lambda: rollout(env, KEY))()
    assert env.batch_shape == (3,)
    assert steps.obs.shape[1:] == env.observation_space(env.default_params).shape
    assert steps.reward.shape == steps.done.shape == (12, 3)
    assert bool(jax.vmap(env.observation_space(env.default_params).contains)(steps.obs).all())
    assert steps.info["returned_episode_returns"].shape == (12, 3)
    assert np.isfinite(np.asarray(steps.obs)).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_vmap_equals_a_loop(name: str) -> None:
    env = ALL[name](Spring())
    keys = jax.random.split(KEY, 3)
    single = jax.jit(lambda key: rollout(env, key))
    batched = jax.jit(jax.vmap(single))(keys)
    for i in range(3):
        chex.assert_trees_all_close(take(batched, i), single(keys[i]), rtol=1e-5, atol=1e-5)


def test_chance_is_chosen_through_wrappers() -> None:
    env = wrappers.LogWrapper(wrappers.StickyAction(Spring(), 0.25))
    _, state = env.reset(KEY)
    for push, sticks, executed in ((0.1, True, 0.5), (-0.2, False, -0.5), (0.3, True, -0.5)):
        draws = StickyDraws(SpringDraws(jnp.float32(push)), jnp.bool_(sticks))
        action = jnp.array([-executed if state.has_last_action & sticks else executed], jnp.float32)
        before, outcome = state, env.advance(state, action, draws, env.default_params)
        state = outcome.state
        assert state.last_action == executed
        pull = executed + push - before.position - 0.1 * before.velocity
        np.testing.assert_allclose(state.velocity, before.velocity + 0.1 * pull, rtol=1e-5)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ((Spring(), Spring().default_params), r": make returns a pair, env, params = envcore.make\(...\)$"),
        ("CartPole-v1", "'CartPole-v1'$"),
        (None, "None$"),
    ],
)
def test_only_environments_are_wrapped(name: str, given: Any, advice: str) -> None:
    with pytest.raises(TypeError, match=rf"{name} wraps an Environment, got .*{advice}"):
        ALL[name](given)


def test_the_state_inside_is_read_through_every_wrapper() -> None:
    env = wrappers.LogWrapper(wrappers.FrameStack(wrappers.Batched(wrappers.StickyAction(Spring()), 3), 2))
    state = env.reset(KEY)[1]
    np.testing.assert_array_equal(state.position, state.env_state.env_state.env_state.position)
    np.testing.assert_array_equal(state.has_last_action, [False] * 3)
    assert not hasattr(state, "absent")
    assert copy.deepcopy(state).time.shape == pickle.loads(pickle.dumps(state)).time.shape == (3,)


def test_the_state_space_inside_keeps_its_bounds() -> None:
    params = Counter().default_params
    for wrap in (wrappers.FlattenObservation, wrappers.CheckActions):
        assert wrap(Counter()).state_space(params) == Counter().state_space(params)
    of_batch = wrappers.Batched(Counter(), 3).state_space(params)
    assert of_batch == spaces.Dict({"count": spaces.MultiDiscrete([4] * 3), "time": spaces.NATURAL_NUMBERS.batch(3)})
    env = wrappers.LogWrapper(wrappers.NormalizeReward(wrappers.Batched(Counter(), 3)))
    space: Any = env.state_space(env.default_params)
    assert space.spaces["env_state"].spaces["env_state"] == of_batch
    _, state = env.reset(KEY)
    assert space.contains(state)
    beyond = state.env_state.env_state.replace(count=jnp.full(3, 4))
    assert not space.contains(state.replace(env_state=state.env_state.replace(env_state=beyond)))
