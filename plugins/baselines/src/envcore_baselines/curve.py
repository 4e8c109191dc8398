"""Learning curves: the mean return of each seed's agent over its training, as numbers, CSV and a picture."""

from __future__ import annotations

import dataclasses
import io
import math
from typing import Annotated, Self

import numpy as np
from envcore_runs.records import Positive, Range

from envcore_baselines.learner import Totals

_LARGEST = float(np.finfo(np.float32).max)


@dataclasses.dataclass(frozen=True)
class CurveRecord:
    """A curve in a file.

    Attributes:
      num_seeds, steps: as those of `Curve`.
      returns: as those of `Curve`; None if no episode ended.
    """

    num_seeds: Positive
    steps: list[Positive]
    returns: list[list[Annotated[float, Range(-math.inf, math.inf)] | None]]

    def __post_init__(self) -> None:
        if [len(row) for row in self.returns] != [self.num_seeds] * len(self.steps):
            raise ValueError(f"has not {len(self.steps):,} rows of {self.num_seeds:,} returns")
        if any(x is not None and _LARGEST < abs(x) < math.inf for row in self.returns for x in row):
            raise ValueError("has a return that float32 does not hold")


class Curve:
    """A learning curve of several seeds.

    Attributes:
      num_seeds: number of agents.
      steps: environment steps that each agent has taken, of every point.
      returns: mean return of the episodes that ended since the point before, of every point and seed; NaN if none did.
    """

    def __init__(self, num_seeds: int):
        self.num_seeds = num_seeds
        self.steps: list[int] = []
        self.returns: list[list[float]] = []

    def __len__(self) -> int:
        return len(self.steps)

    def with_point(self, steps: int, totals: Totals) -> Self:
        """The curve with one more point; the totals have shape (num_seeds,)."""
        episodes = np.asarray(totals["episodes"])
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.asarray(totals["returns"], np.float64) / episodes
        longer = type(self)(self.num_seeds)
        longer.steps = [*self.steps, steps]
        longer.returns = [*self.returns, [float(mean) for mean in np.where(episodes > 0, means, np.nan)]]
        return longer

    @property
    def last(self) -> float:
        """The mean over seeds of the last point at which any episode had ended; NaN without one."""
        for row in reversed(self.returns):
            ended = [mean for mean in row if not math.isnan(mean)]
            if ended:
                return sum(ended) / len(ended)
        return math.nan

    def to_record(self) -> CurveRecord:
        """All numbers; Python's JSON writes floats so that they are read as the same."""
        returns = [[None if math.isnan(x) else x for x in row] for row in self.returns]
        return CurveRecord(self.num_seeds, self.steps, returns)

    @classmethod
    def of_record(cls, found: CurveRecord) -> Self:
        """The curve in a file."""
        curve = cls(found.num_seeds)
        curve.steps = list(found.steps)
        curve.returns = [[math.nan if x is None else x for x in row] for row in found.returns]
        return curve

    def to_csv(self, first_seed: int = 0) -> str:
        """A line per point: steps, mean and standard deviation over seeds, and each seed's mean return.

        Args:
          first_seed: the seed of the first agent; the others have the next ones.
        """
        seeds = [f"seed_{first_seed + number}" for number in range(self.num_seeds)]
        lines = [",".join(["steps", "mean", "std", *seeds])]
        for steps, row in zip(self.steps, self.returns, strict=True):
            ended = [x for x in row if not math.isnan(x)]
            with np.errstate(invalid="ignore", over="ignore"):  # returns may be infinite
                spread = [np.mean(ended), np.std(ended)] if ended else [math.nan, math.nan]
            lines.append(",".join([str(steps), *("" if math.isnan(x) else repr(float(x)) for x in [*spread, *row])]))
        return "\n".join(lines) + "\n"

    def to_png(self, title: str) -> bytes:
        """The mean over the seeds whose episodes ended, and the range from the lowest to the highest of them."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        returns = np.array(self.returns).reshape(-1, self.num_seeds)
        is_known = ~np.isnan(returns).all(axis=1)
        steps, known = np.array(self.steps, np.int64)[is_known], returns[is_known]
        if len(steps):
            axes.fill_between(steps, np.nanmin(known, axis=1), np.nanmax(known, axis=1), alpha=0.25, linewidth=0)
            with np.errstate(invalid="ignore"):  # returns may be infinite
                means = np.nanmean(known, axis=1)
            axes.plot(steps, means, marker="o" if len(steps) == 1 else "")
        axes.set(title=title, xlabel="environment steps", ylabel="return of an episode")
        axes.grid(alpha=0.3)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=150)
        return file.getvalue()
