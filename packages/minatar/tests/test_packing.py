"""The bits of words: layouts, rows and observations against numpy."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import fusion
from envcore_minatar import packing
from envcore_minatar.asterix import Asterix
from envcore_minatar.breakout import Breakout
from envcore_minatar.freeway import Freeway
from envcore_minatar.packing import Layout
from envcore_minatar.seaquest import Seaquest
from envcore_minatar.space_invaders import SpaceInvaders


class Ball(NamedTuple):
    x: Any
    y: Any
    lost: Any


LAYOUT = Layout(Ball, x=4, y=27, lost=1)
RNG = np.random.default_rng(0)


def test_layout_keeps_every_field() -> None:
    ball = Ball(RNG.integers(0, 16, 1000), RNG.integers(0, 2**27, 1000), RNG.random(1000) < 0.5)
    found = LAYOUT.unpack(LAYOUT.pack(Ball(*map(jnp.asarray, ball))))
    for name, mine, expected in zip(Ball._fields, found, ball, strict=True):
        np.testing.assert_array_equal(mine, expected, err_msg=name)
    assert [x.dtype for x in found] == [jnp.int32, jnp.int32, jnp.bool_]


def test_write_changes_one_field() -> None:
    word = LAYOUT.write(LAYOUT.pack(Ball(5, 77, True)), "y", 3)
    assert tuple(map(int, LAYOUT.unpack(word))) == (5, 3, 1)
    assert word.dtype == jnp.uint32


@pytest.mark.parametrize("widths", [{"x": 4, "y": 4}, {"y": 4, "x": 4, "lost": 1}])
def test_layout_must_name_the_fields(widths: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="in their order"):
        Layout(Ball, **widths)


def test_layout_must_fit_a_word() -> None:
    with pytest.raises(ValueError, match="33 bits"):
        Layout(Ball, x=4, y=28, lost=1)


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


@pytest.mark.skipif(vars(fusion)["set_xla_metadata"] is None, reason="this JAX cannot keep XLA from fusing")
@pytest.mark.parametrize("game", [Asterix, Breakout, Freeway, Seaquest, SpaceInvaders])
def test_a_network_converts_flat_cells(game: Any) -> None:
    """XLA is slow at a conversion behind a reshape of rows: it has to be fused with flat cells, or to read them."""
    env, num_envs = game(), 16

    def inputs(state: Any) -> jax.Array:
        return env.get_obs(state).reshape(-1).astype(jnp.float32)

    states = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), num_envs))[1]
    compiled = jax.jit(jax.vmap(inputs)).lower(states).compile()
    cells = 100 * len(env.channels)
    program = str(compiled.as_text())
    is_stored = "pred[" in program[program.index("\nENTRY") :]
    assert is_stored == (game in (Seaquest, SpaceInvaders))
    assert is_stored == (f"pred[{num_envs},{cells}]{{1,0}} call(" in program)
    expected = np.asarray(jax.vmap(env.get_obs)(states)).reshape(num_envs, cells)
    np.testing.assert_array_equal(compiled(states), expected.astype(np.float32))


def test_cells_and_their_numbers() -> None:
    row, column, channel = packing.cells(7)
    assert [x[(10 * 3 + 4) * 7 + 5] for x in (row, column, channel)] == [3, 4, 5]
    numbers = packing.number(row, column, channel)
    assert numbers.dtype == np.uint16
    assert np.unique(numbers).size == 700


def test_masks_of_halves() -> None:
    masks = np.array([0xF0, 0xF00000, 0xFFFF, 0xFFFF0000, 0], np.uint32)
    for word in RNG.integers(0, 2**32, 20, np.uint32):
        masked = packing.masked(packing.halves(jnp.asarray(word)), masks)
        assert masked.dtype == jnp.uint16
        np.testing.assert_array_equal(masked, [max(x & 0xFFFF, x >> 16) for x in (word & masks).tolist()])
        np.testing.assert_array_equal(masked, packing.half(word & masks))
