"""What several of bsuite's pictures are made of."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import draw, figures
from envcore.environment import EnvState
from envcore.errors import PictureError

_WORST_REGRET = 10_000  # 1 in each of the episodes that bsuite plays


def check_single(state: EnvState) -> None:
    """Raises PictureError where `state` is a batch of states, for pictures that index arrays with what it holds."""
    if shape := jnp.shape(state.time):
        raise PictureError(f"a picture shows one state, got times of shape {shape}: for a batch, use jax.vmap.")


def cell(row: jax.Array, column: jax.Array, rows: int) -> draw.Point:
    """The middle of a cell, given by integers, of a grid whose row 0 is the uppermost."""
    return figures.cell(row.astype(jnp.float32), column.astype(jnp.float32), rows)


def scaled(shape: draw.Shape, origin: draw.Point, scale: Any) -> draw.Shape:
    """The shape enlarged by a factor `scale` > 0 about (0, 0), which then moves to `origin`."""
    x0, y0, scale = (jnp.asarray(value, jnp.float32) for value in (*origin, scale))
    return lambda x, y: scale * shape((x - x0) / scale, (y - y0) / scale)


def beads(left: draw.Point, spacing: Any, count: Any, radius: Any) -> draw.Shape:
    """`count` + 1 discs in a row to the right of `left`, the first about it, their centres `spacing` apart."""
    x0, y0, spacing, count, radius = (jnp.asarray(value, jnp.float32) for value in (*left, spacing, count, radius))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        number = jnp.clip(jnp.round((x - x0) / spacing), 0, count)
        x, y = x - x0 - number * spacing, y - y0
        return jnp.sqrt(x * x + y * y) - radius

    return distance


def ring(centre: draw.Point, radius: Any, width: Any) -> draw.Shape:
    """A circle's line, `width` thick."""
    disc = draw.circle(centre, radius)
    return lambda x, y: jnp.abs(disc(x, y)) - jnp.asarray(width, jnp.float32) / 2


def regret(left: draw.Point, length: Any, total: jax.Array, width: Any) -> list[figures.Layer]:
    """A gauge of the regret over all episodes on a logarithmic scale, which 10,000 fills."""
    share = jnp.log1p(total) / np.float32(np.log1p(_WORST_REGRET))
    return figures.gauge(left, length, share, draw.RED, width)
