"""Charts as SVG that follow the page's colors, light and dark."""

from __future__ import annotations

import html
import itertools
import math
from collections.abc import Sequence

_BARS, _ROW, _GAP, _END = 400, 17, 8, 142
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 560, 260, 52, 18, 10, 40

Bar = tuple[float, str, str]
"""A positive number, the text at the end of the bar, and its class: "ours" or "peer"."""


def bars(groups: Sequence[tuple[str, Sequence[Bar]]], unit: str, *, is_logarithmic: bool = True) -> str:
    """Groups of horizontal bars.

    Args:
      groups: a label, and its bars.
      unit: what the numbers are, for those who cannot see the picture.
      is_logarithmic: the scale is logarithmic, from the power of ten below the smallest number; else it starts at 0.
    """
    numbers = [number for _, group in groups for number, _, _ in group]
    start = math.ceil(math.log10(min(numbers))) - 1

    def extent(number: float) -> float:
        return math.log10(number) - start if is_logarithmic else number

    longest = extent(max(numbers))
    parts, y = [], 0
    for label, group in groups:
        parts.append(f'<text class="label" x="0" y="{y + 14}">{html.escape(label)}</text>')
        y += _ROW
        for number, text, kind in group:
            length = (_BARS - _END) * extent(number) / longest
            parts += [
                f'<rect class="{kind}" x="0" y="{y + 3}" width="{length:.1f}" height="{_ROW - 4}" rx="2"/>',
                f'<text x="{length + 6:.1f}" y="{y + 14}">{html.escape(text)}</text>',
            ]
            y += _ROW
        y += _GAP
    return "\n".join([_opening("bars", _BARS, y, unit), *parts, "</svg>"])


def curve(
    xs: Sequence[float],
    means: Sequence[float],
    lows: Sequence[float],
    highs: Sequence[float],
    label: str,
    level: float | None = None,
) -> str:
    """A line with a band around it.

    Args:
      xs, means, lows, highs: of each point.
      label: what is drawn, for those who cannot see the picture.
      level: the height of a dashed line; None for none.
    """
    ends = [*lows, *highs, *([] if level is None else [level])]
    bottom, top = min(ends), max(ends)
    rows = ticks(bottom, top, 5)
    columns = ticks(0, max(xs), 5)
    bottom, top = min(bottom, rows[0]), max(top, rows[-1])

    def x_of(x: float) -> str:
        return f"{_LEFT + (_WIDTH - _LEFT - _RIGHT) * x / max(xs):.1f}"

    def y_of(y: float) -> str:
        return f"{_TOP + (_HEIGHT - _TOP - _BOTTOM) * (top - y) / (top - bottom):.1f}"

    def points(values: Sequence[float]) -> list[str]:
        return [f"{x_of(x)},{y_of(y)}" for x, y in zip(xs, values, strict=True)]

    right = _WIDTH - _RIGHT
    parts = [_opening("curve", _WIDTH, _HEIGHT, label)]
    for y in rows:
        parts += [
            f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y_of(y)}" y2="{y_of(y)}"/>',
            f'<text x="{_LEFT - 8}" y="{float(y_of(y)) + 4:.1f}" text-anchor="end">{y:g}</text>',
        ]
    parts += [
        f'<text x="{x_of(x)}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{short(x)}</text>' for x in columns
    ]
    parts.append(f'<text x="{right}" y="{_HEIGHT - 4}" text-anchor="end">steps of an agent</text>')
    parts.append(f'<polygon class="band" points="{" ".join([*points(highs), *reversed(points(lows))])}"/>')
    parts.append(f'<polyline class="line" points="{" ".join(points(means))}"/>')
    if level is not None:
        parts.append(f'<line class="level" x1="{_LEFT}" x2="{right}" y1="{y_of(level)}" y2="{y_of(level)}"/>')
    return "\n".join([*parts, "</svg>"])


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


def _opening(kind: str, width: int, height: int, label: str) -> str:
    box = f'viewBox="0 0 {width} {height}"'
    return f'<svg class="chart {kind}" {box} role="img" aria-label="{html.escape(label)}">'
