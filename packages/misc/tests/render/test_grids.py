"""Pictures of rooms, mazes and lakes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore import painting
from envcore_misc.four_rooms import MAP
from envcore_misc.frozen_lake import FrozenLake
from envcore_misc.meta_maze import MetaMaze
from misc_pictures import ROOMS, render, state_of
from picture_checks import middle, near


def at_cells(picture: Any, rows: int, columns: int, cell: int) -> np.ndarray:
    """The colors of the cells near their upper left corners, where nothing stands: (rows, columns, 3)."""
    first = cell // 2 + 1
    return np.asarray(picture)[first:, first:][: rows * cell : cell, : columns * cell : cell]


def test_walls_are_those_of_the_map() -> None:
    picture = render(ROOMS, 140)
    walls = np.array([[mark == "x" for mark in row] for row in MAP])
    np.testing.assert_array_equal(near(at_cells(picture, 13, 13, 10), painting.STONE), walls)
    np.testing.assert_array_equal(np.argwhere(near(at_cells(picture, 13, 13, 10), painting.GREEN)), [[8, 9]])


@pytest.mark.parametrize("size", [5, 15])
def test_walls_are_those_of_the_maze(size: int) -> None:
    env = MetaMaze(maze_size=size, rf_size=1)
    side = size + 2
    state = state_of(env, pos=[2, 1], goal=[1, 3])
    picture = env.render(state, env.default_params, height=round(10 * (side + 0.5 + 1.5 * side / 11)))
    cells = at_cells(picture, side, side, 10)
    np.testing.assert_array_equal(near(cells, painting.STONE, 20), env.walls)
    np.testing.assert_array_equal(np.argwhere(near(cells, painting.GREEN)), [[1, 3]])


@pytest.mark.parametrize("place", [(1, 1), (4, 11), (11, 7)])
def test_the_walker_stands_in_its_cell(place: tuple[int, int]) -> None:
    picture = render(ROOMS, 140, pos=place)
    np.testing.assert_allclose(middle(picture, painting.ORANGE) * 14, [place[1] - 6, 5.87 - place[0]], atol=0.05)


def test_the_lake_has_its_holes_and_goals() -> None:
    env = FrozenLake(desc=("SFHF", "GFFF", "HFFG"))
    picture = render(env, 80, position=0)
    assert picture.shape == (80, 100, 3)
    centers = np.asarray(picture)[20::20, 20::20][:3, :4]
    np.testing.assert_array_equal(np.argwhere(near(centers, painting.INK)), [[0, 2], [2, 0]])
    np.testing.assert_array_equal(np.argwhere(near(at_cells(picture, 3, 4, 20), painting.GREEN)), [[1, 0], [2, 3]])
    np.testing.assert_array_equal(np.argwhere(near(centers, painting.ORANGE)), [[0, 0]])
