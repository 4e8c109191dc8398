"""Pictures of the environments that `FromGymnax` brings in."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import painting, spaces
from envcore.painting import figures
from jax import lax

from envcore_bridges.base import default_numerics
from envcore_bridges.gymnax import kinetix

_CELL = 8  # pixels of a grid's cell
_BARS = 64  # at the most
_COLORS = np.array(
    [painting.BLUE, painting.ORANGE, painting.GREEN, painting.RED, painting.YELLOW, painting.STONE, painting.INK],
    np.float32,
)


def picture(env: Any, state: Any, obs: Any, space: spaces.Space) -> jax.Array | None:
    """The picture of a state, uint8 (height, width, 3) at a size of its own; None if there is nothing to draw."""
    renderer = _renderer(env)
    if renderer is not None:
        return _bytes(renderer(state))
    arrays = [x for x in jax.tree.leaves(obs) if jnp.size(x)]
    if not arrays:
        return None
    if len(arrays) == 1 and arrays[0].ndim == 3 and arrays[0].shape[-1] == 3 and arrays[0].dtype == np.uint8:
        return arrays[0]
    if len(arrays) == 1 and arrays[0].ndim in (2, 3) and min(arrays[0].shape[:2]) > 1:
        return _grid(arrays[0])
    return _bars(jnp.concatenate([jnp.ravel(x).astype(jnp.float32) for x in arrays]), space)


@functools.lru_cache(maxsize=64)
def _renderer(env: Any) -> Callable[[Any], jax.Array] | None:
    """The library's own renderer, made once: it loads textures."""
    library = type(env).__module__.partition(".")[0]
    with default_numerics(), jax.ensure_compile_time_eval():
        if library == "craftax":
            return _craftax(".".join(type(env).__module__.split(".")[:2]))
        if library == "kinetix":
            return kinetix.renderer(env)
    if library in ("gymnax", "envcore_gymnax"):
        return _CLASSIC.get(type(env).__name__)
    return None


def _craftax(package: str) -> Callable[[Any], jax.Array]:
    constants, renderer = (importlib.import_module(f"{package}.{name}") for name in ("constants", "renderer"))
    return renderer.make_craftax_pixel_renderer(constants.BLOCK_PIXEL_SIZE_IMG)


def _cart(state: Any) -> jax.Array:
    window = painting.Window.around(x=(-3.0, 3.0), y=(-0.75, 2.25), aspect=2.0)
    return painting.paint(256, window, *figures.cart_and_pole(state.x, state.theta, 1.0, 2.4))


def _car(state: Any) -> jax.Array:
    window, layers = figures.car_on_hill(state.position, 0.5, -1.2, 0.6)
    return painting.paint(256, window, *layers)


_CLASSIC: dict[str, Callable[[Any], jax.Array]] = {
    "CartPole": _cart,
    "MountainCar": _car,
    "ContinuousMountainCar": _car,
}


def _grid(grid: jax.Array) -> jax.Array:
    """A grid, its cells in the color of their last channel that is not 0, or of their value if there is one channel."""
    grid = grid.astype(jnp.float32)
    paper = jnp.asarray(painting.PAPER, jnp.float32)
    if grid.ndim == 2:
        share = grid / jnp.maximum(jnp.abs(grid).max(), 1e-6)
        ink = jnp.asarray(painting.INK, jnp.float32)
        pixels = paper + jnp.abs(share)[..., None] * (ink - paper)
    else:
        pixels = jnp.broadcast_to(paper, (*grid.shape[:2], 3))
        for channel in range(grid.shape[-1]):
            here = grid[..., channel, None] != 0
            pixels = jnp.where(here, jnp.asarray(_COLORS[channel % len(_COLORS)]), pixels)
    return jnp.repeat(jnp.repeat(_bytes(pixels), _CELL, axis=0), _CELL, axis=1)


def _bars(values: jax.Array, space: spaces.Space) -> jax.Array:
    """A bar for each number, up from the line where it is positive; one without known bounds is squashed."""
    step = -(-len(values) // _BARS)
    values, limit = values[::step], _limit(space, len(values))[::step]
    share = jnp.where(jnp.isfinite(limit), values / jnp.maximum(limit, 1e-6), jnp.tanh(values))
    count = len(values)
    window = painting.Window.around(x=(-0.25, count + 0.25), y=(-count / 3 - 0.2, count / 3 + 0.2), aspect=1.5)
    line = painting.box((count / 2, 0.0), (count, 0.02 * count)), painting.STONE
    bars = figures.bars(jnp.clip(share, -1, 1) * (count / 3))
    return painting.paint(256, window, line, (bars, painting.BLUE))


def _limit(space: spaces.Space, count: int) -> jax.Array:
    """The largest absolute value that each number can have; infinite where it is not known."""
    if isinstance(space, spaces.Discrete):
        return jnp.full(1, space.n - 1, jnp.float32)
    if not isinstance(space, spaces.Box):
        return jnp.full(count, jnp.inf, jnp.float32)
    low, high = (jnp.abs(jnp.asarray(bound, jnp.float32)).ravel() for bound in (space.low, space.high))
    limit = jnp.maximum(low, high)
    return jnp.where(limit < 1e6, limit, jnp.inf)


def _bytes(pixels: jax.Array) -> jax.Array:
    return lax.stop_gradient(jnp.clip(jnp.round(pixels), 0, 255)).astype(jnp.uint8)
