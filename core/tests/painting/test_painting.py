from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting
from envcore.errors import InvalidArgumentError
from switches import switched

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
UNIT = painting.Window((0.5, 0.5), 1.0, 1.0)  # from (0, 0) to (1, 1)


@pytest.mark.parametrize("part", [0.0, 0.25, 0.5, 1.0])
def test_an_edge_covers_its_share_of_a_pixel(part):
    picture = painting.paint(4, UNIT, (painting.half_plane((2 + part) / 4), WHITE), background=BLACK)
    rows = [0, round(255 * part), 255, 255]
    np.testing.assert_array_equal(picture, np.broadcast_to(np.array(rows)[:, None, None], (4, 4, 3)))


def test_x_runs_right_and_y_up():
    window = painting.Window.around(x=(10.0, 14.0), y=(20.0, 22.0), aspect=2.0)
    picture = painting.paint(
        2, window, (painting.box((10.5, 21.5), (1.0, 1.0)), painting.RED), background=painting.BLUE
    )
    expected = np.full((2, 4, 3), painting.BLUE)
    expected[0, 0] = painting.RED
    np.testing.assert_array_equal(picture, expected)


def test_later_layers_cover_earlier_ones():
    layers = [
        (painting.half_plane(0.8), painting.GREEN),
        (painting.half_plane(0.6), painting.BLUE),
        (painting.half_plane(0.4), painting.RED),
    ]
    column = np.asarray(painting.paint(5, UNIT, *layers))[:, 2]
    np.testing.assert_array_equal(column, [painting.PAPER, painting.GREEN, painting.BLUE, painting.RED, painting.RED])


@pytest.mark.slow
def test_shades_interpolate_between_two_colors():
    values = np.array([[0.0, 0.5], [1.0, 0.25]])
    window = painting.Window((1.0, 1.0), 2.0, 1.0)
    everything = painting.box((1.0, 1.0), (4.0, 4.0))
    picture = painting.paint(2, window, (everything, painting.shades(values, (0, 0, 100), (200, 100, 0))))
    expected = [[(0, 0, 100), (100, 50, 50)], [(200, 100, 0), (50, 25, 75)]]
    np.testing.assert_array_equal(picture, expected)


def test_a_shape_at_nan_is_not_painted():
    layers = [(painting.half_plane(0.5), painting.GREEN), (painting.circle((np.nan, 0.5), 0.2), painting.RED)]
    np.testing.assert_array_equal(painting.paint(8, UNIT, *layers), painting.paint(8, UNIT, layers[0]))


def scene(x, angle, level):
    """Every shape, with traced numbers wherever they are allowed."""
    flower = [painting.placed(painting.box((0.2, 0.0), (0.3, 0.1), 0.02 * x), (x, 0.5), angle + i) for i in range(3)]
    return painting.paint(
        48,
        painting.Window.around((0.0, 1.0 + x), (0.0, 1.0), aspect=1.5),
        (painting.half_plane(x - 0.3), (level, 80, 90)),
        (painting.under(lambda x: 0.2 + 0.1 * jnp.sin(9 * x)), painting.GREEN),
        (painting.union(*flower), painting.BLUE),
        (painting.segment((x, 0.5), (x + angle, 0.9), 0.02 + 0.01 * x), painting.ORANGE),
        (painting.arc((x, 0.5), 0.4 * x, angle, 3 * x, 0.05), painting.INK),
        (painting.polygon((x, 0.1), (x + 0.3, 0.1), (x, 0.1 + angle)), painting.YELLOW),
        (painting.shown(painting.circle((x, 0.5), 0.1), angle > 0.5), painting.RED),
    )


def test_x64_mode_changes_nothing():
    numbers = [0.3, 0.6, 100.0]
    expected = jax.jit(scene)(*numbers)
    with switched(jax_enable_x64=True):
        for cast in (float, jnp.float64):
            picture = jax.jit(scene)(*map(cast, numbers))
            assert picture.dtype == jnp.uint8
            np.testing.assert_allclose(np.asarray(picture, int), expected, atol=1)


def test_picture_compiles_once_for_each_height():
    traces = []

    @painting.picture
    def ball(height, x, params):
        traces.append((x.dtype, params["radius"].dtype))
        return painting.paint(height, UNIT, (painting.circle((x, 0.5), params["radius"]), painting.RED))

    with switched(jax_enable_x64=True):
        pictures = [ball(h, jnp.float64(x), {"radius": np.float64(0.1)}) for h in (8, 16) for x in (0.2, 0.8)]
    assert traces == [(jnp.float32, jnp.float32)] * 2
    assert [p.shape for p in pictures] == [(8, 8, 3)] * 2 + [(16, 16, 3)] * 2
    np.testing.assert_array_equal(pictures[0], pictures[1][:, ::-1])
    assert ball.__name__ == "ball"


@pytest.mark.parametrize("height", [0, 2.5])
def test_a_height_must_be_a_positive_integer(height):
    with pytest.raises(InvalidArgumentError, match="height of a picture must be a positive integer, got"):
        painting.paint(height, UNIT)


def test_a_batch_without_vmap_is_refused():
    xs = jnp.linspace(0, 1, 8)
    with pytest.raises(InvalidArgumentError, match=r"got numbers of shape \(8,\). For a batch, use jax.vmap"):
        painting.paint(8, UNIT, (painting.circle((xs, 0.5), 0.1), painting.RED))


ROOT2 = np.sqrt(2)

