"""The bits of words: rows and observations, compared with numpy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_minatar import packing
from envcore_minatar.asterix import Asterix
from envcore_minatar.breakout import Breakout
from envcore_minatar.freeway import Freeway
from envcore_minatar.seaquest import Seaquest
from envcore_minatar.space_invaders import SpaceInvaders

RNG = np.random.default_rng(0)


def test_lookup() -> None:
    table = [3, 15, 0, 7, 1, 2, 9, 8]
    np.testing.assert_array_equal(packing.lookup(table, jnp.arange(8)), table)


def test_bits_outside_a_word_are_not_there() -> None:
    assert [int(packing.bit(i)) for i in (-1, 0, 31, 32)] == [0, 1, 2**31, 0]
    assert [bool(packing.has_bit(jnp.uint32(2**32 - 1), i)) for i in (-1, 0, 31, 32)] == [False, True, True, False]


def test_boards_and_rows() -> None:
    board = RNG.random((50, 10, 10)) < 0.3
    rows = packing.from_board(jnp.asarray(board))
    assert rows.shape == (50, 10)
    np.testing.assert_array_equal(packing.to_board(rows), board)


@pytest.mark.parametrize("game", [Asterix, Breakout, Freeway, Seaquest, SpaceInvaders])
@pytest.mark.parametrize("shape", [(10, 10, -1), (-1,)])
def test_cells_are_stored_flat_and_then_converted(game: Any, shape: tuple[int, ...]) -> None:
    """XLA vectorizes neither the expansion nor the conversion of cells in the shape of an observation."""
    env, num_envs = game(), 16

    def inputs(state: Any) -> jax.Array:
        return env.observe(state, env.default_params).reshape(shape).astype(jnp.float32)

    states = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), num_envs))[1]
    compiled = jax.jit(jax.vmap(inputs)).lower(states).compile()
    cells = 100 * len(env.channels)
    assert f"pred[{num_envs},{cells}]{{1,0}} call(" in str(compiled.as_text())
    expected = np.asarray(jax.vmap(env.observe, (0, None))(states, env.default_params)).reshape(num_envs, *shape)
    np.testing.assert_array_equal(compiled(states), expected.astype(np.float32))


def test_cells_and_their_numbers() -> None:
    row, column, channel = packing.cells(7)
    assert [x[(10 * 3 + 4) * 7 + 5] for x in (row, column, channel)] == [3, 4, 5]
    numbers = packing.cell_number(row, column, channel)
    assert numbers.dtype == np.uint16
    assert np.unique(numbers).size == 700


def test_masks_of_halves() -> None:
    masks = np.array([0xF0, 0xF00000, 0xFFFF, 0xFFFF0000, 0], np.uint32)
    for word in RNG.integers(0, 2**32, 20, np.uint32):
        masked = packing.masked(packing.halves(jnp.asarray(word)), masks)
        assert masked.dtype == jnp.uint16
        np.testing.assert_array_equal(masked, [max(x & 0xFFFF, x >> 16) for x in (word & masks).tolist()])
        np.testing.assert_array_equal(masked, packing.half(word & masks))
