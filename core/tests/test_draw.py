from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import draw
from envcore.errors import InvalidArgumentError
from flax import struct
from switches import switched

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
UNIT = draw.Window((0.5, 0.5), 1.0, 1.0)  # from (0, 0) to (1, 1)
ROOT2 = np.sqrt(2)

DISTANCES = {
    "circle, centre": (draw.circle((1.0, 2.0), 0.5), (1, 2), -0.5),
    "circle, edge": (draw.circle((1.0, 2.0), 0.5), (1.5, 2), 0),
    "circle, outside": (draw.circle((1.0, 2.0), 0.5), (4, 6), 4.5),
    "segment, on it": (draw.segment((0.0, 0.0), (4.0, 4.0), 0.25), (1, 1), -0.25),
    "segment, beside it": (draw.segment((0.0, 0.0), (4.0, 4.0), 0.25), (0, 2), ROOT2 - 0.25),
    "segment, before its start": (draw.segment((0.0, 0.0), (4.0, 4.0), 0.25), (-3, -4), 4.75),
    "segment, behind its end": (draw.segment((0.0, 0.0), (4.0, 4.0), 0.25), (7, 8), 4.75),
    "segment, a point": (draw.segment((1.0, 1.0), (1.0, 1.0), 0.25), (4, 5), 4.75),
    "box, centre": (draw.box((1.0, 1.0), (4.0, 2.0)), (1, 1), -1),
    "box, side": (draw.box((1.0, 1.0), (4.0, 2.0)), (5, 1.5), 2),
    "box, top": (draw.box((1.0, 1.0), (4.0, 2.0)), (0, 5), 3),
    "box, corner": (draw.box((1.0, 1.0), (4.0, 2.0)), (6, 6), 5),
    "box, round corner": (draw.box((0.0, 0.0), (4.0, 2.0), corner=1.0), (2, 1), ROOT2 - 1),
    "box, side beside round corners": (draw.box((0.0, 0.0), (4.0, 2.0), corner=1.0), (5, 0), 3),
    "polygon, inside": (draw.polygon((0.0, 0.0), (4.0, 0.0), (0.0, 4.0)), (1, 0.5), -0.5),
    "polygon, below": (draw.polygon((0.0, 0.0), (4.0, 0.0), (0.0, 4.0)), (1, -2), 2),
    "polygon, slanted edge": (draw.polygon((0.0, 0.0), (4.0, 0.0), (0.0, 4.0)), (4, 4), 2 * ROOT2),
    "below, under": (draw.below(2.0), (5, -1), -3),
    "below, over": (draw.below(2.0), (5, 4), 2),
    "under a slope": (draw.under(lambda x: x + 1), (0, 3), ROOT2),
    "under a parabola, at its vertex": (draw.under(lambda x: x * x), (0, -2), -2),
    "arc, on it": (draw.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (ROOT2, ROOT2), -0.25),
    "arc, outside it": (draw.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (2 * ROOT2, 2 * ROOT2), 1.75),
    "arc, before its start": (draw.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (2, -3), 2.75),
    "arc, behind its end": (draw.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (-3, 2), 2.75),
    "arc, clockwise": (draw.arc((0.0, 0.0), 2.0, 0.0, -np.pi / 2, 0.5), (ROOT2, -ROOT2), -0.25),
    "arc, clockwise, other side": (draw.arc((0.0, 0.0), 2.0, 0.0, -np.pi / 2, 0.5), (2, 3), 2.75),
    "arc, three quarters": (draw.arc((0.0, 0.0), 2.0, 0.0, 3 * np.pi / 2, 0.5), (-ROOT2, -ROOT2), -0.25),
    "arc, the missing quarter": (draw.arc((0.0, 0.0), 2.0, 0.0, 3 * np.pi / 2, 0.5), (2, -1), 0.75),
    "arc, whole circle": (draw.arc((1.0, 0.0), 2.0, 0.0, 2 * np.pi, 0.5), (4, 0), 0.75),
    "union, the nearer": (draw.union(draw.circle((0.0, 0.0), 1.0), draw.circle((9.0, 0.0), 2.0)), (5, 0), 2),
    "placed": (draw.placed(draw.box((2.0, 0.0), (2.0, 1.0)), (10.0, 10.0), np.pi / 2), (10, 12), -0.5),
    "placed, its end": (draw.placed(draw.box((2.0, 0.0), (2.0, 1.0)), (10.0, 10.0), np.pi / 2), (10, 15), 2),
    "shown": (draw.shown(draw.circle((0.0, 0.0), 1.0), True), (3, 0), 2),
    "not shown": (draw.shown(draw.circle((0.0, 0.0), 1.0), False), (0, 0), np.inf),
}


def grid(shape, at):
    return shape(jnp.full((1, 1), at[0], jnp.float32), jnp.full((1, 1), at[1], jnp.float32))


