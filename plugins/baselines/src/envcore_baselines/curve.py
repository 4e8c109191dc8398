"""Learning curves: returns and metrics of each agent over its training, as numbers, CSV and a picture."""

from __future__ import annotations

import dataclasses
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from envcore_runs.records import Positive

_LARGEST = float(np.finfo(np.float32).max)

_Rows = list[list[float | None]]


@dataclasses.dataclass(frozen=True)
class CurveRecord:
    """A curve in a file.

    Attributes:
      num_agents, steps: as those of `Curve`.
      returns, metrics: as those of `Curve`; None in place of NaN.
    """

    num_agents: Positive
    steps: list[Positive]
    returns: _Rows
    metrics: dict[str, _Rows]

    def __post_init__(self) -> None:
        for name, rows in {"returns": self.returns, **self.metrics}.items():
            if [len(row) for row in rows] != [self.num_agents] * len(self.steps):
                raise ValueError(f"has not {len(self.steps):,} rows of {self.num_agents:,} {name}")
            if any(x is not None and _LARGEST < abs(x) < math.inf for row in rows for x in row):
                raise ValueError(f"has a number in its {name} that float32 does not hold")


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
    """

    steps: int
    names: Sequence[str]
    returns: np.ndarray
    metrics: Mapping[str, np.ndarray]
    steps_per_second: float


class Curve:
    """A learning curve of several agents.

    Attributes:
      num_agents: their number.
      steps: environment steps that each agent has taken, of every point.
      returns: mean return of the episodes that ended since the point before, of every point and agent; NaN if none did.
      metrics: what the algorithm measures of its updates, by name: means since the point before, of every point and
        agent; NaN where there was nothing to measure.
    """

    def __init__(self, num_agents: int):
        self.num_agents = num_agents
        self.steps: list[int] = []
        self.returns: list[list[float]] = []
        self.metrics: dict[str, list[list[float]]] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def with_point(self, steps: int, metrics: Mapping[str, Any]) -> Self:
        """The curve with one more point; see `envcore_baselines.learner.Metrics`, here of shape (num_agents,)."""
        found = {name: np.asarray(values, np.float64) for name, values in metrics.items()}
        returns, episodes = found.pop("returns"), found.pop("episodes")
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(episodes > 0, returns / episodes, np.nan)
        longer = type(self)(self.num_agents)
        longer.steps = [*self.steps, steps]
        longer.returns = [*self.returns, means.tolist()]
        longer.metrics = {name: [*self.metrics.get(name, []), values.tolist()] for name, values in found.items()}
        return longer

    @property
    def last(self) -> float:
        """The mean over agents of the last point at which any episode had ended; NaN without one."""
        for row in reversed(self.returns):
            ended = [mean for mean in row if not math.isnan(mean)]
            if ended:
                return sum(ended) / len(ended)
        return math.nan

    @property
    def last_of_each(self) -> list[float]:
        """Each agent's mean return at the last point at which an episode of it had ended; NaN without one."""
        columns = zip(*self.returns, strict=True)
        return [next((mean for mean in reversed(column) if not math.isnan(mean)), math.nan) for column in columns]

    def to_record(self) -> CurveRecord:
        """All numbers; Python's JSON writes floats so that they are read as the same."""
        metrics = {name: _without_nan(rows) for name, rows in self.metrics.items()}
        return CurveRecord(self.num_agents, self.steps, _without_nan(self.returns), metrics)

    @classmethod
    def of_record(cls, found: CurveRecord) -> Self:
        """The curve in a file."""
        curve = cls(found.num_agents)
        curve.steps = list(found.steps)
        curve.returns = _with_nan(found.returns)
        curve.metrics = {name: _with_nan(rows) for name, rows in found.metrics.items()}
        return curve

    def to_csv(self, names: Sequence[str]) -> str:
        """A line per point: steps, mean and standard deviation over agents, and each one's mean return."""
        lines = [",".join(["steps", "mean", "std", *names])]
        for steps, row in zip(self.steps, self.returns, strict=True):
            ended = [x for x in row if not math.isnan(x)]
            with np.errstate(invalid="ignore", over="ignore"):  # returns may be infinite
                spread = [float(np.mean(ended)), float(np.std(ended))] if ended else [math.nan, math.nan]
            lines.append(",".join([str(steps), *map(_cell, [*spread, *row])]))
        return "\n".join(lines) + "\n"

    def metrics_to_csv(self, names: Sequence[str]) -> str:
        """A line per point and agent: steps, the agent's name, its mean return and its metrics."""
        lines = [",".join(["steps", "agent", "return", *self.metrics])]
        for point, steps in enumerate(self.steps):
            columns = [rows[point] for rows in (self.returns, *self.metrics.values())]
            for name, *row in zip(names, *columns, strict=True):
                lines.append(",".join([str(steps), name, *map(_cell, row)]))
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
        of_each = self.num_agents // len(groups)
        returns = np.array(self.returns).reshape(-1, len(groups), of_each)
        for number, group in enumerate(groups):
            of_group = returns[:, number]
            is_known = ~np.isnan(of_group).all(axis=1)
            steps, known = np.array(self.steps, np.int64)[is_known], of_group[is_known]
            if len(steps):
                lowest, highest = np.nanmin(known, axis=1), np.nanmax(known, axis=1)
                band = "lowest to highest agent" if number == 0 and of_each > 1 else None
                axes.fill_between(steps, lowest, highest, alpha=0.25, linewidth=0, label=band)
                with np.errstate(invalid="ignore"):  # returns may be infinite
                    means = np.nanmean(known, axis=1)
                line = group or f"mean of {of_each} agents"
                axes.plot(steps, means, marker="o" if len(steps) == 1 else "", label=line)
        if self.num_agents > 1 and axes.lines:
            axes.legend()
        axes.set(title=title, xlabel="environment steps", ylabel="return of episodes ended since the last point")
        axes.grid(alpha=0.3)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=150)
        return file.getvalue()


def _cell(number: float) -> str:
    return "" if math.isnan(number) else repr(number)


def _without_nan(rows: Sequence[Sequence[float]]) -> _Rows:
    return [[None if math.isnan(x) else x for x in row] for row in rows]


def _with_nan(rows: _Rows) -> list[list[float]]:
    return [[math.nan if x is None else x for x in row] for row in rows]
