"""The phases on the boards of Space Invaders, compared with boards of numpy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar import space_invaders as phases
from envcore_minatar.packing import SIDE, bit

RNG = np.random.default_rng(0)
ALIENS, OURS, THEIRS = RNG.random((3, 10, 10)) < 0.3


def rows(board: np.ndarray) -> phases.Rows:
    return [jnp.uint32(word) for word in (board << np.arange(SIDE)).sum(1)]


def board(words: Any) -> np.ndarray:
    return np.array([[int(word) >> x & 1 for x in range(SIDE)] for word in words], bool)


@pytest.mark.parametrize("fires", [False, True])
def test_bullets_fly(fires: bool) -> None:
    joined = phases.join_boards(rows(ALIENS), rows(OURS), rows(THEIRS))
    aliens, ours, theirs = phases.bullets_fly(joined, jnp.int32(3), jnp.bool_(fires))
    bullets = OURS.copy()
    bullets[9, 3] |= fires
    np.testing.assert_array_equal(board(aliens), ALIENS)
    np.testing.assert_array_equal(board(ours), np.vstack([bullets[1:], np.zeros(10, bool)]))
    np.testing.assert_array_equal(board(theirs), np.vstack([np.zeros(10, bool), THEIRS[:-1]]))


def test_only_the_bottom_row_has_the_mark() -> None:
    joined = phases.join_boards(rows(ALIENS), rows(OURS), rows(THEIRS))
    assert (np.asarray(joined & phases.BOTTOM_MARK) > 0).tolist() == [False] * 9 + [True]


@pytest.mark.parametrize(
    ("marches", "right", "turn", "shift"),
    [
        (False, True, False, (0, 0)),
        (True, True, False, (0, 1)),
        (True, False, False, (0, -1)),
        (True, True, True, (1, 0)),
        (True, False, True, (1, 0)),
    ],
)
def test_aliens_march(marches: bool, right: bool, turn: bool, shift: tuple[int, int]) -> None:
    inside = ALIENS & (np.arange(10) % 9 > 0)  # at an edge they turn
    found = phases.aliens_march(rows(inside), *map(jnp.bool_, (marches, right, turn)))
    np.testing.assert_array_equal(board(found), np.roll(inside, shift, (0, 1)))


def test_the_lowest_alien_in_the_nearest_column_shoots() -> None:
    find = jax.jit(phases.nearest_alien)
    for cannon, alien in np.ndindex(10, 10):
        aliens = RNG.random((10, 10)) < RNG.choice([0, 0.1, 0.5])
        aliens[RNG.integers(10), alien] = True
        columns = np.flatnonzero(aliens.any(0))
        column = columns[np.argmin(abs(columns - cannon))]  # of two the left one
        row = np.flatnonzero(aliens[:, column]).max()
        found = find(rows(aliens), bit(cannon))
        assert (int(found[0]), int(found[1])) == (row, 1 << column)


@pytest.mark.parametrize("shoots", [False, True])
def test_a_shot_is_where_the_alien_is(shoots: bool) -> None:
    found = board(phases.alien_shoots(rows(THEIRS), jnp.bool_(shoots), jnp.int32(4), bit(7)))
    expected = THEIRS.copy()
    expected[4, 7] |= shoots
    np.testing.assert_array_equal(found, expected)


def test_aliens_die_with_the_bullets_that_hit_them() -> None:
    aliens, ours = phases.aliens_die(rows(ALIENS), rows(OURS))
    np.testing.assert_array_equal(board(aliens), ALIENS & ~OURS)
    np.testing.assert_array_equal(board(ours), OURS & ~ALIENS)


def test_a_new_wave_comes_where_none_is_left() -> None:
    nothing = np.zeros((10, 10), bool)
    wave = nothing.copy()
    wave[:4, 2:8] = True
    for cleared, expected in ((False, nothing), (True, wave)):
        np.testing.assert_array_equal(board(phases.next_wave(rows(nothing), jnp.bool_(cleared))), expected)


def test_columns_and_number() -> None:
    assert int(phases.occupied_columns(rows(ALIENS))) == (ALIENS.any(0) << np.arange(10)).sum()
    for each in (ALIENS, np.ones((10, 10), bool), np.zeros((10, 10), bool)):
        count = phases.count(rows(each))
        assert (int(count), count.dtype) == (each.sum(), jnp.int32)
