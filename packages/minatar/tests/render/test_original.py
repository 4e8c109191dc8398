"""The original's pictures."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar.render import colors, paint_channels


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


def test_the_last_channel_shows() -> None:
    obs = np.zeros((10, 10, 10), bool)
    obs[2, 3, [1, 9]] = True
    picture = np.asarray(paint_channels(25, jnp.asarray(obs)))
    assert picture.shape == (25, 25, 3)
    cell = picture[5:7, 8:9]
    np.testing.assert_array_equal(cell, np.broadcast_to(colors(10)[10], cell.shape))
    assert not picture[8:].any()
