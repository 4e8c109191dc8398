from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting
from envcore.painting import figures

UNITS = painting.Window((2.0, 2.0), 4.0, 1.0)  # 4 by 4 units; (0, 0) is the lower left corner


def at(shape: painting.Shape, x: float, y: float) -> float:
    return float(shape(jnp.full((1, 1), x, jnp.float32), jnp.full((1, 1), y, jnp.float32))[0, 0])


def colors(picture: jax.Array) -> set[tuple[int, ...]]:
    return {tuple(pixel) for pixel in np.asarray(picture).reshape(-1, 3).tolist()}


def middle_of(picture: jax.Array, color: painting.Color) -> np.ndarray:
    """Mean column and row of the pixels of a color, from 0 to 1."""
    rows, columns = np.nonzero((np.asarray(picture) == np.array(color)).all(-1))
    return np.array([columns.mean() + 0.5, rows.mean() + 0.5]) / np.array(picture.shape[1::-1])


@pytest.mark.parametrize(("row", "column"), [(0, 0), (2, 3), (np.int32(1), jnp.int32(2))])
def test_a_cell_is_counted_from_the_upper_left(row, column):
    x, y = figures.cell(row, column, 4)
    picture = painting.paint(40, UNITS, (painting.circle((x, y), 0.4), painting.RED))
    np.testing.assert_allclose(
        middle_of(picture, painting.RED), [(float(column) + 0.5) / 4, (float(row) + 0.5) / 4], atol=0.01
    )
    mask = np.zeros((4, 4), np.bool_)
    mask[row, column] = True
    repeated = painting.paint(40, UNITS, (painting.repeated(painting.circle((0.0, 0.0), 0.4), mask), painting.RED))
    np.testing.assert_array_equal(repeated, picture)


def test_a_board_holds_its_cells():
    window, board = figures.board(3, 6)
    assert window.aspect == 7 / 4
    shape, _ = board
    for row, column in ((0, 0), (2, 5)):
        x, y = figures.cell(row, column, 3)
        assert at(shape, float(x), float(y)) < -0.4
    assert at(shape, -0.4, 1.5) > 0


@pytest.mark.parametrize("share", [-1.0, 0.0, 0.25, 1.0, 7.0])
def test_a_gauge_is_filled_to_its_share(share):
    picture = painting.paint(80, UNITS, *figures.gauge((0.5, 2.0), 3.0, share, painting.RED, width=0.4))
    filled = (np.asarray(picture)[40] == np.array(painting.RED)).all(-1).sum() / 20
    ends = 0.4 if share > 0 else 0
    assert filled == pytest.approx(3 * np.clip(share, 0, 1) + ends, abs=0.15)
    assert tuple(painting.PAPER) in colors(picture)


def test_bars_stand_on_zero_and_hang_from_it():
    bars = figures.bars(np.array([2.0, -1.0, 0.0]), width=0.5)
    assert at(bars, 0.5, 1.9) == pytest.approx(-0.1)
    assert at(bars, 0.5, 2.1) == pytest.approx(0.1)
    assert at(bars, 0.5, -0.1) == pytest.approx(0.1)
    assert at(bars, 0.8, 1.0) == pytest.approx(0.05)
    assert at(bars, 1.5, -0.9) == pytest.approx(-0.1)
    assert at(bars, 1.5, 0.1) == pytest.approx(0.1)
    assert at(bars, 2.5, 0.1) == pytest.approx(0.1)
    assert at(bars, -0.6, 1.0) == pytest.approx(0.85)
    assert at(bars, 9.5, 0.0) == pytest.approx(6.75)


def test_columns_have_their_colors():
    paint = figures.by_column(np.array([True, False]), painting.GREEN, painting.RED)
    window = painting.Window((1.0, 0.5), 1.0, 2.0)
    picture = painting.paint(1, window, (painting.box((1.0, 0.0), (9.0, 9.0)), paint))
    np.testing.assert_array_equal(picture, [[painting.GREEN, painting.RED]])


@pytest.mark.parametrize("theta", [0.0, 0.5, -2.0, 3.0])
def test_a_pole_has_its_angle(theta):
    _, _, _, (pole, _), _ = figures.cart_and_pole(jnp.float32(0.5), jnp.float32(theta), 2.0, 3.0)
    tip = 0.5 + 2 * np.sin(theta), 0.2 + 2 * np.cos(theta)
    assert at(pole, *tip) == pytest.approx(-0.065, abs=1e-5)
    assert at(pole, 0.5 + 2.1 * np.sin(theta), 0.2 + 2.1 * np.cos(theta)) == pytest.approx(0.035, abs=1e-5)


def test_a_car_stands_on_its_hill():
    for position in (-1.1, -0.5, 0.4):
        _, layers = figures.car_on_hill(jnp.float32(position), 0.5, -1.2, 0.6)
        (wheels, color), (ground, _) = layers[-1], layers[3]
        assert color == painting.INK
        level = float(figures.hill(position))
        assert at(wheels, position, level) == pytest.approx(np.hypot(0.075, 0.037) - 0.037, abs=1e-4)
        assert abs(at(ground, position, level)) < 1e-5
