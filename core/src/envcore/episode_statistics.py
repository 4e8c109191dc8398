"""Mean and spread of episodes' returns and lengths, over more steps than fit into memory.

`summarize` reduces the episodes of one part of a rollout on the device; `EpisodeStatistics` joins the summaries on the
host, in float64. Both use the parallel algorithm of Chan et al. (1979), so that equal returns have a spread of
exactly zero.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

LOGGED = ("returned_episode", "returned_episode_returns", "returned_episode_lengths")
"""The entries of `LogWrapper`'s info that `summarize` needs."""


def summarize(info: dict[str, Any]) -> dict[str, jax.Array]:
    """Reduces the `LOGGED` entries of any number of steps and environments to a few scalars.

    Returns:
      `count`, int32: episodes that ended; and of their returns and lengths, float32: `mean_*`, `squares_*` (sum of
      squared deviations), `low_*`, `high_*`.
    """
    ended = info["returned_episode"]
    count = ended.sum(dtype=jnp.int32)
    summary: dict[str, jax.Array] = {"count": count}
    for name in ("returns", "lengths"):
        values = info[f"returned_episode_{name}"].astype(jnp.float32)
        mean = jnp.where(ended, values, 0).sum() / jnp.maximum(count, 1).astype(jnp.float32)
        summary[f"mean_{name}"] = mean
        summary[f"squares_{name}"] = jnp.where(ended, (values - mean) ** 2, 0).sum()
        summary[f"low_{name}"] = jnp.where(ended, values, jnp.inf).min()
        summary[f"high_{name}"] = jnp.where(ended, values, -jnp.inf).max()
    return summary


@dataclasses.dataclass(frozen=True)
class EpisodeStatistics:
    """What is known of the finished episodes; means and spreads are nan before the first.

    Attributes:
      episodes: how many ended.
      mean_return, std_return, lowest_return, highest_return: of their returns.
      mean_length, std_length: of their lengths, in steps.
    """

    episodes: int = 0
    mean_return: float = math.nan
    std_return: float = math.nan
    lowest_return: float = math.inf
    highest_return: float = -math.inf
    mean_length: float = math.nan
    std_length: float = math.nan

    def merge(self, summary: dict[str, Any]) -> EpisodeStatistics:
        """Takes in what `summarize` returned, or several of them stacked."""
        parts = {name: np.asarray(value, np.float64).reshape(-1) for name, value in summary.items()}
        mean_return, std_return = self._joined(self.mean_return, self.std_return, parts, "returns")
        mean_length, std_length = self._joined(self.mean_length, self.std_length, parts, "lengths")
        return EpisodeStatistics(
            episodes=self.episodes + int(parts["count"].sum()),
            mean_return=mean_return,
            std_return=std_return,
            lowest_return=min(self.lowest_return, float(parts["low_returns"].min())),
            highest_return=max(self.highest_return, float(parts["high_returns"].max())),
            mean_length=mean_length,
            std_length=std_length,
        )

    def _joined(self, mean: float, std: float, parts: dict[str, np.ndarray], name: str) -> tuple[float, float]:
        counts = np.append(parts["count"], self.episodes)
        total = counts.sum()
        if total == 0:
            return math.nan, math.nan
        known = self.episodes > 0
        means = np.append(parts[f"mean_{name}"], mean if known else 0)
        squares = np.append(parts[f"squares_{name}"], std**2 * self.episodes if known else 0)
        joined = (counts * means).sum() / total
        return float(joined), math.sqrt((squares + counts * (means - joined) ** 2).sum() / total)
