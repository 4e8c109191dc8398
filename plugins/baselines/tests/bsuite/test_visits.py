"""Counts of visits: what is one place, what is counted, and what happens where two places meet in the table."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_baselines.bsuite import visits
from envcore_baselines.bsuite.visits import Visits


def visited(observations: np.ndarray) -> tuple[Visits, list[int]]:
    """The visits of observations, (N, size), one after the other, and their cells; action 1 is taken in each."""

    def step(seen: Visits, obs: jax.Array) -> tuple[Visits, jax.Array]:
        seen, cell = visits.visit(seen, obs)
        return visits.count(seen, cell, jnp.int32(1)), cell

    start = visits.empty(2)
    seen, cells = jax.jit(lambda obs: jax.lax.scan(step, start, obs))(observations.astype(np.float32))
    return seen, np.asarray(cells).tolist()


def test_equal_observations_are_one_place() -> None:
    _, cells = visited(np.array([[0, 1], [1, 0], [0, 1], [-0.0, 1], [0, 1 + 1e-6]]))
    first, swapped, *same, close = cells
    assert same == [first, first]
    assert len({first, swapped, close}) == 3


def test_visits_are_counted_by_action() -> None:
    seen, cells = visited(np.array([[0], [1], [1], [0], [1]]))
    counts = visits.counts(seen, jnp.array([cells[0], cells[1]]))
    np.testing.assert_array_equal(counts, [[0, 2], [0, 3]])
    assert float(seen.recurrence) == pytest.approx(3 / 5)


def test_the_squares_of_a_board_are_places() -> None:
    _, cells = visited(np.eye(2_500)[:400])
    assert len(set(cells)) > 395


def test_a_place_whose_cell_is_taken_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "CELLS", 1)
    seen, cells = visited(np.array([[0], [1], [1], [0]]))
    assert cells == [0, -1, -1, 0]
    assert visits.counts(seen, jnp.array([0])).tolist() == [[0, 2]]
    assert visits.counts(seen, jnp.array([-1])).tolist() == [[np.inf, np.inf]]
    assert float(seen.recurrence) == pytest.approx(1 / 4)
