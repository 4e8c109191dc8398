"""Pictures of states with chosen fields, and where their colors are."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from envcore import painting
from envcore.environment import Environment

KEY = jax.random.key(0)
SAND, RAIN = (231, 214, 172), (109, 146, 199)


@functools.cache
def blank(env: Environment) -> Any:
    """A state of zeros."""
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(env.reset, KEY)[1])


def state_of(env: Environment, **fields: Any) -> Any:
    """A state with some fields set, the others 0."""
    state = blank(env)
    return state.replace(**{name: np.asarray(value, getattr(state, name).dtype) for name, value in fields.items()})


def states_of(env: Environment, **fields: Any) -> Any:
    """A batch of states: the fields that are given, one value per state, and the others 0."""
    return jax.tree.map(
        lambda *leaves: np.stack(leaves),
        *(state_of(env, **dict(zip(fields, values, strict=True))) for values in zip(*fields.values(), strict=True)),
    )


def pictures_of(env: Environment, states: Any, height: int) -> jax.Array:
    """Pictures of states with the default params, by one program for environments that differ in settings."""
    return render_states(env, states, env.default_params, height)


@functools.partial(jax.jit, static_argnums=(0, 3))
def render_states(env: Environment, states: Any, params: Any, height: int) -> jax.Array:
    return jax.vmap(lambda state: env.render(state, params, height=height))(states)


def near(pictures: jax.Array, color: painting.Color, tolerance: int = 2) -> Any:
    """Where pictures have a color, bool (..., height, width)."""
    return np.all(np.abs(np.asarray(pictures, np.int16) - np.array(color, np.int16)) <= tolerance, axis=-1)


def middle(picture: jax.Array, color: painting.Color, tolerance: int = 2) -> np.ndarray:
    """Mean position of a color, (x, y) from the picture's center, y up, in units of the picture's height."""
    rows, columns = np.nonzero(near(picture, color, tolerance))
    height, width = picture.shape[:2]
    return np.array([columns.mean() - (width - 1) / 2, (height - 1) / 2 - rows.mean()]) / height