@pytest.mark.parametrize(("shape", "at", "expected"), DISTANCES.values(), ids=DISTANCES)
def test_distances(shape, at, expected):
    distance = grid(shape, at)
    assert distance.dtype == jnp.float32
    np.testing.assert_allclose(distance, expected, atol=2e-6)


@pytest.mark.parametrize("part", [0.0, 0.25, 0.5, 1.0])
def test_an_edge_covers_its_share_of_a_pixel(part):
    picture = draw.paint(4, UNIT, (draw.below((2 + part) / 4), WHITE), background=BLACK)
    rows = [0, round(255 * part), 255, 255]
    np.testing.assert_array_equal(picture, np.broadcast_to(np.array(rows)[:, None, None], (4, 4, 3)))


def test_an_edge_is_one_pixel_wide_at_any_size():
    for height in (10, 100):
        line = draw.paint(height, UNIT, (draw.circle((0.0, 0.5), 0.617), WHITE), background=BLACK)[height // 2, :, 0]
        assert (line[:-1] >= line[1:]).all()
        assert ((line > 0) & (line < 255)).sum() in (1, 2)


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (draw.circle((0.45, 0.5), 0.3), np.pi * 0.3**2),
        (draw.placed(draw.box((0.0, 0.0), (0.5, 0.3)), (0.5, 0.5), 0.4), 0.15),
        (draw.polygon((0.1, 0.1), (0.8, 0.2), (0.4, 0.9)), 0.265),
        (draw.segment((0.3, 0.3), (0.7, 0.6), 0.1), 0.1 + np.pi * 0.1**2),
        (draw.under(lambda x: x * x), 1 / 3),
        (draw.arc((0.5, 0.5), 0.3, 0.3, 2.0, 0.1), 2.0 * 0.3 * 0.1 + np.pi * 0.05**2),
    ],
    ids=["circle", "box", "polygon", "segment", "under", "arc"],
)
def test_a_shape_covers_its_area(shape, area):
    picture = draw.paint(100, UNIT, (shape, WHITE), background=BLACK)
    assert picture.astype(jnp.float32).mean() / 255 == pytest.approx(area, rel=0.01)


def test_x_runs_right_and_y_up():
    window = draw.Window.around(x=(10.0, 14.0), y=(20.0, 22.0), aspect=2.0)
    picture = draw.paint(2, window, (draw.box((10.5, 21.5), (1.0, 1.0)), draw.RED), background=draw.BLUE)
    expected = np.full((2, 4, 3), draw.BLUE)
    expected[0, 0] = draw.RED
    np.testing.assert_array_equal(picture, expected)


@pytest.mark.parametrize(("x", "y", "height"), [((0.0, 6.0), (0.0, 1.0), 2.0), ((0.0, 1.0), (-2.0, 3.0), 5.0)])
def test_a_window_shows_all_that_it_is_put_around(x, y, height):
    window = draw.Window.around(x, y, aspect=3.0)
    assert window.centre == (sum(x) / 2, sum(y) / 2)
    assert window.height == height
    assert draw.paint(7, window).shape == (7, 21, 3)


def test_later_layers_cover_earlier_ones():
    layers = [(draw.below(0.8), draw.GREEN), (draw.below(0.6), draw.BLUE), (draw.below(0.4), draw.RED)]
    column = np.asarray(draw.paint(5, UNIT, *layers))[:, 2]
    np.testing.assert_array_equal(column, [draw.PAPER, draw.GREEN, draw.BLUE, draw.RED, draw.RED])


def test_a_shape_that_is_nowhere_is_left_out():
    layers = [(draw.below(0.5), draw.GREEN), (draw.circle((np.nan, 0.5), 0.2), draw.RED)]
    np.testing.assert_array_equal(draw.paint(8, UNIT, *layers), draw.paint(8, UNIT, layers[0]))


def scene(x, angle, level):
    """Every shape, with traced numbers wherever there may be any."""
    flower = [draw.placed(draw.box((0.2, 0.0), (0.3, 0.1), 0.02 * x), (x, 0.5), angle + i) for i in range(3)]
    return draw.paint(
        48,
        draw.Window.around((0.0, 1.0 + x), (0.0, 1.0), aspect=1.5),
        (draw.below(x - 0.3), (level, 80, 90)),
        (draw.under(lambda x: 0.2 + 0.1 * jnp.sin(9 * x)), draw.GREEN),
        (draw.union(*flower), draw.BLUE),
        (draw.segment((x, 0.5), (x + angle, 0.9), 0.02 + 0.01 * x), draw.ORANGE),
        (draw.arc((x, 0.5), 0.4 * x, angle, 3 * x, 0.05), draw.INK),
        (draw.polygon((x, 0.1), (x + 0.3, 0.1), (x, 0.1 + angle)), draw.YELLOW),
        (draw.shown(draw.circle((x, 0.5), 0.1), angle > 0.5), draw.RED),
    )


