"""Mean and spread of episodes' returns and lengths, over more steps than fit into memory.

Every environment contributes the same number of whole episodes, its first ones. Whichever episodes end inside a window
would favor short ones: an environment ends two of them while another one plays a long one.

`summarize_episodes` runs a loop of steps on the device and keeps a few numbers per environment, however long it runs;
`EpisodeStatistics` combines its results on the host, in float64.

Sums of squares lose all precision if the mean is large and the spread is small. So values are summed as deviations from
a pivot, the first episode that an environment finishes in a block of steps, and blocks are combined by the parallel
algorithm of Chan et al. (1979). Equal returns have a spread of exactly zero.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax import lax

from envcore_runs.records import Natural

T = TypeVar("T")

_BLOCK = 64
"""Steps in a block: its float32 sums accumulate at most this many rounding errors."""
_UP, _SQUARED = 1.01, 1e13
"""Far more than rounding; and returns whose squares float32 holds, also summed up over a chunk."""


@struct.dataclass
class Running:
    """The unfinished episode of each environment.

    Attributes:
      returns: the sum of its rewards so far, float32.
      lost: what rounding has left out of that sum, float32: without it, a sum of ones would stop at 2**24.
      lengths: its steps so far, int32.
      left: how many episodes of the environment are still to be counted, this one included, int32.
    """

    returns: jax.Array
    lost: jax.Array
    lengths: jax.Array
    left: jax.Array


@struct.dataclass
class Moments:
    """Mean and squared deviations of some numbers, for each environment.

    Attributes:
      pivot: one of the numbers, in their dtype.
      mean: their mean minus the pivot, float32.
      squares: sum of squared deviations from the mean, float32.
    """

    pivot: jax.Array
    mean: jax.Array
    squares: jax.Array


@struct.dataclass
class Summary:
    """A summary of the counted episodes of each environment; where there are none, only `count` is meaningful.

    Attributes:
      count: number of episodes, int32.
      returns, lengths: moments of their returns and lengths.
      lowest, highest: their lowest and highest return, float32.
    """

    count: jax.Array
    returns: Moments
    lengths: Moments
    lowest: jax.Array
    highest: jax.Array


def nothing_running(shape: tuple[int, ...], episodes: jax.Array | int) -> Running:
    """No steps yet, for a batch of environments of which `episodes` each are to be counted, int32 ()."""
    zero, none = jnp.zeros(shape, jnp.float32), jnp.zeros(shape, jnp.int32)
    return Running(zero, zero, none, none + jnp.int32(episodes))


def summarize_episodes(
    step: Callable[[T], tuple[T, jax.Array, jax.Array]], carry: T, running: Running, num_steps: jax.Array | int
) -> tuple[T, Running, Summary]:
    """Takes `num_steps` steps and summarizes the episodes that end in them and count. Call it inside `jit`.

    Args:
      step: takes the carry and returns the next one, with rewards (float32) and dones (bool) of the batch's shape.
      carry: the carry before the first step.
      running: the episodes that are already under way.
      num_steps: int32 (); it may be traced, so that one program serves all numbers of steps.

    Returns:
      The carry after the last step, the episodes then under way, and the summary.
    """

    def block(number: jax.Array, block_carry: tuple[T, Running, Summary]) -> tuple[T, Running, Summary]:
        carry, running, summary = block_carry
        steps = jnp.minimum(_BLOCK, jnp.asarray(num_steps, jnp.int32) - number * _BLOCK)
        # The sums are stored in a summary: `mean` is a sum until `_means`.
        sums = empty_summary(running)
        carry, running, sums = lax.fori_loop(0, steps, lambda _, each: _after(step, *each), (carry, running, sums))
        return carry, running, _joined(summary, _means(sums))

    blocks = (jnp.asarray(num_steps, jnp.int32) + (_BLOCK - 1)) // _BLOCK
    return lax.fori_loop(0, blocks, block, (carry, running, empty_summary(running)))


def empty_summary(running: Running) -> Summary:
    """The summary of no episodes."""
    zero = jnp.zeros_like(running.returns)
    returns = Moments(zero, zero, zero)
    lengths = Moments(jnp.zeros_like(running.lengths), zero, zero)
    infinity = jnp.full_like(zero, np.inf)
    return Summary(jnp.zeros_like(running.lengths), returns, lengths, infinity, -infinity)


def _after(step: Callable[..., Any], carry: Any, running: Running, sums: Summary) -> tuple[Any, Running, Summary]:
    carry, reward, done = step(carry)
    returns, lost = _added(running.returns, running.lost, reward)
    lengths = running.lengths + np.int32(1)
    counts = done & (running.left > 0)
    is_first = counts & (sums.count == 0)

    def add(sums: Moments, value: jax.Array) -> Moments:
        pivot = jnp.where(is_first, value, sums.pivot)
        deviation = jnp.where(counts, value - pivot, np.zeros((), value.dtype)).astype(jnp.float32)
        return Moments(pivot, sums.mean + deviation, sums.squares + deviation * deviation)

    sums = Summary(
        sums.count + counts.astype(jnp.int32),
        add(sums.returns, returns),
        add(sums.lengths, lengths),
        jnp.where(counts, jnp.minimum(sums.lowest, returns), sums.lowest),
        jnp.where(counts, jnp.maximum(sums.highest, returns), sums.highest),
    )
    returns, lost, lengths = (jnp.where(done, jnp.zeros_like(x), x) for x in (returns, lost, lengths))
    return carry, Running(returns, lost, lengths, running.left - counts.astype(jnp.int32)), sums


def _added(total: jax.Array, lost: jax.Array, value: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Adds a value to a sum, and to what rounding has left out of it (Dekker 1971)."""
    rounded = total + value
    of_value = rounded - total
    lost = lost + ((total - (rounded - of_value)) + (value - of_value))
    total = rounded + lost
    return total, lost - (total - rounded)


