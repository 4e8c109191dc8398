"""Draws the radar plot of bsuite's scores by tag, for one or several agents.

Original: bsuite 0.3.6 `experiments/summary_analysis.py`, Osband et al. (2020), "Behaviour suite for reinforcement
learning". As there, tags are in alphabetical order, the first to the right and the others counterclockwise, and no
score is drawn closer to the center than 0.05.

Deviations: a missing score is an error, but bsuite draws a zero. A score above 1 (see `scores`) is drawn at 1. Several
agents also differ in their markers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

from envcore_bsuite.errors import ResultsError

_LOWEST = 0.05
_RINGS = (0.25, 0.5, 0.75, 1.0)
_COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000")  # Okabe and Ito (2008)
_LEGEND_WIDTH = 72  # approximate number of letters per line
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def plot_radar(tag_scores: Mapping[str, Mapping[str, float] | pd.Series]) -> Figure:
    """Draws the scores by tag of at most seven agents.

    Args:
      tag_scores: the scores of each agent, from `score_by_tag`, by the agent's name. All agents need the same tags, at
        least three.

    Returns:
      A figure that is not registered with pyplot. Save it with `savefig`.

    Raises:
      ResultsError: there are no agents or too many, the agents' tags differ or are too few, or a score is nan.
    """
    scores = _table(tag_scores)
    angles = np.linspace(0, 2 * np.pi, len(scores), endpoint=False)
    figure = Figure(figsize=(8, 8), facecolor="white", layout="constrained")
    axes = cast("PolarAxes", figure.add_subplot(projection="polar"))
    for radius in _RINGS:
        axes.fill(np.linspace(0, 2 * np.pi, 200), np.full(200, radius), color="black", alpha=0.03)
    for agent, color, marker in zip(scores, _COLORS, _MARKERS, strict=False):
        radii = scores[agent].clip(_LOWEST, 1).to_numpy()
        outline = np.append(angles, angles[0]), np.append(radii, radii[0])
        axes.plot(*outline, color=color, marker=marker, markersize=8, linewidth=3, alpha=0.85, label=agent, zorder=3)
        axes.fill(*outline, color=color, alpha=0.2 / len(scores.columns), zorder=2)
    axes.set_ylim(0, 1.02)
    axes.set_yticks(_RINGS, [".25", ".5", ".75", "1"], fontsize=14, color="0.25")
    axes.set_rlabel_position(180 / len(scores))  # between two spokes, where no outline has a corner
    axes.set_xticks(angles, [_title(tag) for tag in scores.index], fontsize=17, color="0.25")
    for label, angle in zip(axes.get_xticklabels(), angles, strict=True):
        side = np.cos(angle)
        label.set_horizontalalignment("left" if side > 0.1 else "right" if side < -0.1 else "center")
    axes.grid(color="0.5", linestyle=":", linewidth=1.5)
    axes.spines["polar"].set_visible(False)
    columns = max(1, min(3, _LEGEND_WIDTH // (8 + max(map(len, map(str, scores))))))
    figure.legend(loc="outside lower center", ncols=columns, fontsize=15, frameon=False)
    return figure


def _table(tag_scores: Mapping[str, Mapping[str, float] | pd.Series]) -> pd.DataFrame:
    """Returns the scores as a table with one column per agent and one row per tag, sorted."""
    if not 1 <= len(tag_scores) <= len(_COLORS):
        raise ResultsError(f"a radar plot shows 1 to {len(_COLORS)} agents, got {len(tag_scores)}")
    scores = pd.DataFrame({agent: pd.Series(scores, dtype=np.float64) for agent, scores in tag_scores.items()})
    if len(scores) < 3:
        raise ResultsError(f"a radar plot needs at least 3 tags, got {', '.join(scores.index) or 'none'}")
    for agent in scores:
        missing = scores.index[scores[agent].isna()]
        if len(missing):
            raise ResultsError(f"{agent} has no score for {', '.join(missing)}. Leave these tags out for every agent")
    return scores.sort_index()


def _title(tag: str) -> str:
    return tag.replace("_", "\n").title()
