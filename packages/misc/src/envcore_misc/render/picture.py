"""What makes a function that paints a state into a picture of an environment with options."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from envcore import trees
from envcore.errors import PictureError


def picture(draw: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """As `envcore.draw.picture`, for functions `draw(state, params, height, *options)` of hashable options.

    What it returns takes the options as one tuple, `()` by default.

    Raises:
      PictureError: the state is a batch of states.
    """

    @functools.partial(jax.jit, static_argnums=(2, 3), inline=True)
    def compiled(state: Any, params: Any, height: int, options: tuple[Any, ...] = ()) -> jax.Array:
        if batch := jnp.shape(state.time):
            raise PictureError(f"a picture shows one state, got numbers of shape {batch}: for a batch, use jax.vmap.")
        return draw(trees.narrow(state), trees.narrow(params), height, *options)

    return compiled
