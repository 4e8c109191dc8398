from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_runs.episode_statistics import EpisodeStatistics, nothing_running, summarize_episodes

TIME = np.arange(5000)[:, None]


def step(at: Any) -> Any:
    time, rewards, done = at
    return (time + np.int32(1), rewards, done), rewards[time], done[time]


@jax.jit
def run(at: Any, running: Any, num_steps: jax.Array) -> Any:
    return summarize_episodes(step, at, running, num_steps)


def played(
    rewards: np.ndarray, done: np.ndarray, chunks: list[int] | None = None, most: int = 10**9
) -> EpisodeStatistics:
    """The statistics of rewards and dones (time, num_envs), computed in chunks; `most` episodes of each count."""
    at = jnp.int32(0), jnp.asarray(rewards, jnp.float32), jnp.asarray(done)
    running, statistics = nothing_running(rewards.shape[1:], most), EpisodeStatistics()
    for chunk in chunks or [len(rewards)]:
        at, running, summary = run(at, running, jnp.int32(chunk))
        statistics = EpisodeStatistics.joined([statistics, EpisodeStatistics.of(summary)])
    assert int(at[0]) == len(rewards)
    return statistics


def one_step_episodes(returns: np.ndarray, chunks: list[int] | None = None) -> EpisodeStatistics:
    return played(returns, np.ones(returns.shape, bool), chunks)


def check(statistics: EpisodeStatistics, returns: Any, lengths: Any, rel: float = 1e-5) -> None:
    returns, lengths = np.asarray(returns, np.float64), np.asarray(lengths, np.float64)
    assert statistics.episodes == returns.size
    assert statistics.lowest_return == returns.min()
    assert statistics.highest_return == returns.max()
    assert statistics.mean_return == pytest.approx(returns.mean(), rel=1e-6, abs=rel * returns.std())
    assert statistics.std_return == pytest.approx(returns.std(), rel=rel)
    assert statistics.mean_length == pytest.approx(lengths.mean(), rel=1e-6)
    assert statistics.std_length == pytest.approx(lengths.std(), rel=rel)


@pytest.mark.parametrize("chunks", [[700], [1, 63, 64, 65, 200, 307], [0, 699, 0, 1]])
def test_equals_a_loop_on_the_host(chunks: list[int]) -> None:
    rng = np.random.default_rng(0)
    rewards = rng.integers(-8, 9, (700, 8)) / 4  # whose sums are exact
    done = rng.random((700, 8)) < 0.1
    done[300:500, 0] = False  # nothing ends in whole blocks
    done[:, 1] = False  # or at all
    returns, lengths = [], []
    for i in range(8):
        start = 0
        for end in np.flatnonzero(done[:, i]):
            returns.append(rewards[start : end + 1, i].sum())
            lengths.append(end + 1 - start)
            start = end + 1
    check(played(rewards, done, chunks), returns, lengths)


@pytest.mark.parametrize("value", [0.1, -1e30, 500.0, 2**24 + 2.0, 1e-30])
def test_equal_returns_have_a_spread_of_exactly_zero(value: float) -> None:
    statistics = one_step_episodes(np.full((1000, 3), value, np.float32), [100, 333, 567])
    assert (statistics.episodes, statistics.std_return, statistics.std_length) == (3000, 0.0, 0.0)
    assert statistics.mean_return == np.float32(value)
    assert statistics.mean_length == 1.0


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("large mean, tiny spread", lambda rng: 1e6 + rng.integers(0, 3, (5000, 4)) / 16),
        ("large mean, one in thousands differs", lambda rng: 1e6 + (rng.random((5000, 4)) < 1e-3) / 16),
        ("the first is an outlier", lambda rng: np.where(TIME == 0, 1e4, rng.normal(0, 1, (5000, 4)))),
        ("the last is an outlier", lambda rng: np.where(TIME < 4999, rng.normal(0, 1, (5000, 4)), -1e4)),
        ("environments far apart", lambda rng: np.array([1e6, -1e6, 0, 3e6]) + rng.integers(0, 9, (5000, 4)) / 4),
        ("a drift", lambda rng: TIME * 1000.0 + rng.integers(0, 2, (5000, 4))),
        ("many orders of magnitude", lambda rng: np.exp(rng.normal(0, 8, (5000, 4)))),
        ("a mean of zero", lambda rng: rng.choice([-1.0, 1.0], (5000, 4)) * 0.1),
    ],
)
def test_adversarial_returns(name: str, draw: Any) -> None:
    returns = draw(np.random.default_rng(1)).astype(np.float32)
    check(one_step_episodes(returns, [5000]), returns, np.ones(returns.shape))
    check(one_step_episodes(returns, [7, 1993, 3000]), returns, np.ones(returns.shape))


def test_long_runs_lose_no_precision() -> None:
    returns = np.random.default_rng(2).normal(100, 0.01, (200_000, 2)).astype(np.float32)
    check(one_step_episodes(returns), returns, np.ones(returns.shape), rel=1e-6)


