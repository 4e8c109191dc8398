from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting

BLACK, WHITE = (0, 0, 0), (255, 255, 255)
UNIT = painting.Window((0.5, 0.5), 1.0, 1.0)  # from (0, 0) to (1, 1)
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


@pytest.mark.parametrize(
    ("shape", "area"),
    [
        (painting.circle((0.45, 0.5), 0.3), np.pi * 0.3**2),
        (painting.placed(painting.box((0.0, 0.0), (0.5, 0.3)), (0.5, 0.5), 0.4), 0.15),
        (painting.polygon((0.1, 0.1), (0.8, 0.2), (0.4, 0.9)), 0.265),
        (painting.segment((0.3, 0.3), (0.7, 0.6), 0.1), 0.1 + np.pi * 0.1**2),
        (painting.under(lambda x: x * x), 1 / 3),
        (painting.arc((0.5, 0.5), 0.3, 0.3, 2.0, 0.1), 2.0 * 0.3 * 0.1 + np.pi * 0.05**2),
    ],
    ids=["circle", "box", "polygon", "segment", "under", "arc"],
)
def test_a_shape_covers_its_area(shape, area):
    picture = painting.paint(100, UNIT, (shape, WHITE), background=BLACK)
    assert picture.astype(jnp.float32).mean() / 255 == pytest.approx(area, rel=0.01)


def test_repeated_shapes_end_with_their_cells():
    copies = painting.repeated(painting.circle((0.0, 0.0), 9.0), np.array([[True, False]]))
    assert grid(copies, (0.99, 0.5)) < 0
    assert all(grid(copies, at) == np.inf for at in ((1.01, 0.5), (-0.01, 0.5), (0.5, 1.01)))
