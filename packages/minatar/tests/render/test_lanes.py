"""Pictures of Asterix and Freeway."""

from __future__ import annotations

import numpy as np
import pytest
from envcore import painting
from envcore_minatar.asterix import Asterix
from envcore_minatar.freeway import Freeway
from minatar_pictures import cells_with

ASTERIX, FREEWAY = Asterix(), Freeway()
TIMERS = {"spawn_speed": 10, "move_speed": 5}


def entities(column: int, right: int, gold: int) -> np.ndarray:
    """One entity, in row 3."""
    found = np.zeros((8, 5), int)
    found[2] = 1, column, 3, right, gold
    return found


def cars(speed: int, column: int = 6) -> np.ndarray:
    return np.array([[column, row, 0, speed] for row in range(1, 9)])


def test_player_gold_and_enemies_are_in_their_cells() -> None:
    fields = {**TIMERS, "player_x": 7, "player_y": 5}
    assert cells_with(ASTERIX, painting.ORANGE, **fields) == [[5, 7]]
    assert cells_with(ASTERIX, painting.YELLOW, **fields, entities=entities(4, 1, gold=1)) == [[3, 4]]
    assert cells_with(ASTERIX, painting.RED, **fields, entities=entities(4, 0, gold=0)) == [[3, 4]]


def test_the_chicken_and_the_cars_are_in_their_cells() -> None:
    fields = {"pos": 9, "cars": cars(1)}
    assert cells_with(FREEWAY, painting.ORANGE, 60, **fields) == [[9, 4]]
    assert cells_with(FREEWAY, painting.RED, 60, **fields) == [[row, 6] for row in range(1, 9)]


@pytest.mark.parametrize("way", [1, -1])
def test_a_color_for_each_speed_and_lines_behind_each_car(way: int) -> None:
    palette = [painting.RED, painting.YELLOW, painting.GREEN, painting.BLUE, painting.STONE]
    for speed, color in enumerate(palette, start=1):
        found = cells_with(FREEWAY, color, 60, cars=cars(way * speed), pos=9)
        assert [cell for cell in found if cell[0] < 9] == [[row, 6] for row in range(1, 9)]
    found = cells_with(FREEWAY, painting.STONE, cars=cars(way, column=0), pos=9)
    assert [cell for cell in found if cell[0] < 9] == [[row, 9 if way > 0 else 1] for row in range(1, 9)]