def test_a_billion_episodes_lose_no_precision() -> None:
    """Joined one chunk after another, as a long rollout does."""
    rng = np.random.default_rng(3)
    means, stds = rng.normal(100, 0.01, 10_000), rng.uniform(0.01, 0.02, 10_000)
    total = EpisodeStatistics()
    for mean, std in zip(means.tolist(), stds.tolist(), strict=True):
        total = EpisodeStatistics.joined([total, EpisodeStatistics(100_000, mean, std, 90.0, 110.0, mean / 2, std)])
    assert total.episodes == 10**9
    mean = math.fsum(means) / len(means)
    assert total.mean_return == pytest.approx(mean, rel=1e-13)
    assert total.mean_length == pytest.approx(mean / 2, rel=1e-13)
    squares = math.fsum(stds**2) + math.fsum((means - mean) ** 2)
    assert total.std_return == pytest.approx(math.sqrt(squares / len(means)), rel=1e-9)


def test_lengths_are_exact_beyond_the_integers_of_float32() -> None:
    done = np.ones((4, 1), bool)
    long = nothing_running((1,), 1).replace(lengths=jnp.full(1, 2**24, jnp.int32))  # pyright: ignore
    _, _, summary = jax.jit(
        lambda running: summarize_episodes(
            lambda at: (at, jnp.zeros(1, jnp.float32), jnp.asarray(done[0])), 0, running, 1
        )
    )(long)
    assert EpisodeStatistics.of(summary).mean_length == 2**24 + 1


@pytest.mark.parametrize(("so_far", "reward"), [(2.0**24, 1.0), (2.0**30, 0.1), (-(2.0**27), -0.3)])
def test_a_long_episode_goes_on_earning(so_far: float, reward: float) -> None:
    """Each reward is less than half of the distance between two floats of this size."""
    num_steps, value = 100_000, np.float32(reward)

    def step(number: Any) -> Any:
        return number + np.int32(1), jnp.full(1, value), jnp.full(1, number == num_steps - 1)

    long = nothing_running((1,), 1).replace(returns=jnp.full(1, so_far, jnp.float32))  # pyright: ignore
    _, _, summary = jax.jit(lambda running: summarize_episodes(step, jnp.int32(0), running, num_steps))(long)
    expected = so_far + num_steps * float(value)
    assert EpisodeStatistics.of(summary).mean_return == pytest.approx(expected, rel=2**-24)


@pytest.mark.parametrize("chunks", [[60], [1, 7, 20, 32]])
def test_only_the_first_episodes_of_each_environment_count(chunks: list[int]) -> None:
    """Of environments that end every second or every twentieth step, one would have ten times as many episodes."""
    time = np.arange(1, 61)[:, None]
    done = (time % np.array([[2, 20]])) == 0
    rewards = np.ones((60, 2)) * np.array([[1, 10]])
    check(played(rewards, done, chunks, most=3), [2, 2, 2, 200, 200, 200], [2, 2, 2, 20, 20, 20])
    assert played(rewards, done, chunks).episodes == 33


def test_no_finished_episode() -> None:
    statistics = played(np.ones((70, 3)), np.zeros((70, 3), bool))
    assert statistics.episodes == 0
    assert np.isnan([statistics.mean_return, statistics.std_return, statistics.mean_length]).all()
    known = EpisodeStatistics.of(summary_of(2.0))
    assert EpisodeStatistics.joined([known, EpisodeStatistics.of(summary_of(None))]) == known


def summary_of(value: float | None) -> Any:
    """The summary of one environment's first step, which may end an episode."""
    done = jnp.array([value is not None])
    reward = jnp.full(1, value or 0, jnp.float32)
    return summarize_episodes(lambda at: (at, reward, done), jnp.int32(0), nothing_running((1,), 1), 1)[2]


def test_memory_does_not_grow_with_the_steps() -> None:
    def program(num_steps: int) -> Any:
        def run(running: Any, num_steps: jax.Array) -> Any:
            step = lambda at: (at, jnp.ones(100, jnp.float32), jnp.ones(100, bool))  # noqa: E731
            return summarize_episodes(step, jnp.int32(0), running, num_steps)

        return jax.jit(run).lower(nothing_running((100,), 1), jnp.int32(num_steps)).compile().memory_analysis()

    analysis = program(10**9)
    assert analysis.temp_size_in_bytes + analysis.output_size_in_bytes < 100 * 4 * 100


POSSIBLE = EpisodeStatistics(4, 1.5, 0.5, 1.0, 2.0, 7.0, 0.0)


@pytest.mark.parametrize(
    ("changes", "is_possible"),
    [
        ({}, True),
        ({"episodes": 0}, False),
        ({"episodes": 5}, False),  # 35 of 28 steps
        ({"mean_return": 0.9}, False),
        ({"mean_return": 2.1}, False),
        ({"mean_return": math.nan}, False),
        ({"mean_return": math.inf}, False),
        ({"std_return": -0.1}, False),
        ({"std_return": 1.1}, False),
        ({"std_return": math.nan}, False),
        ({"lowest_return": 1.6}, False),
        ({"lowest_return": 3.0, "mean_return": 2.5}, False),
        ({"mean_length": 0.5}, False),
        ({"mean_length": 7.5}, False),
        ({"mean_length": math.nan}, False),
        ({"std_length": math.inf}, False),
        ({"highest_return": math.inf, "mean_return": math.nan, "std_return": math.nan}, True),  # of infinite rewards
        ({"highest_return": 3e38, "mean_return": math.inf, "std_return": math.inf}, True),  # float32 overflows
        ({"highest_return": -math.inf}, False),
    ],
)
def test_statistics_that_episodes_can_have(changes: dict[str, Any], is_possible: bool) -> None:
    assert dataclasses.replace(POSSIBLE, **changes).is_possible(28) is is_possible
    assert EpisodeStatistics().is_possible(0)
