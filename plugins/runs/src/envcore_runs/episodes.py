"""Mean and standard deviation of episode returns and lengths, over more steps than fit into memory.

Every environment contributes the same number of whole episodes, the first ones. Counting all episodes that end within a
time window would favor short ones, because an environment finishes several of them while another plays a long one.

On the device, each environment updates its moments with Welford's algorithm (1962), so they don't depend on how steps
are split into chunks. The host combines environments in float64 (Chan et al. 1979). Equal returns have a standard
deviation of exactly zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Self

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct


@struct.dataclass
class Episodes:
    """The episodes of a batch of environments. Every leaf has the batch's shape.

    Attributes:
      total, steps: return and length of the unfinished episode so far, float32 and int32.
      left: number of episodes still to be counted, including the unfinished one, int32.
      count: number of episodes counted so far, int32.
      first_return, first_length: return and length of the first counted episode, float32 and int32.
      mean_return, squares_return: mean of the returns minus the first return, which keeps a small spread around a large
        mean accurate in float32, and the sum of squared deviations from the mean, float32.
      mean_length, squares_length: the same for lengths in steps.
      lowest, highest: lowest and highest return, float32.
    """

    total: jax.Array
    steps: jax.Array
    left: jax.Array
    count: jax.Array
    first_return: jax.Array
    first_length: jax.Array
    mean_return: jax.Array
    squares_return: jax.Array
    mean_length: jax.Array
    squares_length: jax.Array
    lowest: jax.Array
    highest: jax.Array

    @classmethod
    def of_none(cls, shape: tuple[int, ...], episodes: jax.Array | int) -> Self:
        """Returns the statistics before the first step. Each environment will count `episodes` episodes, int32 ()."""
        zero, none = jnp.zeros(shape, jnp.float32), jnp.zeros(shape, jnp.int32)
        infinity, left = jnp.full(shape, np.inf, jnp.float32), none + jnp.int32(episodes)
        return cls(zero, none, left, none, zero, none, zero, zero, zero, zero, infinity, -infinity)

    def after(self, reward: jax.Array, done: jax.Array) -> Self:
        """Returns the statistics after a step, given its rewards (float32) and dones (bool)."""
        total, steps = self.total + reward, self.steps + np.int32(1)
        counts = done & (self.left > 0)
        one = counts.astype(jnp.int32)
        count = self.count + one
        share = counts.astype(jnp.float32) / jnp.maximum(count, 1).astype(jnp.float32)

        is_first = counts & (self.count == 0)
        first_return = jnp.where(is_first, total, self.first_return)
        first_length = jnp.where(is_first, steps, self.first_length)

        def moments(mean: jax.Array, squares: jax.Array, value: jax.Array) -> tuple[jax.Array, jax.Array]:
            apart = jnp.where(counts, value.astype(jnp.float32) - mean, np.float32(0))
            return mean + apart * share, squares + apart * apart * (1 - share)

        return type(self)(
            jnp.where(done, np.float32(0), total),
            jnp.where(done, np.int32(0), steps),
            self.left - one,
            count,
            first_return,
            first_length,
            *moments(self.mean_return, self.squares_return, total - first_return),
            *moments(self.mean_length, self.squares_length, steps - first_length),
            jnp.where(counts, jnp.minimum(self.lowest, total), self.lowest),
            jnp.where(counts, jnp.maximum(self.highest, total), self.highest),
        )

    def row(self) -> np.ndarray:
        """Returns the combined moments of all environments, float64 (7,).

        They are the number of episodes, the mean and squared deviations of returns, the same for lengths, and the
        lowest and highest return.
        """
        exact: Episodes = jax.tree.map(lambda x: np.asarray(x, np.float64), self)
        means = exact.first_return + exact.mean_return, exact.first_length + exact.mean_length
        columns = exact.count, means[0], exact.squares_return, means[1], exact.squares_length
        return joined(np.stack([*columns, exact.lowest, exact.highest], -1))


def joined(rows: np.ndarray) -> np.ndarray:
    """Combines moments of parts, (parts, 7), into moments of all episodes, float64 (7,). See `Episodes.row`."""
    rows = rows[rows[:, 0] > 0]
    if not len(rows):
        return np.array([0, math.nan, math.nan, math.nan, math.nan, math.inf, -math.inf])
    count, mean_return, squares_return, mean_length, squares_length, lowest, highest = rows.T

    def moments(means: np.ndarray, squares: np.ndarray) -> tuple[float, float]:
        mean = means[0] + np.average(means - means[0], weights=count)
        return mean, (squares + count * (means - mean) ** 2).sum()

    with np.errstate(invalid="ignore"):  # returns may be infinite
        returns, lengths = moments(mean_return, squares_return), moments(mean_length, squares_length)
    return np.array([count.sum(), *returns, *lengths, lowest.min(), highest.max()])


@dataclasses.dataclass(frozen=True)
class EpisodeStatistics:
    """Statistics of the counted episodes. Means and standard deviations are NaN if they are unknown.

    Attributes:
      episodes: number of episodes.
      mean_return, std_return, lowest_return, highest_return: statistics of their returns.
      mean_length, std_length: statistics of their lengths, in steps.
    """

    episodes: int = 0
    mean_return: float = math.nan
    std_return: float = math.nan
    lowest_return: float = math.inf
    highest_return: float = -math.inf
    mean_length: float = math.nan
    std_length: float = math.nan

    @classmethod
    def of(cls, row: np.ndarray) -> Self:
        """Returns the statistics for a row of moments."""
        count, mean_return, squares_return, mean_length, squares_length, lowest, highest = map(float, row)
        std_return, std_length = (math.sqrt(x / count) if count else x for x in (squares_return, squares_length))
        return cls(int(count), mean_return, std_return, lowest, highest, mean_length, std_length)
