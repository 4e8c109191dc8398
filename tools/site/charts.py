"""Charts as SVG that follow the page's colors, light and dark."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_BARS, _LETTER, _ROW, _AXIS = 480, 7.5, 18, 24
_LINE, _LEGEND = 14, 20
_WIDTH, _PLOT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 214, 60, 18, 34, 40

_STYLE = """
text { font: 13px system-ui, sans-serif; fill: #1f2328 } .axis { fill: #59636e } .grid { stroke: #d1d9e0 }
.ours, .swap { fill: #0b7a75 } .swap { opacity: 0.5 } .peer { fill: #59636e } .gap { fill: #ffffff }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .axis { fill: #9198a1 } .grid { stroke: #3d444d } .gap { fill: #0d1117 }
  .ours, .swap { fill: #2fb5ac } .peer { fill: #9198a1 }
}
"""

Bar = tuple[float, str, str]
"""A positive number, the text at the end of the bar, and its class: "ours" or "peer"."""


def bars(groups: Sequence[tuple[str, Sequence[Bar]]], unit: str, limit: float = math.inf, width: int = _BARS) -> str:
    """Groups of horizontal bars from 0, under an axis.

    Args:
      groups: a label, and its bars.
      unit: what the numbers are, which is the title of the axis.
      limit: where the axis ends; longer bars are broken.
      width: of the picture, in pixels.
    """
    rows = [bar for _, group in groups for bar in group]
    left = 12 + _LETTER * max(len(label) for label, _ in groups)
    right = 12 + _LETTER * max(len(text) for _, text, _ in rows)
    end = min(limit, max(number for number, _, _ in rows))
    scale = (width - left - right) / end
    height = 2 * _AXIS + _ROW * len(rows)
    parts = [f'<text class="axis" x="{width}" y="14" text-anchor="end">{html.escape(unit)}</text>']
    for tick in ticks(0, end, 6):
        x = f"{left + scale * tick:.1f}"
        parts += [
            f'<text class="axis" x="{x}" y="{2 * _AXIS - 10}" text-anchor="middle">{tick:g}</text>',
            f'<line class="grid" x1="{x}" x2="{x}" y1="{2 * _AXIS - 4}" y2="{height}"/>',
        ]
    y = 2 * _AXIS
    for label, group in groups:
        parts.append(f'<text class="label" x="{left - 8}" y="{y + 14}" text-anchor="end">{html.escape(label)}</text>')
        for number, text, kind in group:
            length = scale * min(number, end)
            parts.append(
                f'<rect class="{kind}" x="{left}" y="{y + 3}" width="{length:.1f}" height="{_ROW - 5}" rx="1"/>'
            )
            if number > end:
                x = left + length - 16
                parts.append(f'<path class="gap" d="M{x:.1f} {y + _ROW} l6 -{_ROW} h4 l-6 {_ROW} z"/>')
            parts.append(f'<text x="{left + length + 6:.1f}" y="{y + 14}">{html.escape(text)}</text>')
            y += _ROW
    return "\n".join([_opening("bars", width, height, unit), *parts, "</svg>"])


class Band(NamedTuple):
    """A line with a band around it.

    Attributes:
      name: what it shows.
      kind: its class: "sampled" or "greedy".
      means, lows, highs: of each point.
    """

    name: str
    kind: str
    means: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


def curve(
    xs: Sequence[float],
    bands: Sequence[Band],
    end: tuple[str, float, float],
    label: str,
    levels: Mapping[str, float] = {},
) -> str:
    """Returns over steps, under a line for each name.

    Args:
      xs: steps of each point.
      bands: what is drawn over them.
      end: a dot after the last step: its name, its height, and how far the bar through it goes up and down.
      label: what is drawn, for those who cannot see the picture.
      levels: the heights of dashed lines, by their names.
    """
    name, best, spread = end
    found = [best - spread, best + spread, *levels.values(), *(y for band in bands for y in (*band.lows, *band.highs))]
    rows, columns = ticks(min(found), max(found), 5), ticks(0, max(xs), 5)
    bottom, top = min(*found, rows[0]), max(*found, rows[-1])
    first = _TOP + _LEGEND * (len(bands) + 1)

    def x_of(x: float) -> str:
        return f"{_LEFT + (_WIDTH - _LEFT - _RIGHT) * x / max(xs):.1f}"

    def y_of(y: float) -> str:
        return f"{first + _PLOT * (top - y) / (top - bottom):.1f}"

    def points(values: Sequence[float]) -> list[str]:
        return [f"{x_of(x)},{y_of(y)}" for x, y in zip(xs, values, strict=True)]

    right, height = _WIDTH - _RIGHT, first + _PLOT + _BOTTOM
    parts = [_opening("curve", _WIDTH, height, label), f'<text x="0" y="{_LINE}">return of an episode</text>']
    for number, (text, kind) in enumerate([*((band.name, band.kind) for band in bands), (name, "end")], 1):
        y = _LINE + _LEGEND * number
        parts += [
            _dot(str(_LEFT + 12), str(y - 5))
            if kind == "end"
            else f'<line class="line {kind}" x1="{_LEFT}" x2="{_LEFT + 24}" y1="{y - 5}" y2="{y - 5}"/>',
            f'<text x="{_LEFT + 32}" y="{y}">{html.escape(text)}</text>',
        ]
    for y in rows:
        parts += [
            f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y_of(y)}" y2="{y_of(y)}"/>',
            f'<text x="{_LEFT - 8}" y="{float(y_of(y)) + 4:.1f}" text-anchor="end">{y:g}</text>',
        ]
    parts += [f'<text x="{x_of(x)}" y="{first + _PLOT + 18}" text-anchor="middle">{short(x)}</text>' for x in columns]
    parts.append(f'<text x="{right}" y="{height - 4}" text-anchor="end">steps of an agent</text>')
    for band in bands:
        area = " ".join([*points(band.highs), *reversed(points(band.lows))])
        parts.append(f'<polygon class="band {band.kind}" points="{area}"/>')
        parts.append(f'<polyline class="line {band.kind}" points="{" ".join(points(band.means))}"/>')
    heights = _apart([float(y_of(level)) - 5 for level in levels.values()])
    for (text, level), y in zip(levels.items(), heights, strict=True):
        what = html.escape(f"{text} {level:g}")
        parts += [
            f'<line class="level" x1="{_LEFT}" x2="{right}" y1="{y_of(level)}" y2="{y_of(level)}"/>',
            f'<text class="axis" x="{right - 12}" y="{y:.1f}" text-anchor="end">{what}</text>',
        ]
    parts.append(f'<path class="line greedy" d="M{right} {y_of(best - spread)} V{y_of(best + spread)}"/>')
    return "\n".join([*parts, _dot(str(right), y_of(best)), "</svg>"])


def _dot(x: str, y: str) -> str:
    return f'<circle class="end" cx="{x}" cy="{y}" r="5"/>'


def _apart(heights: Sequence[float]) -> list[float]:
    """The heights of texts, moved down where they would lie on others."""
    found: list[float] = []
    for height in heights:
        while any(abs(height - other) < _LINE for other in found):
            height += 1
        found.append(height)
    return found


def ticks(low: float, high: float, most: int) -> list[float]:
    """Round numbers from `low` to `high`, both included where they are round; at least two and at most `most`."""
    if high <= low:
        low, high = low - 0.5, low + 0.5
    for power in itertools.count(math.floor(math.log10(high - low)) - 1):
        for factor in (1, 2, 5):
            step = factor * 10.0**power
            first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
            if last - first < most:
                found = range(first, last + 1) if last > first else (math.floor(low / step), math.ceil(high / step))
                return [float(f"{number * step:.6g}") for number in found]
    raise AssertionError


def short(number: float) -> str:
    """A number with its thousands or millions as a letter: "0", "500", "20k", "1.5M"."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(number) >= size:
            return f"{number / size:g}{letter}"
    return f"{number:g}"


def as_file(chart: str) -> str:
    """A chart as a file of its own, which follows its reader's light or dark mode."""
    opening, rest = chart.split(">", 1)
    return f'{opening} xmlns="http://www.w3.org/2000/svg"><style>{_STYLE}</style>{rest}\n'


def _opening(kind: str, width: int, height: int, label: str) -> str:
    box = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="chart {kind}" {box} role="img" aria-label="{html.escape(label)}">'