NUMBERS = np.array([[0.3, 0.5, 0.7], [0.2, 0.6, 1.1], [0, 100, 255]], np.float32)  # x, angle, level


def test_transformations_give_the_same_picture():
    one = jax.jit(scene)
    pictures = np.stack([one(*numbers) for numbers in NUMBERS.T])
    assert pictures.shape == (3, 48, 72, 3)
    assert pictures.dtype == np.uint8
    arrays = tuple(jnp.asarray(NUMBERS))
    scanned = jax.lax.scan(lambda carry, numbers: (carry, scene(*numbers)), None, arrays)[1]
    for others in (jax.jit(jax.vmap(scene))(*arrays), scanned):
        assert others.dtype == jnp.uint8
        np.testing.assert_allclose(np.asarray(others, int), pictures, atol=1)  # rounding may fall either way
    assert (pictures[0] != pictures[1]).any(-1).mean() > 0.1


def test_jit_changes_nothing():
    def paint(x):
        return draw.paint(16, UNIT, (draw.segment((x, 0.2), (0.8, x), 0.1), draw.BLUE), (draw.below(x), draw.RED))

    eager = paint(0.3)
    assert isinstance(eager, jax.Array)
    assert eager.dtype == jnp.uint8
    np.testing.assert_allclose(np.asarray(eager, int), jax.jit(paint)(0.3), atol=1)


def test_x64_mode_changes_nothing():
    numbers = [0.3, 0.6, 100.0]
    expected = jax.jit(scene)(*numbers)
    with switched(jax_enable_x64=True):
        for cast in (float, jnp.float64):
            picture = jax.jit(scene)(*map(cast, numbers))
            assert picture.dtype == jnp.uint8
            np.testing.assert_allclose(np.asarray(picture, int), expected, atol=1)


@struct.dataclass
class Ball:
    x: Any
    time: Any = 0


def test_picture_compiles_once_for_each_height():
    traces = []

    @draw.picture
    def ball(state, params, height):
        traces.append((state.x.dtype, params["radius"].dtype))
        return draw.paint(height, UNIT, (draw.circle((state.x, 0.5), params["radius"]), draw.RED))

    with switched(jax_enable_x64=True):
        pictures = [ball(Ball(jnp.float64(x)), {"radius": np.float64(0.1)}, h) for h in (8, 16) for x in (0.2, 0.8)]
    assert traces == [(jnp.float32, jnp.float32)] * 2
    assert [p.shape for p in pictures] == [(8, 8, 3)] * 2 + [(16, 16, 3)] * 2
    np.testing.assert_array_equal(pictures[0], pictures[1][:, ::-1])
    assert ball.__name__ == "ball"


def test_a_picture_compiles_once_for_each_of_its_options():
    traces = []

    @draw.picture
    def ball(state, params, height, radius, colour):
        traces.append(radius)
        return draw.paint(height, UNIT, (draw.circle((state.x, 0.5), radius), colour))

    pictures = [ball(Ball(0.5), None, 8, radius, draw.RED) for radius in (0.1, 0.1, 0.4)]
    assert traces == [0.1, 0.4]
    np.testing.assert_array_equal(pictures[0], pictures[1])
    assert (pictures[0] != pictures[2]).any()


def test_a_picture_of_a_batch_of_states_is_refused_before_it_is_painted():
    ball = draw.picture(lambda *_: pytest.fail("painted"))
    with pytest.raises(
        InvalidArgumentError, match=r"one state, got numbers of shape \(8,\): for a batch, use jax.vmap"
    ):
        ball(Ball(jnp.zeros(8), jnp.zeros(8)), None, 8)


@pytest.mark.parametrize("height", [0, -3, 2.5, None, "64"])
def test_a_height_must_be_a_positive_integer(height):
    with pytest.raises(InvalidArgumentError, match="height of a picture must be a positive integer, got"):
        draw.paint(height, UNIT)


def test_a_height_that_no_machine_can_paint_is_refused_before_it_is_tried():
    with pytest.raises(InvalidArgumentError, match=r"at most 65,536, got 9{20}$"):
        draw.paint(int("9" * 20), UNIT)


def test_numpy_integers_are_heights():
    height: Any = np.int64(3)
    assert draw.paint(height, UNIT).shape == (3, 3, 3)


def test_a_batch_without_vmap_is_refused():
    xs = jnp.linspace(0, 1, 8)
    with pytest.raises(
        InvalidArgumentError, match=r"one state, got numbers of shape \(8,\): for a batch, use jax.vmap"
    ):
        draw.paint(8, UNIT, (draw.circle((xs, 0.5), 0.1), draw.RED))
