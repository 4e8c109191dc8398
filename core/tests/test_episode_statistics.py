from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.episode_statistics import EpisodeStatistics, summarize


def info(returns: list[float], lengths: list[int], ended: list[bool]) -> dict[str, jax.Array]:
    return {
        "returned_episode": jnp.array(ended),
        "returned_episode_returns": jnp.array(returns, jnp.float32),
        "returned_episode_lengths": jnp.array(lengths, jnp.int32),
    }


def test_equals_numpy_over_many_steps() -> None:
    rng = np.random.default_rng(0)
    returns, lengths = rng.normal(3, 2, (50, 8)), rng.integers(1, 100, (50, 8))
    ended = rng.random((50, 8)) < 0.2
    ended[10:13] = False  # steps on which nothing ends
    statistics = EpisodeStatistics()
    for start, stop in ((0, 20), (20, 21), (21, 50)):
        rows = [
            summarize(info(returns[t].tolist(), lengths[t].tolist(), ended[t].tolist())) for t in range(start, stop)
        ]
        statistics = statistics.merge(jax.tree.map(lambda *x: jnp.stack(x), *rows))
    assert statistics.episodes == ended.sum()
    assert statistics.mean_return == pytest.approx(returns[ended].mean(), rel=1e-5)
    assert statistics.std_return == pytest.approx(returns[ended].std(), rel=1e-5)
    assert statistics.lowest_return == pytest.approx(returns[ended].min(), rel=1e-5)
    assert statistics.highest_return == pytest.approx(returns[ended].max(), rel=1e-5)
    assert statistics.mean_length == pytest.approx(lengths[ended].mean(), rel=1e-5)
    assert statistics.std_length == pytest.approx(lengths[ended].std(), rel=1e-5)


def test_equal_returns_have_no_spread() -> None:
    rows = summarize(info([500.0] * 7, [500] * 7, [True] * 7))
    statistics = EpisodeStatistics().merge(rows).merge(rows)
    assert (statistics.episodes, statistics.mean_return, statistics.std_return) == (14, 500.0, 0.0)


def test_nothing_finished() -> None:
    statistics = EpisodeStatistics().merge(summarize(info([1.0], [1], [False])))
    assert statistics.episodes == 0
    assert np.isnan([statistics.mean_return, statistics.std_return, statistics.mean_length]).all()
