"""One environment of a batch, with the same keys and actions as in the batch."""

from __future__ import annotations

import dataclasses

import jax
from envcore import random
from envcore.devices import axis_size
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree
from envcore.wrappers import Batched, Wrapper
from jax import lax

AXIS = "envs"


@dataclasses.dataclass(frozen=True)
class Lane(Wrapper):
    """The environment at index `lax.axis_index(AXIS)` of a batch. The mapped axis has the batch size.

    It is traced without a batch axis, so the traced program computes a single environment.
    """

    def draw_start(self, key: jax.Array, params: PyTree) -> PyTree:
        return super().draw_start(lane_key(key), params)

    def draw(self, key: jax.Array, params: PyTree) -> PyTree:
        return super().draw(lane_key(key), params)

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return super().restart(lane_key(key), done, state, params)


def lane_of(env: Environment) -> Environment:
    """One environment of a batch, or the environment itself if it is not a batch."""
    return Lane(unbatched(env)) if env.batch_shape else env


def unbatched(env: Environment) -> Environment:
    """Removes `Batched`, which may be inside other wrappers.

    Raises:
      InvalidArgumentError: the environment has several batch axes, is sharded over devices, or has a wrapper around
        `Batched` that draws random numbers.
    """
    if not env.batch_shape:
        return env
    if isinstance(env, Batched) and env.axis_name is None and not env.env.batch_shape:
        return env.env
    if not isinstance(env, Wrapper) or env.env.batch_shape != env.batch_shape:
        raise InvalidArgumentError(
            f"envcore_native takes one environment or one Batched, got {type(env).__name__} with batch shape "
            f"{env.batch_shape}."
        )
    if type(env).draw is not Wrapper.draw:
        raise InvalidArgumentError(
            f"{type(env).__name__} draws random numbers for the whole batch: put it inside Batched for envcore_native."
        )
    return dataclasses.replace(env, env=unbatched(env.env))


def state_struct(env: Environment) -> PyTree:
    """The types of one environment's state.

    Raises:
      InvalidArgumentError: a part of the state is shared by all environments of the batch.
    """
    struct = arguments.state_struct(unbatched(env))
    whole = jax.tree.leaves_with_path(arguments.state_struct(env))
    for (path, leaf), own in zip(whole, jax.tree.leaves(struct), strict=True):
        place = f"{env.name}'s state{jax.tree_util.keystr(path)}"
        if leaf.shape != env.batch_shape + own.shape:
            raise InvalidArgumentError(
                f"{place} is shared by all environments: put its wrapper inside Batched for envcore_native."
            )
    return struct


def lane_key(key: jax.Array) -> jax.Array:
    """This environment's key, derived from the batch's key."""
    return random.spawn(key, 1, lax.axis_index(AXIS), axis_size(AXIS))[0]
