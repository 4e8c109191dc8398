"""Learning curves: the return and metrics of each agent during training, as arrays, CSV and a plot."""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_Rows = list[list[float]]


@dataclasses.dataclass(frozen=True, eq=False)
class Point:
    """A point of a learning curve.

    Attributes:
      steps: environment steps that each agent has taken.
      names: names of the agents, such as "seed_0".
      returns: mean return of the episodes that ended since the previous point, float64 (agents,). NaN where no episode
        ended. The first points favor short episodes, because long ones have not ended yet. For an unbiased return,
        evaluate the agent.
      metrics: metrics of the algorithm's updates by name, averaged since the previous point, float64 (agents,). With
        evaluation also `greedy_return`, the mean return of greedy episodes.
      steps_per_second: speed of all agents together since the previous point. NaN for the first point, which includes
        compile time.
      share: fraction of the training that is done, from 0 to 1.
    """

    steps: int
    names: Sequence[str]
    returns: np.ndarray
    metrics: Mapping[str, np.ndarray]
    steps_per_second: float
    share: float


@dataclasses.dataclass(frozen=True)
class Curve:
    """The learning curve of several agents.

    Attributes:
      num_agents: number of agents.
      steps: environment steps that each agent has taken, for every point.
      columns: values for every point and agent, by name. "return" is the mean return of the episodes that ended since
        the previous point, NaN if no episode ended. The others are the metrics of the algorithm's updates, averaged
        since the previous point, NaN where there was nothing to measure.
    """

    num_agents: int
    steps: list[int] = dataclasses.field(default_factory=list[int])
    columns: dict[str, _Rows] = dataclasses.field(default_factory=dict[str, _Rows])

    def __len__(self) -> int:
        return len(self.steps)

    def with_point(self, steps: int, metrics: Mapping[str, Any]) -> Curve:
        """Adds a point. `metrics` are `envcore_baselines.learner.Metrics` of shape (num_agents,)."""
        found = {name: np.asarray(values, np.float64) for name, values in metrics.items()}
        returns, episodes = found.pop("returns"), found.pop("episodes")
        row = {"return": returns / np.where(episodes > 0, episodes, np.nan), **found}
        longer = {name: [*self.columns.get(name, []), values.tolist()] for name, values in row.items()}
        return Curve(self.num_agents, [*self.steps, steps], longer)

    def array(self, name: str = "return") -> np.ndarray:
        """A column, by default the returns, float64 (points, agents)."""
        return np.array(self.columns.get(name, []), np.float64).reshape(-1, self.num_agents)

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        """All columns except the returns, each float64 (points, agents)."""
        return {name: self.array(name) for name in self.columns if name != "return"}

    @property
    def last_returns(self) -> np.ndarray:
        """Each agent's return at the last point where one of its episodes had ended, float64 (agents,). NaN if none."""
        last = [column[~np.isnan(column)][-1:] for column in self.array().T]
        return np.array([each[0] if each.size else np.nan for each in last])

    def to_csv(self, names: Sequence[str]) -> str:
        """Formats the curve as CSV, with a row per point and agent: steps, agent, mean return and metrics."""
        lines = [",".join(["steps", "agent", *self.columns])]
        for steps, *rows in zip(self.steps, *self.columns.values(), strict=True):
            for name, *row in zip(names, *rows, strict=True):
                lines.append(",".join([str(steps), name, *("" if np.isnan(x) else repr(x) for x in row)]))
        return "\n".join(lines) + "\n"

    def to_png(self, title: str, groups: Sequence[str] = ("",)) -> bytes:
        """Plots the mean return over agents, with a band from the lowest to the highest agent.

        Agents without an ended episode are left out of a point.

        Args:
          title: title of the plot.
          groups: names of consecutive groups of agents, all of the same size. Each group gets a line.
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