def _means(sums: Summary) -> Summary:
    """Turns sums of deviations from the pivot and of their squares into moments."""
    count = jnp.maximum(sums.count, 1).astype(jnp.float32)

    def moments(sums: Moments) -> Moments:
        mean = sums.mean / count
        return sums.replace(mean=mean, squares=jnp.maximum(sums.squares - sums.mean * mean, 0))  # pyright: ignore

    return sums.replace(returns=moments(sums.returns), lengths=moments(sums.lengths))  # pyright: ignore


def _joined(first: Summary, second: Summary) -> Summary:
    count = first.count + second.count
    part = second.count.astype(jnp.float32) / jnp.maximum(count, 1).astype(jnp.float32)
    weight = part * first.count.astype(jnp.float32)

    def moments(first_moments: Moments, second_moments: Moments) -> Moments:
        pivot = jnp.where(first.count > 0, first_moments.pivot, second_moments.pivot)
        apart = (second_moments.pivot - pivot).astype(jnp.float32) + (second_moments.mean - first_moments.mean)
        apart = jnp.where(second.count > 0, apart, np.float32(0))
        squares = first_moments.squares + second_moments.squares + weight * apart * apart
        return Moments(pivot, first_moments.mean + apart * part, squares)

    return Summary(
        count,
        moments(first.returns, second.returns),
        moments(first.lengths, second.lengths),
        jnp.minimum(first.lowest, second.lowest),
        jnp.maximum(first.highest, second.highest),
    )


@dataclasses.dataclass(frozen=True)
class EpisodeStatistics:
    """Statistics of the counted episodes; means and standard deviations are NaN where they are not known.

    Attributes:
      episodes: number of episodes.
      mean_return, std_return, lowest_return, highest_return: of their returns.
      mean_length, std_length: of their lengths, in steps.
    """

    episodes: Natural = 0
    mean_return: float = math.nan
    std_return: float = math.nan
    lowest_return: float = math.inf
    highest_return: float = -math.inf
    mean_length: float = math.nan
    std_length: float = math.nan

    @classmethod
    def of(cls, summary: Summary) -> EpisodeStatistics:
        """Those of a summary's episodes."""
        summary = jax.tree.map(lambda x: np.asarray(x).reshape(-1), summary)
        some = summary.count > 0
        if not some.any():
            return cls()
        summary = jax.tree.map(lambda x: x[some].astype(np.float64), summary)

        def joined(moments: Any) -> tuple[float, float]:
            origin = moments.pivot[0]
            return _joined_moments(origin, summary.count, moments.pivot - origin + moments.mean, moments.squares)

        returns, lengths = joined(summary.returns), joined(summary.lengths)
        lowest, highest = float(summary.lowest.min()), float(summary.highest.max())
        return cls(int(summary.count.sum()), *returns, lowest, highest, *lengths)

    def is_possible(self, most_steps: float = math.inf) -> bool:
        """Whether episodes can have these statistics; means are rounded.

        Args:
          most_steps: of all episodes together.
        """
        if not self.episodes:
            return repr(self) == repr(EpisodeStatistics())  # NaN is not equal to itself
        if not (self.mean_length * _UP >= 1 and self.episodes * self.mean_length <= most_steps * _UP):
            return False
        if not 0 <= self.std_length < math.inf:
            return False
        low, high = self.lowest_return, self.highest_return
        if not (abs(low) < _SQUARED and abs(high) < _SQUARED):  # or NaN: float32 may not hold the sums
            return not (low > high or self.std_return < 0)
        rounding = (_UP - 1) * (high - low)
        return low - rounding <= self.mean_return <= high + rounding and 0 <= self.std_return <= high - low + rounding

    @classmethod
    def joined(cls, parts: Iterable[EpisodeStatistics]) -> EpisodeStatistics:
        """Those of all episodes of the parts."""
        known = [part for part in parts if part.episodes]
        if len(known) < 2:
            return known[0] if known else cls()
        counts = np.array([part.episodes for part in known], np.float64)

        def joined(means: list[float], deviations: list[float]) -> tuple[float, float]:
            origin = means[0]
            return _joined_moments(origin, counts, np.array(means) - origin, np.array(deviations) ** 2 * counts)

        return cls(
            sum(part.episodes for part in known),
            *joined([part.mean_return for part in known], [part.std_return for part in known]),
            min(part.lowest_return for part in known),
            max(part.highest_return for part in known),
            *joined([part.mean_length for part in known], [part.std_length for part in known]),
        )


def _joined_moments(origin: float, counts: Any, means: Any, squares: Any) -> tuple[float, float]:
    """Mean and standard deviation of everything, from means minus `origin` and sums of squared deviations of parts."""
    joined = np.average(means, weights=counts)
    spread = math.sqrt((squares + counts * (means - joined) ** 2).sum() / counts.sum())
    return float(origin + joined), spread
