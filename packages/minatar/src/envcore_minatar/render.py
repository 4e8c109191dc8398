"""Pictures of MinAtar's games: uint8 (height, height, 3)."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from envcore import draw

# One colour a channel, in the order of the observation's channels; the first is behind the others.
_COLOURS = np.array(
    [draw.BLUE, draw.ORANGE, draw.YELLOW, draw.RED, draw.GREEN, draw.STONE, draw.INK, draw.SHADE], np.uint8
)


@functools.partial(jax.jit, static_argnums=1, inline=True)
def draw_grid(obs: jax.Array, height: int) -> jax.Array:
    """The observation, bool (10, 10, channels), as coloured cells; where channels overlap, the first one shows."""
    cells = jnp.broadcast_to(jnp.asarray(draw.PAPER, jnp.uint8), (10, 10, 3))
    for channel in reversed(range(obs.shape[-1])):
        cells = jnp.where(obs[..., channel, None], jnp.asarray(_COLOURS[channel]), cells)
    index = np.arange(height) * 10 // height
    return cells[index][:, index]
