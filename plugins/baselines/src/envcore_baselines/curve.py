"""Learning curves: returns and metrics of each agent over its training, as numbers, CSV and a picture."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from envcore_runs.records import Positive

_Rows = list[list[float]]


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """A point of a curve.

    Attributes:
      steps: environment steps that each agent has taken.
      names: of the agents, such as "seed_0".
      returns: mean return of the episodes that ended since the point before, float64 (agents,); NaN where none did.
        The first points favor short episodes: an environment that plays a long one has not ended any yet. For an
        unbiased return, evaluate the agent.
      metrics: what the algorithm measures of its updates, their means since the point before, by name, float64
        (agents,). With evaluation also `greedy_return`, the mean return of greedy episodes.
      steps_per_second: of all agents together, since the point before; NaN for the first one, which is compiled.
      share: of the training that is done, from 0 to 1.
    """

    steps: int
    names: Sequence[str]
    returns: np.ndarray
    metrics: Mapping[str, np.ndarray]
    steps_per_second: float
    share: float


@dataclasses.dataclass(frozen=True)
class Curve:
    """A learning curve of several agents, as a file holds it.

    Attributes:
      num_agents: their number.
      steps: environment steps that each agent has taken, of every point.
      columns: by name, a number of every point and agent. "return" is the mean return of the episodes that ended since
        the point before, NaN if none did. The others are what the algorithm measures of its updates: means since the
        point before, NaN where there was nothing to measure.
    """

    num_agents: Positive
    steps: list[Positive] = dataclasses.field(default_factory=list[int])
    columns: dict[str, _Rows] = dataclasses.field(default_factory=dict[str, _Rows])

    def __len__(self) -> int:
        return len(self.steps)

    def with_point(self, steps: int, metrics: Mapping[str, Any]) -> Curve:
        """The curve with one more point; see `envcore_baselines.learner.Metrics`, here of shape (num_agents,)."""
        found = {name: np.asarray(values, np.float64) for name, values in metrics.items()}
        returns, episodes = found.pop("returns"), found.pop("episodes")
        row = {"return": returns / np.where(episodes > 0, episodes, np.nan), **found}
        longer = {name: [*self.columns.get(name, []), values.tolist()] for name, values in row.items()}
        return Curve(self.num_agents, [*self.steps, steps], longer)

    def array(self, name: str = "return") -> np.ndarray:
        """A column, by default the returns: float64 (points, agents)."""
        return np.array(self.columns.get(name, []), np.float64).reshape(-1, self.num_agents)

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """All columns but the returns, float64 (points, agents) each."""
        return {name: self.array(name) for name in self.columns if name != "return"}

    @property
    def last_returns(self) -> np.ndarray:
        """The return of each agent at the last point at which an episode of it had ended, float64 (agents,); or NaN."""
        last = [column[~np.isnan(column)][-1:] for column in self.array().T]
        return np.array([each[0] if each.size else np.nan for each in last])

    def to_csv(self, names: Sequence[str]) -> str:
        """A line per point and agent: steps, the agent's name, its mean return and its metrics."""
        lines = [",".join(["steps", "agent", *self.columns])]
        for steps, *rows in zip(self.steps, *self.columns.values(), strict=True):
            for name, *row in zip(names, *rows, strict=True):
                lines.append(",".join([str(steps), name, *("" if np.isnan(x) else repr(x) for x in row)]))
        return "\n".join(lines) + "\n"

    def to_png(self, title: str, groups: Sequence[str] = ("",)) -> bytes:
        """The mean over the agents whose episodes ended, and a band from the lowest to the highest of them.

        Args:
          title: of the picture.
          groups: names of groups of agents that follow each other, equally many in each, which get a line each.
        """
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        for group, returns in zip(groups, np.split(self.array(), len(groups), axis=1), strict=True):
            is_known = ~np.isnan(returns).all(axis=1)
            steps, known = np.array(self.steps, np.int64)[is_known], returns[is_known]
            if len(steps):
                with np.errstate(invalid="ignore"):  # returns may be infinite
                    low, mean, high = (reduce(known, axis=1) for reduce in (np.nanmin, np.nanmean, np.nanmax))
                axes.fill_between(steps, low, high, alpha=0.25, linewidth=0)
                band = f"mean of {returns.shape[1]} agents, and their range" if returns.shape[1] > 1 else ""
                label = ": ".join(filter(None, (group, band)))
                axes.plot(steps, mean, marker="o" if len(steps) == 1 else "", label=label)
        if self.num_agents > 1 and axes.lines:
            axes.legend()
        axes.set(title=title, xlabel="environment steps", ylabel="return of episodes ended since the last point")
        axes.grid(alpha=0.3)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=150)
        return file.getvalue()
