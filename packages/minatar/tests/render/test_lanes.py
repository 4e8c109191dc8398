"""Pictures of Asterix and Freeway."""

from __future__ import annotations

import numpy as np
import pytest
from envcore import painting
from envcore_minatar.asterix import Asterix
from envcore_minatar.freeway import Freeway
from minatar_pictures import cells_with, state_of
from picture_checks import near

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


@pytest.mark.parametrize(("column", "right", "behind"), [(4, 1, [[3, 3]]), (4, 0, [[3, 5]]), (0, 1, []), (9, 0, [])])
def test_lines_are_behind_what_moves(column: int, right: int, behind: list[list[int]]) -> None:
    found = cells_with(ASTERIX, painting.STONE, **TIMERS, entities=entities(column, right, gold=0))
    assert [cell for cell in found if cell[0] < 9] == behind


@pytest.mark.parametrize(("timer", "speed", "color"), [("move", 5, painting.INK), ("spawn", 10, painting.RED)])
def test_gauges_show_the_timers_and_the_speeds(timer: str, speed: int, color: painting.Color) -> None:
    def length(value: int, color: painting.Color = color, **fields: int) -> int:
        state = state_of(ASTERIX, **{**TIMERS, "player_y": 5, f"{timer}_timer": value, **fields})
        return near(ASTERIX.render(state, ASTERIX.default_params, height=240)[216:], color).sum()

    assert length(0) < length(2) < length(4)
    assert length(0, painting.STONE, **{f"{timer}_speed": 2}) < length(0, painting.STONE, **{f"{timer}_speed": speed})


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


def test_the_gauge_shows_when_the_chicken_can_move() -> None:
    def length(timer: int) -> int:
        state = state_of(FREEWAY, cars=cars(1), pos=5, move_timer=timer)
        return near(FREEWAY.render(state, FREEWAY.default_params, height=240)[220:], painting.INK).sum()

    assert length(0) < length(1) < length(3)
