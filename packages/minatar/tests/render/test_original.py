"""The original's pictures."""

from __future__ import annotations

import pytest
from envcore_minatar.render import colors


@pytest.mark.parametrize(
    ("num_channels", "first", "last"),
    [
        (4, (22, 61, 78), (193, 202, 243)),
        (6, (26, 36, 65), (198, 225, 241)),
        (7, (27, 30, 59), (203, 232, 240)),
        (10, (25, 18, 43), (214, 240, 239)),
    ],
)
def test_colors_are_the_originals(num_channels: int, first: tuple[int, int, int], last: tuple[int, int, int]) -> None:
    """As seaborn 0.13 with matplotlib 3.11 gives them."""
    found = colors(num_channels)
    assert tuple(found[0]) == (0, 0, 0)
    assert tuple(found[1]) == first
    assert tuple(found[-1]) == last
    assert len(found) == num_channels + 1