DISTANCES = {
    "circle, center": (painting.circle((1.0, 2.0), 0.5), (1, 2), -0.5),
    "circle, edge": (painting.circle((1.0, 2.0), 0.5), (1.5, 2), 0),
    "circle, outside": (painting.circle((1.0, 2.0), 0.5), (4, 6), 4.5),
    "segment, on it": (painting.segment((0.0, 0.0), (4.0, 4.0), 0.25), (1, 1), -0.25),
    "segment, beside it": (painting.segment((0.0, 0.0), (4.0, 4.0), 0.25), (0, 2), ROOT2 - 0.25),
    "segment, before its start": (painting.segment((0.0, 0.0), (4.0, 4.0), 0.25), (-3, -4), 4.75),
    "segment, beyond its end": (painting.segment((0.0, 0.0), (4.0, 4.0), 0.25), (7, 8), 4.75),
    "segment, a point": (painting.segment((1.0, 1.0), (1.0, 1.0), 0.25), (4, 5), 4.75),
    "box, center": (painting.box((1.0, 1.0), (4.0, 2.0)), (1, 1), -1),
    "box, side": (painting.box((1.0, 1.0), (4.0, 2.0)), (5, 1.5), 2),
    "box, top": (painting.box((1.0, 1.0), (4.0, 2.0)), (0, 5), 3),
    "box, corner": (painting.box((1.0, 1.0), (4.0, 2.0)), (6, 6), 5),
    "box, round corner": (painting.box((0.0, 0.0), (4.0, 2.0), corner=1.0), (2, 1), ROOT2 - 1),
    "box, side beside round corners": (painting.box((0.0, 0.0), (4.0, 2.0), corner=1.0), (5, 0), 3),
    "polygon, inside": (painting.polygon((0.0, 0.0), (4.0, 0.0), (0.0, 4.0)), (1, 0.5), -0.5),
    "polygon, below": (painting.polygon((0.0, 0.0), (4.0, 0.0), (0.0, 4.0)), (1, -2), 2),
    "polygon, slanted edge": (painting.polygon((0.0, 0.0), (4.0, 0.0), (0.0, 4.0)), (4, 4), 2 * ROOT2),
    "below, under": (painting.half_plane(2.0), (5, -1), -3),
    "below, over": (painting.half_plane(2.0), (5, 4), 2),
    "under a slope": (painting.under(lambda x: x + 1), (0, 3), ROOT2),
    "under a parabola, at its vertex": (painting.under(lambda x: x * x), (0, -2), -2),
    "arc, on it": (painting.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (ROOT2, ROOT2), -0.25),
    "arc, outside it": (painting.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (2 * ROOT2, 2 * ROOT2), 1.75),
    "arc, before its start": (painting.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (2, -3), 2.75),
    "arc, beyond its end": (painting.arc((0.0, 0.0), 2.0, 0.0, np.pi / 2, 0.5), (-3, 2), 2.75),
    "arc, clockwise": (painting.arc((0.0, 0.0), 2.0, 0.0, -np.pi / 2, 0.5), (ROOT2, -ROOT2), -0.25),
    "arc, clockwise, other side": (painting.arc((0.0, 0.0), 2.0, 0.0, -np.pi / 2, 0.5), (2, 3), 2.75),
    "arc, three quarters": (painting.arc((0.0, 0.0), 2.0, 0.0, 3 * np.pi / 2, 0.5), (-ROOT2, -ROOT2), -0.25),
    "arc, the missing quarter": (painting.arc((0.0, 0.0), 2.0, 0.0, 3 * np.pi / 2, 0.5), (2, -1), 0.75),
    "arc, whole circle": (painting.arc((1.0, 0.0), 2.0, 0.0, 2 * np.pi, 0.5), (4, 0), 0.75),
    "union, the nearer": (
        painting.union(painting.circle((0.0, 0.0), 1.0), painting.circle((9.0, 0.0), 2.0)),
        (5, 0),
        2,
    ),
    "placed": (painting.placed(painting.box((2.0, 0.0), (2.0, 1.0)), (10.0, 10.0), np.pi / 2), (10, 12), -0.5),
    "placed, its end": (painting.placed(painting.box((2.0, 0.0), (2.0, 1.0)), (10.0, 10.0), np.pi / 2), (10, 15), 2),
    "shown": (painting.shown(painting.circle((0.0, 0.0), 1.0), True), (3, 0), 2),
    "not shown": (painting.shown(painting.circle((0.0, 0.0), 1.0), False), (0, 0), np.inf),
}


def grid(shape, at):
    return shape(jnp.full((1, 1), at[0], jnp.float32), jnp.full((1, 1), at[1], jnp.float32))


@pytest.mark.parametrize(("shape", "at", "expected"), DISTANCES.values(), ids=DISTANCES)
def test_distances(shape, at, expected):
    distance = grid(shape, at)
    assert distance.dtype == jnp.float32
    np.testing.assert_allclose(distance, expected, atol=2e-6)


def test_text_is_made_of_pixels():
    window = painting.Window.around(x=(0.0, 8.0), y=(0.0, 5.0), aspect=1.6)
    picture = painting.paint(5, window, (painting.text("H?", (0.0, 0.0), 5.0), WHITE), background=BLACK)
    lines = ["".join(".#"[int(pixel > 0)] for pixel in row) for row in np.asarray(picture)[..., 0]]
    assert lines == ["#.#.##..", "#.#...#.", "###..#..", "#.#.....", "#.#..#.."]
    with pytest.raises(KeyError, match="h"):
        painting.text("h?", (0.0, 0.0), 5.0)


def test_repeated_shapes_end_with_their_cells():
    copies = painting.repeated(painting.circle((0.0, 0.0), 9.0), np.array([[True, False]]))
    assert grid(copies, (0.99, 0.5)) < 0
    assert all(grid(copies, at) == np.inf for at in ((1.01, 0.5), (-0.01, 0.5), (0.5, 1.01)))
