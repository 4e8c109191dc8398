"""Pictures as text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore_viewer.half_blocks import HalfBlocks
from rich.console import Console


class TestHalfBlocks:
    @pytest.mark.parametrize("height", [1, 2, 7])
    def test_two_pixels_per_character(self, height):
        picture = np.random.default_rng(0).integers(0, 2, (height, 9, 3)).astype(np.uint8) * 255
        console = Console(color_system="truecolor", force_terminal=True, width=20, legacy_windows=False)
        lines = console.render_lines(HalfBlocks(picture), pad=False)
        assert len(lines) == -(-height // 2)
        for row, line in enumerate(lines):
            cells: list[Any] = [segment.style for segment in line for _ in segment.text]
            assert "".join(segment.text for segment in line) == "\N{UPPER HALF BLOCK}" * 9
            for column, style in enumerate(cells):
                assert tuple(style.color.triplet) == tuple(picture[2 * row, column])
                lower = tuple(picture[2 * row + 1, column]) if 2 * row + 1 < height else None
                assert (tuple(style.bgcolor.triplet) if style.bgcolor else None) == lower

    @pytest.mark.parametrize(
        ("pixel", "number"),
        [
            ((38, 45, 58), 236),  # the ink of our pictures, a bluish grey
            ((0, 0, 0), 16),
            ((208, 66, 61), 167),
        ],
    )
    def test_a_terminal_with_256_colors_shows_the_nearest(self, pixel, number):
        console = Console(color_system="256", force_terminal=True, width=20, legacy_windows=False)
        picture = np.array([[pixel], [pixel]], np.uint8)
        (style,) = (each.style for each in console.render(HalfBlocks(picture)) if each.style)
        assert [each and each.number for each in (style.color, style.bgcolor)] == [number, number]
