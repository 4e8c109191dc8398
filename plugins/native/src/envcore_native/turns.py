"""The step and reset functions behind `Stepper`, for one environment or a batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random
from envcore.engine import arguments
from envcore.engine.stepping import own_info
from envcore.environment import Environment
from envcore.typing import PyTree

Spend = Callable[[jax.Array], tuple[jax.Array, jax.Array]]
"""A function of a key's data, uint32 (2,), that returns the data to keep and the data to draw with."""

MASK = "action_mask"


class View(NamedTuple):
    """A state with its observation and info. `info` has the environment's entries and the action mask."""

    state: PyTree
    obs: PyTree
    info: dict[str, PyTree]


class Turn(NamedTuple):
    """The result of a step."""

    view: View
    reward: Any
    terminated: Any
    truncated: Any


def count_up(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Adds one to the second word of the data, as `random.spawn` does. `split` would hash twice."""
    data = data + np.array([0, 1], np.uint32)
    return data, data


def split(data: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`key, subkey = jax.random.split(key)`."""
    keys = jax.random.key_data(random.split(typed_key(data)))
    return keys[0], keys[1]


def typed_key(data: Any) -> jax.Array:
    """Wraps key data, uint32 (2,), in a typed threefry key. Data of shape (n, 2) gives n keys."""
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def step(env: Environment, key: jax.Array, state: PyTree, action: PyTree, params: PyTree) -> Turn:
    """Steps without auto-reset."""
    obs, state, reward, terminated, info = env.step_env(key, state, action, params)
    return Turn(View(state, obs, own_info(info)), reward, terminated, info["truncated"])


def start(env: Environment, key: jax.Array, params: PyTree) -> View:
    """Resets the whole state."""
    return first(env, arguments.init_state(env, env.draw_start(key, params), params), params)


def restart(env: Environment, key: jax.Array, state: PyTree, params: PyTree) -> View:
    """Resets as an auto-reset does, which keeps some wrappers' state."""
    return first(env, env.restart(key, jnp.ones(env.batch_shape, bool), state, params), params)


def first(env: Environment, state: PyTree, params: PyTree) -> View:
    """The view of a first state. Entries of `info` that only a step computes are zero."""
    key, space = jax.eval_shape(jax.random.key, 0), env.action_space(params)
    struct = jax.eval_shape(lambda key: step(env, key, state, space.sample(key), params), key).view.info
    info = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), struct)
    return View(state, env.observe(state, params), info | legal(env, state, params))


def legal(env: Environment, state: PyTree, params: PyTree) -> dict[str, PyTree]:
    """The `action_mask` entry of `info`, or no entry if the environment has no action mask."""
    mask = env.action_mask(state, params)
    return {} if mask is None else {MASK: mask}
