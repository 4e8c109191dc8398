"""The bits of words: rows and observations against numpy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import fusion
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


@pytest.mark.parametrize(("board", "reason"), [(np.full((10, 10), 2), "zeros and ones"), (np.zeros((9, 10)), "shape")])
def test_what_is_not_a_board(board: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        packing.from_board(board)


def compiled_reader(env: Any) -> tuple[str, Any, Any]:
    """What XLA makes of 16 observations that are read as flat float32: its text, what it gives, and what it should."""
    states = jax.vmap(env.reset)(jax.random.split(jax.random.key(0), 16))[1]
    read = jax.vmap(lambda state: env.get_obs(state).reshape(-1).astype(jnp.float32))
    compiled = jax.jit(read).lower(states).compile()
    expected = np.asarray(jax.vmap(env.get_obs)(states)).reshape(16, -1).astype(np.float32)
    return str(compiled.as_text()), compiled(states), expected


@pytest.mark.skipif(vars(fusion)["set_xla_metadata"] is None, reason="this JAX cannot keep XLA from fusing")
@pytest.mark.parametrize("env", [Seaquest(), SpaceInvaders()])
def test_a_network_converts_flat_cells(env: Any) -> None:
    """XLA reads what is behind a reshape in rows too slowly: the boundary before the conversion must be flat."""
    text, found, expected = compiled_reader(env)
    assert f"pred[16,{100 * len(env.channels)}]{{1,0}} call(" in text
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("env", [Asterix(), Breakout(), Freeway()])
def test_a_network_compares_and_converts_in_one_loop(env: Any) -> None:
    """Cells are compared where they are read: no observation of bools is stored."""
    text, found, expected = compiled_reader(env)
    assert "pred[16," not in text[text.index("ENTRY") :]
    np.testing.assert_array_equal(found, expected)
