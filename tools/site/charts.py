"""Charts as SVG in the page, in the page's colors, light and dark."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

OURS, PEER, GREEDY = "#178a83", "#808a94", "#cb5b18"
_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.size": 9.5,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "envcore",
}


def bars(groups: Sequence[tuple[str, Sequence[tuple[float, str, str]]]], unit: str, limit: float | None = None) -> str:
    """Groups of horizontal bars: a label, and for each bar its length, its text and its color.

    Args:
      groups: from top to bottom.
      unit: what the lengths are.
      limit: where the axis ends; longer bars are cut off, and their texts say how long they are.
    """
    rows = [bar for _, group in groups for bar in group]
    with mpl.rc_context({**_STYLE, "axes.grid.axis": "x"}):
        figure = Figure((6.6, 0.7 + 0.21 * len(rows)), layout="constrained")
        axes: Any = figure.subplots()
        lengths = [min(length, limit or length) for length, _, _ in rows]
        found = axes.barh(range(len(rows)), lengths, 0.75, color=[color for _, _, color in rows])
        axes.bar_label(found, [text for _, text, _ in rows], padding=3)
        starts = [sum(len(group) for _, group in groups[:number]) for number in range(len(groups))]
        middles = [start + (len(group) - 1) / 2 for start, (_, group) in zip(starts, groups, strict=True)]
        axes.set_yticks(middles, [label for label, _ in groups])
        axes.set(xlabel=unit, ylim=(len(rows) - 0.4, -0.6), xlim=(0, 1.2 * max(lengths)))
        return _svg(figure, unit)


def curve(
    steps: Sequence[float],
    bands: Mapping[str, tuple[Mapping[str, Sequence[float]], str]],
    end: tuple[str, float, float],
    label: str,
    levels: Mapping[str, float],
) -> str:
    """Returns over steps: lines with bands, a dot after the last step, and dashed lines.

    Args:
      steps: of each point.
      bands: by name, the "mean", "low" and "high" of each point, and the color.
      end: the dot's name, its height, and how far the bar through it goes up and down.
      label: what is drawn, for those who cannot see the picture.
      levels: heights of dashed lines by their names.
    """
    with mpl.rc_context(_STYLE):
        figure = Figure((6.6, 3.8), layout="constrained")
        axes: Any = figure.subplots()
        for name, (found, color) in bands.items():
            axes.plot(steps, found["mean"], color=color, label=name)
            axes.fill_between(steps, found["low"], found["high"], color=color, alpha=0.25, linewidth=0)
        name, height, spread = end
        axes.errorbar(steps[-1], height, spread, fmt="o", color=GREEDY, label=name, clip_on=False)
        for text, level in levels.items():
            axes.axhline(level, color=PEER, linestyle="--", label=f"{text} {level:g}")
        axes.set(xlabel="steps of an agent", ylabel="return of an episode", xlim=(0, steps[-1]))
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        figure.legend(loc="outside upper left")
        return _svg(figure, label)


def _svg(figure: Figure, label: str) -> str:
    written = io.StringIO()
    figure.savefig(written, format="svg", transparent=True, metadata={"Date": None, "Title": label})
    svg = written.getvalue()
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor").replace("'DejaVu Sans', ", "system-ui, ")
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub('<text style="', '<text fill="currentColor" style="', svg)
    return svg.replace("<svg ", '<svg class="chart" role="img" ', 1).replace("\n\n", "\n")
