"""Batches of states with chosen fields, and their pictures."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from envcore.environment import Environment
from picture_checks import state_of

KEY = jax.random.key(0)
SAND, RAIN = (231, 214, 172), (109, 146, 199)


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
