"""`NormalizeObservation` and `NormalizeReward`: compared with Gymnasium's formulas in float64, continued and frozen."""

from __future__ import annotations

import dataclasses
import functools
import pickle
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.errors import InvalidParamsError
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, LogWrapper, NormalizeObservation, NormalizeReward, RunningStatistics
from toy import Counter, Deck, Spring

KEY = jax.random.key(3)


@dataclasses.dataclass(frozen=True)
class Far(Spring):
    """A spring seen from far away: the mean is a thousand standard deviations."""

    def observe(self, state: Any, params: Any) -> jax.Array:
        return super().observe(state, params) * np.float32(0.1) + np.array([100, -50], np.float32)


def play(env: Any, params: Any = None, num_steps: int = 300) -> tuple[Any, Any]:
    """The state after a random rollout in a compiled program, and its transitions, as numpy arrays."""
    return _program(env, num_steps)(env.default_params if params is None else params)


@functools.cache
def _program(env: Any, num_steps: int) -> Any:
    @jax.jit
    def run(params: Any) -> Any:
        end, steps = run_rollout(env, random_policy(env), start_rollout(env, KEY, params), num_steps, params)
        return end.state, steps

    return lambda params: jax.tree.map(np.asarray, run(params))


def check(ours: RunningStatistics, values: Any) -> tuple[Any, Any]:
    """Compares with the values, (number, *shape), and the prior in float64; returns their mean and deviation."""
    values, prior = np.asarray(values, np.float64), 1e-4
    total = len(values) + prior
    mean = values.sum(0) / total
    var = (((values - mean) ** 2).sum(0) + prior * (1 + mean**2)) / total
    np.testing.assert_allclose(ours.count, total, rtol=1e-6)
    np.testing.assert_allclose(ours.mean, mean, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(ours.var, var, rtol=1e-3, atol=1e-5)
    return mean, var**0.5


@pytest.mark.parametrize("inside", [Spring(), Far()])
def test_statistics_are_those_of_all_observations_in_float64(inside: Any) -> None:
    batch = Batched(inside, 16)
    _, raw = play(batch)
    state, steps = play(NormalizeObservation(batch))
    np.testing.assert_array_equal(steps.done, raw.done)
    resets = np.asarray(raw.obs)[1:][np.asarray(raw.done)[:-1]]  # the first of each episode but the first
    last = np.asarray(batch.observe(state.env_state, batch.default_params))[np.asarray(raw.done)[-1]]
    values = [np.asarray(raw.obs)[0], np.asarray(raw.next_obs).reshape(-1, 2), resets, last]
    assert len(resets) > 100
    mean, deviation = check(state.observation_statistics, np.concatenate(values))
    obs = np.asarray(batch.observe(state.env_state, batch.default_params), np.float64)
    np.testing.assert_allclose(
        NormalizeObservation(batch).observe(state, NormalizeObservation(batch).default_params),
        (obs - mean) / deviation,
        atol=1e-2,
    )


def test_statistics_of_rewards_are_those_of_the_discounted_returns_in_float64() -> None:
    state, steps = play(NormalizeReward(Batched(Spring(), 16), gamma=0.9))
    raw = np.asarray(play(Batched(Spring(), 16))[1].reward, np.float64)
    running, returns = np.zeros(16), []
    for reward, done in zip(raw, np.asarray(steps.done), strict=True):
        running = running * 0.9 + reward
        returns.append(running)
        running = np.where(done, 0, running)
    _, deviation = check(state.reward_statistics, np.concatenate(returns))
    np.testing.assert_allclose(state.discounted_return, running, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(steps.reward[-1], raw[-1] / deviation, rtol=1e-3)


def test_reset_continues_from_given_statistics() -> None:
    env = NormalizeObservation(Batched(Spring(), 16))
    trained = play(env)[0].observation_statistics
    _, state = env.reset(KEY, env.default_params.replace(observation_statistics=trained))
    first = Batched(Spring(), 16).observe(state.env_state, Spring().default_params)
    expected = trained.update(first, jnp.ones(16, bool))
    chex.assert_trees_all_close(state.observation_statistics, expected)
    assert state.observation_statistics.count > trained.count > 16 * 300


@pytest.mark.slow
def test_frozen_observations_are_normalized_by_what_was_given() -> None:
    trained = play(NormalizeObservation(Batched(Far(), 16)))[0].observation_statistics
    trained = pickle.loads(pickle.dumps(jax.tree.map(np.asarray, trained)))
    mean, deviation = np.asarray(trained.mean, np.float64), np.asarray(trained.var, np.float64) ** 0.5
    for env in (
        NormalizeObservation(Far(), frozen=True),
        NormalizeObservation(Batched(Far(), 4), frozen=True),
        Batched(NormalizeObservation(Far(), frozen=True), 4),
        LogWrapper(Batched(NormalizeObservation(Far(), frozen=True), 4)),
    ):
        params = env.default_params.replace(observation_statistics=trained)
        state, steps = play(env, params, 50)
        inner = env.unwrapped if env.batch_shape == () else Batched(env.unwrapped, 4)
        _, raw = play(inner, num_steps=50)
        np.testing.assert_allclose(steps.next_obs, (raw.next_obs - mean) / deviation, rtol=1e-3, atol=2e-3)
        np.testing.assert_array_equal(steps.done, raw.done)
        jax.tree.map(
            lambda x, y: np.testing.assert_array_equal(x, np.broadcast_to(y, np.shape(x))),
            state.observation_statistics,
            trained,
        )


@pytest.mark.parametrize("env", [NormalizeObservation(Spring(), frozen=True), NormalizeReward(Spring(), frozen=True)])
def test_frozen_statistics_must_be_given(env: Any) -> None:
    for wrapped in (env, LogWrapper(Batched(env, 2)), NormalizeReward(env)):
        with pytest.raises(InvalidParamsError, match="a frozen wrapper needs params with"):
            wrapped.reset(jax.random.key(0))


def test_frozen_rewards_are_divided_by_what_was_given() -> None:
    statistics = RunningStatistics(np.float32(3), np.float32(4), np.float32(100))
    env = NormalizeReward(Batched(Spring(), 4), frozen=True)
    state, steps = play(env, env.default_params.replace(reward_statistics=statistics), 50)
    np.testing.assert_allclose(steps.reward, play(Batched(Spring(), 4), num_steps=50)[1].reward / 2, rtol=1e-5)
    chex.assert_trees_all_equal(state.reward_statistics, statistics, strict=True)


def test_statistics_are_carried_by_name_in_any_order() -> None:
    given = RunningStatistics(np.full(2, 5, np.float32), np.full(2, 2, np.float32), np.float32(10**6))
    returns = RunningStatistics(np.float32(1), np.float32(7), np.float32(10**6))
    for env in (
        LogWrapper(NormalizeReward(NormalizeObservation(Batched(Spring(), 3)))),
        NormalizeObservation(LogWrapper(NormalizeReward(Batched(Spring(), 3)))),
        NormalizeReward(Batched(LogWrapper(NormalizeObservation(Spring())), 3)),
    ):
        params = env.default_params.replace(observation_statistics=given, reward_statistics=returns, stiffness=2.0)
        assert (params.stiffness, params.observation_statistics, params.reward_statistics) == (2.0, given, returns)
        state = env.reset(KEY, params)[1]
        mean, var = state.observation_statistics.mean, state.reward_statistics.var
        np.testing.assert_allclose(mean, np.full(mean.shape, 5), rtol=1e-3)
        np.testing.assert_allclose(var, np.full(var.shape, 7), rtol=1e-3)


def test_params_of_the_environment_inside_are_enough() -> None:
    env: Any = LogWrapper(NormalizeReward(NormalizeObservation(Batched(Spring(), 3))))
    inner = Spring().default_params.replace(start=0.0, max_steps_in_episode=2)
    own = env.default_params.replace(start=0.0, max_steps_in_episode=2)
    for given in (inner, env.env.env.default_params.replace(start=0.0, max_steps_in_episode=2)):
        chex.assert_trees_all_equal(env.reset(KEY, given), env.reset(KEY, own), strict=True)
        assert env.observation_space(given) == env.observation_space(own)
        assert env.state_space(given) == env.state_space(own)
    with pytest.raises(InvalidParamsError, match=r"Spring's params must be NormalizeRewardParams.*got CounterParams"):
        env.reset(KEY, Counter().default_params)


def test_frozen_statistics_have_to_be_given() -> None:
    for wrap, name in ((NormalizeObservation, "observation_statistics"), (NormalizeReward, "reward_statistics")):
        env = LogWrapper(wrap(Spring(), frozen=True))
        with pytest.raises(
            InvalidParamsError, match=rf"needs params with {name}, got SpringParams: .*replace\({name}="
        ):
            env.reset(KEY, Spring().default_params)


@pytest.mark.slow
def test_statistics_are_those_of_all_devices() -> None:
    def statistics(env: Any, key: jax.Array) -> Any:
        end, _ = run_rollout(env, random_policy(env), start_rollout(env, key), 25)
        return end.state.observation_statistics, end.state.reward_statistics

    def wrap(batch: Any) -> Any:
        return NormalizeReward(NormalizeObservation(batch))

    key = jax.random.key(0)
    expected = jax.jit(lambda key: statistics(wrap(Batched(Spring(), 6)), key))(key)
    share = wrap(Batched(Spring(), 3, "envs"))
    both = jax.device_get(jax.pmap(lambda key: statistics(share, key), axis_name="envs")(jnp.stack([key, key])))
    for one, two in zip(jax.tree.leaves(expected), jax.tree.leaves(both), strict=True):
        np.testing.assert_array_equal(two[0], two[1])
        np.testing.assert_allclose(two[0], one, rtol=1e-5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: NormalizeObservation(Deck()), "flatten them first"),
        (lambda: NormalizeReward(Counter(), epsilon=0.0), "a positive epsilon, got 0.99 and 0.0"),
        (lambda: NormalizeReward(Counter(), gamma=1.5), r"needs gamma in \[0, 1\] and a positive epsilon, got 1\.5"),
    ],
)
def test_bad_options(build: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build()
