"""Calls an environment's `render`, checks the type of its pictures, and fits them into a size."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError
from envcore.painting import checked_height
from envcore.typing import PyTree


def render_instant(env: Environment, state: PyTree, params: PyTree, height: int) -> jax.Array:
    """Renders one time step: a single state, a batch if `env` is one, or several states along an extra leading axis."""

    def render(state: PyTree) -> jax.Array:
        return env.render(state, params, height=height)

    return (jax.vmap(render) if jnp.ndim(state.time) > len(env.batch_shape) else render)(state)


def picture_struct(env: Environment, state: PyTree, params: PyTree, height: object) -> jax.ShapeDtypeStruct:
    """Returns the shape and dtype of the picture that `env.render` returns, without rendering it.

    Args:
      env: the environment.
      state: a state or its `jax.ShapeDtypeStruct`s, or several along a leading axis.
      params: as for `render`.
      height: height of the picture in pixels.

    Returns:
      uint8 (height, width, 3), with the axes of `state.time` in front.

    Raises:
      InvalidArgumentError: the height is not a positive integer.
      EnvironmentDefinitionError: `render` returns something else.
      NoPictureError: the environment does not implement `render`.
    """
    height = checked_height(height)
    picture = jax.eval_shape(lambda state, params: render_instant(env, state, params, height), state, params)
    batch, shape = np.shape(state.time), tuple[int, ...](getattr(picture, "shape", ()))
    if shape != (*batch, height, *shape[-2:-1], 3) or not shape[-2] or picture.dtype != jnp.uint8:
        returned = f"{picture.dtype}{list(shape)}" if hasattr(picture, "dtype") else f"a {type(picture).__name__}"
        raise EnvironmentDefinitionError(
            f"{env.name}.render(state, params, height={height}) returns {returned}: it must return uint8 "
            f"{[*batch, height, 'width', 3]}."
        )
    return picture


@functools.lru_cache
def fitting_height(env: Environment, size: tuple[int, int]) -> int:
    """Returns the largest height at which the environment's picture fits into `size`, (height, width) in pixels."""
    height = size[0]
    while height > 0:
        width = picture_struct(env, arguments.state_struct(env), env.default_params, height).shape[-2]
        if width <= size[1]:
            return height
        height = min(height - 1, height * size[1] // width + 1)  # `render` rounds the width
    raise InvalidArgumentError(
        f"{env.name}'s picture does not fit into {size[0]} x {size[1]} pixels: choose a larger size."
    )


def margins(shape: Sequence[int], size: tuple[int, int]) -> list[tuple[int, int]]:
    """Returns the padding that centers a picture of shape (height, width, ...) in `size`."""
    spare = [side - rendered for side, rendered in zip(size, shape[:2], strict=True)]
    return [(each // 2, each - each // 2) for each in spare] + [(0, 0)] * (len(shape) - 2)
