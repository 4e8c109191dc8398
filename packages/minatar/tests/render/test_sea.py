"""Pictures of Seaquest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore import painting
from envcore_minatar.seaquest import Seaquest
from minatar_pictures import CELL, state_of
from picture_checks import near
from seaquest_original import state_with

ENV = Seaquest()


def picture(state: Any = None, **fields: Any) -> np.ndarray:
    state = state_of(ENV, **{"sub_x": 8, "sub_y": 8, "sub_or": 1, **fields}) if state is None else state
    return np.asarray(ENV.render(state, ENV.default_params, height=10 * CELL))


def cells(shown: np.ndarray, color: painting.Color) -> list[list[int]]:
    """Cells of the water with a color."""
    return np.argwhere(near(shown, color).reshape(10, CELL, 10, CELL).sum((1, 3))[:9] >= 12).tolist()


@pytest.mark.parametrize(("right", "back"), [(1, 4), (0, 6)])
def test_the_submarine_covers_its_front_and_its_back(right: int, back: int) -> None:
    assert cells(picture(sub_x=5, sub_y=3, sub_or=right), painting.BLUE) == sorted([[3, 5], [3, back]])


def test_enemies_bullets_and_divers_are_in_their_cells() -> None:
    enemies: dict[str, Any] = {"e_fish": [(3, 3, 1, 0)], "e_subs": [(6, 2, 0, 0, 9)], "e_bullets": [(1, 2, 0)]}
    shown = picture(state_with({"sub_x": 8, "sub_y": 8, **enemies, "divers": [(4, 5, 1, 0)]}))
    assert cells(shown, painting.RED) == [[2, 1], [2, 6], [3, 3]]
    assert cells(shown, painting.GREEN) == [[5, 4]]


def test_gauges_on_the_sand() -> None:
    heads = [near(picture(diver_count=count)[9 * CELL :], painting.GREEN).sum() for count in range(7)]
    assert heads == sorted(set(heads))
    assert heads[0] == 0
    assert near(picture(diver_count=-2, oxygen=200)[9 * CELL :], painting.RED).sum() == pytest.approx(heads[2], abs=8)
    full, half = (near(picture(oxygen=oxygen)[9 * CELL :], painting.BLUE).sum() for oxygen in (200, 100))
    assert half == pytest.approx(full / 2, rel=0.1)
    assert near(picture(oxygen=20)[9 * CELL :], painting.RED).any()
