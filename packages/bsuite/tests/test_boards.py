from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from envcore_bsuite import boards


@pytest.mark.parametrize(("rows", "columns"), [(10, 5), (3, 3), (1, 1)])
def test_every_cell(rows: int, columns: int) -> None:
    for row, column in np.ndindex(rows, columns):
        expected = np.zeros((rows, columns), np.float32)
        expected[row, column] = expected[rows - 1, 0] = 1
        pieces = [(jnp.int32(row), jnp.int32(column)), (jnp.int32(rows - 1), jnp.int32(0))]
        np.testing.assert_array_equal(boards.show(pieces, rows, columns), expected, strict=True)


def test_a_piece_below_the_last_row_is_not_shown() -> None:
    assert not boards.show([(jnp.int32(4), jnp.int32(0))], 4, 4).any()
