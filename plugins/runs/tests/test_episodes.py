from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_runs.episodes import Episodes, EpisodeStatistics, joined


@jax.jit
def run(episodes: Episodes, rewards: jax.Array, done: jax.Array) -> Episodes:
    return jax.lax.scan(lambda found, each: (found.after(*each), None), episodes, (rewards, done))[0]


def played(rewards: Any, done: Any, most: int = 10**9, cut: int = 0) -> EpisodeStatistics:
    """The statistics of rewards and dones (time, num_envs), in two chunks, of `most` episodes of each."""
    rewards, episodes = np.asarray(rewards, np.float32), Episodes.of_none(done.shape[1:], most)
    for part in (slice(cut), slice(cut, None)):
        episodes = run(episodes, rewards[part], done[part])
    return EpisodeStatistics.of(episodes.row())


def check(statistics: EpisodeStatistics, returns: Any, lengths: Any) -> None:
    returns, lengths = np.asarray(returns, np.float64), np.asarray(lengths, np.float64)
    assert statistics.episodes == returns.size
    assert (statistics.lowest_return, statistics.highest_return) == (returns.min(), returns.max())
    assert statistics.mean_return == pytest.approx(returns.mean(), rel=1e-6, abs=1e-4 * returns.std())
    assert statistics.std_return == pytest.approx(returns.std(), rel=1e-4)
    assert statistics.mean_length == pytest.approx(lengths.mean(), rel=1e-6)
    assert statistics.std_length == pytest.approx(lengths.std(), rel=1e-5)


@pytest.mark.parametrize("cut", [0, 1, 350])
def test_equals_a_loop_on_the_host(cut: int) -> None:
    rng = np.random.default_rng(0)
    rewards = rng.integers(-8, 9, (700, 8)) / 4  # whose sums are exact
    done = rng.random((700, 8)) < 0.1
    done[:, 1] = False
    returns, lengths = [], []
    for i in range(8):
        start = 0
        for end in np.flatnonzero(done[:, i]):
            returns.append(rewards[start : end + 1, i].sum())
            lengths.append(end + 1 - start)
            start = end + 1
    check(played(rewards, done, cut=cut), returns, lengths)
    assert played(rewards, done, cut=cut) == played(rewards, done)


@pytest.mark.parametrize("value", [0.1, -1e30, 500.0, 2**24 + 2.0, 1e-30])
def test_equal_returns_have_a_spread_of_exactly_zero(value: float) -> None:
    statistics = played(np.full((1000, 3), value), np.ones((1000, 3), bool))
    assert (statistics.episodes, statistics.std_return, statistics.std_length) == (3000, 0.0, 0.0)
    assert (statistics.mean_return, statistics.mean_length) == (np.float32(value), 1.0)


def test_only_the_first_episodes_of_each_environment_count() -> None:
    """Of environments that end every second or every twentieth step, one would have ten times as many episodes."""
    done = np.arange(1, 61)[:, None] % np.array([[2, 20]]) == 0
    rewards = np.ones((60, 2)) * np.array([[1, 10]])
    check(played(rewards, done, most=3), [2, 2, 2, 200, 200, 200], [2, 2, 2, 20, 20, 20])
    assert played(rewards, done).episodes == 33


def test_no_finished_episode() -> None:
    statistics = played(np.ones((70, 3)), np.zeros((70, 3), bool))
    assert statistics.episodes == 0
    assert np.isnan([statistics.mean_return, statistics.std_return, statistics.mean_length]).all()


def test_lengths_are_exact_beyond_the_integers_of_float32() -> None:
    episodes = Episodes.of_none((1,), 1).replace(steps=jnp.full(1, 2**24, jnp.int32))  # pyright: ignore
    assert episodes.after(jnp.zeros(1), jnp.ones(1, bool)).row()[3] == 2**24 + 1


def test_parts_of_devices_are_joined() -> None:
    returns = np.random.default_rng(3).normal(100, 0.01, (50, 6)).astype(np.float32)
    episodes = run(Episodes.of_none((6,), 50), returns, np.ones((50, 6), bool))
    halves = [jax.tree.map(lambda x, at=at: x[at], episodes).row() for at in (slice(2), slice(2, None))]
    np.testing.assert_allclose(joined(np.stack(halves)), episodes.row(), rtol=1e-12)
