"""Pictures of Seaquest."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting
from envcore_minatar.seaquest import Diver, Enemies, Seaquest, join_divers
from minatar_pictures import CELL, state_of
from picture_checks import near
from seaquest_original import from_values

ENV = Seaquest()
NO_DIVER = Diver(*[jnp.int32(0)] * 5)


def picture(state: Any = None, **fields: Any) -> np.ndarray:
    state = state_of(ENV, **{"sub_x": 8, "sub_y": 8, "sub_or": 1, **fields}) if state is None else state
    return np.asarray(ENV.render(state, ENV.default_params, height=10 * CELL))


def cells(shown: np.ndarray, color: painting.Color) -> list[list[int]]:
    """Cells of the water with a color."""
    return np.argwhere(near(shown, color).reshape(10, CELL, 10, CELL).sum((1, 3))[:9] >= 12).tolist()


def enemy(right: int, is_sub: int = 0, bullet: int = 0, x: int = 3, row: int = 2) -> Enemies:
    def words(value: int, width: int) -> Any:
        return from_values(jnp.zeros(32, jnp.int32).at[5].set(value), width)

    alive, subs, to_right, has_bullet = (words(value, 1)[0] for value in (1, is_sub, right, bullet))
    return Enemies(alive, subs, to_right, words(x, 4), words(row, 3), words(0, 3), words(0, 4), has_bullet, words(7, 4))


@pytest.mark.parametrize(("right", "back"), [(1, 4), (0, 6)])
def test_the_submarine_covers_its_front_and_its_back(right: int, back: int) -> None:
    assert cells(picture(sub_x=5, sub_y=3, sub_or=right), painting.BLUE) == sorted([[3, 5], [3, back]])


@pytest.mark.parametrize("right", [0, 1])
@pytest.mark.parametrize("is_sub", [0, 1])
def test_enemies_and_their_bullets_are_in_their_cells(right: int, is_sub: int) -> None:
    state = state_of(ENV, sub_y=8).replace(enemies=enemy(right, is_sub))
    assert cells(picture(state), painting.RED) == [[3, 3]]
    state = state.replace(enemies=enemy(right, is_sub, bullet=1))
    assert cells(picture(state), painting.RED) == [[3, 3], [3, 7]]


def test_divers_in_the_water_are_green() -> None:
    diver = Diver(*map(jnp.int32, (1, 1, 4, 3, 0)))
    state = state_of(ENV, sub_y=8).replace(divers=jax.tree.map(np.asarray, join_divers([diver, *[NO_DIVER] * 3])))
    assert cells(picture(state), painting.GREEN) == [[4, 4]]


def test_gauges_on_the_sand() -> None:
    heads = [near(picture(diver_count=count)[9 * CELL :], painting.GREEN).sum() for count in range(7)]
    assert heads == sorted(set(heads))
    assert heads[0] == 0
    assert near(picture(diver_count=-2, oxygen=200)[9 * CELL :], painting.RED).sum() == pytest.approx(heads[2], abs=8)
    full, half = (near(picture(oxygen=oxygen)[9 * CELL :], painting.BLUE).sum() for oxygen in (200, 100))
    assert half == pytest.approx(full / 2, rel=0.1)
    assert near(picture(oxygen=20)[9 * CELL :], painting.RED).any()
