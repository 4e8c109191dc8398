"""Parts that several pictures share."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting
from envcore.painting import Number, figures

_WORST_REGRET = 10_000  # 1 in each of bsuite's episodes


def beads(left: painting.Point, spacing: Number, count: Number, radius: Number) -> painting.Shape:
    """`count` + 1 discs in a row to the right of `left`, the first centered on it, with centers `spacing` apart."""
    x0, y0, spacing, count, radius = (jnp.asarray(value, jnp.float32) for value in (*left, spacing, count, radius))

    def distance(x: jax.Array, y: jax.Array) -> jax.Array:
        number = jnp.clip(jnp.round((x - x0) / spacing), 0, count)
        x, y = x - x0 - number * spacing, y - y0
        return jnp.sqrt(x * x + y * y) - radius

    return distance


def regret(left: painting.Point, length: Number, total: jax.Array, width: Number) -> list[figures.Layer]:
    """A gauge of the regret over all episodes on a logarithmic scale, full at 10,000, with its name on it."""
    share = jnp.log1p(total) / np.float32(np.log1p(_WORST_REGRET))
    name = painting.text("REGRET", (left[0] + 0.02 * length, left[1] - 0.3 * width), 0.6 * width)
    return [*figures.gauge(left, length, share, painting.RED, width), (name, painting.INK)]
