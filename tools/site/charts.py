"""Bar charts as SVG that follow the page's colors, light and dark."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

_ROW, _LABEL, _WIDTH = 22, 190, 720


def bars(rows: Sequence[tuple[str, float, str, str]], unit: str) -> str:
    """A horizontal bar a row, on a logarithmic scale from 1 on.

    Args:
      rows: a label, a number, the text at the end of the bar, and its class: "ours" or "peer".
      unit: what the numbers are, for those who cannot see the picture.
    """
    most = max(number for _, number, _, _ in rows)
    height = _ROW * len(rows) + 4
    parts = [
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{html.escape(unit)}">',
    ]
    for index, (label, number, text, kind) in enumerate(rows):
        y = 2 + index * _ROW
        length = (_WIDTH - _LABEL - 110) * math.log(max(number, 1)) / math.log(most)
        parts += [
            f'<text x="{_LABEL - 8}" y="{y + 15}" text-anchor="end">{html.escape(label)}</text>',
            f'<rect class="{kind}" x="{_LABEL}" y="{y + 3}" width="{max(length, 1):.1f}" height="{_ROW - 6}" rx="2"/>',
            f'<text x="{_LABEL + length + 6:.1f}" y="{y + 15}">{html.escape(text)}</text>',
        ]
    return "\n".join([*parts, "</svg>"])
