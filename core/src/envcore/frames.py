"""Sequences of states: checking them, and drawing them as frames."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Sequence, Set, ValuesView
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from envcore import trees
from envcore.animation.files import empty_frames
from envcore.draw import checked_height
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import EnvcoreError, EnvironmentDefinitionError, InvalidStateError, VisualizerError

_CHUNK = 64  # frames drawn by one call, so that one program serves sequences of every length
_CHUNK_BYTES = 2**25  # and at most so many of them
_EMPTY = "state_seq is empty: there is nothing to show without a state."


def render_frames(env: Environment[Any, Any], states: Any, params: Any = None, *, height: int = 256) -> np.ndarray:
    """Draws states that were collected over time, a few at once, so that they need no more memory than the result.

    Args:
      env: the environment.
      states: its states, each leaf with a first axis for time, or with (time, num_envs).
      params: as for `reset`.
      height: of a picture, in pixels.

    Returns:
      uint8 (time, height, width, 3), or (time, num_envs, height, width, 3) where there are several environments.

    Raises:
      AnimationError: there is not enough memory for the frames.
      what `Visualizer` raises because of these arguments.
    """
    states, lead = checked_states(env, states)
    params = arguments.checked_params(env, params)
    size = (*picture_shape(env, states, params, height), 3)
    out = empty_frames((*lead, *size))
    chunk = int(np.clip(_CHUNK_BYTES // out[0].nbytes, 1, _CHUNK))
    for start in range(0, lead[0], chunk):
        part = out[start : start + chunk]
        at = np.minimum(np.arange(start, start + chunk), lead[0] - 1)  # all calls are of one size
        drawn = _draw(env, jax.tree.map(lambda x, at=at: x[at], states), params, height)
        part[...] = np.asarray(drawn)[: len(part)]
    return out


@functools.partial(jax.jit, static_argnums=(0, 3))
def _draw(env: Environment[Any, Any], states: Any, params: Any, height: int) -> jax.Array:
    return lax.map(lambda state: _render(env, state, params, height), states)


def _render(env: Environment[Any, Any], state: Any, params: Any, height: int) -> jax.Array:
    """Draws the states of one instant: one, a batch if `env` is one, or several in an axis of their own."""

    def render(state: Any) -> jax.Array:
        return env.render(state, params, height=height)

    return (jax.vmap(render) if jnp.ndim(state.time) > len(env.batch_shape) else render)(state)


def picture_struct(env: Environment[Any, Any], state: Any, params: Any, height: Any) -> jax.ShapeDtypeStruct:
    """The type of the picture that `env.render` returns, found without drawing one.

    Args:
      env: the environment.
      state: a state, or its `jax.ShapeDtypeStruct`s; or those of several environments in a first axis.
      params: as for `render`.
      height: of the picture, in pixels.

    Returns:
      uint8 (height, width, 3), after the axes of `state.time`.

    Raises:
      PictureError: the height is no positive integer.
      EnvironmentDefinitionError: `render` returns something else, or does not take a height.
      NoPictureError: the environment does not implement `render`.
    """
    height = checked_height(height)
    call = f"{env.name}.render(state, params, height={height})"
    _check_arguments(env, call)
    batch = np.shape(state.time)
    wanted = f"it must return uint8 {[*batch, height, 'width', 3]}"
    try:
        picture = jax.eval_shape(lambda state, params: _render(env, state, params, height), state, params)
    except TypeError as error:
        if isinstance(error, EnvcoreError) or "not a valid JAX type" not in str(error):
            raise
        raise EnvironmentDefinitionError(f"{call} returns what is no array: {wanted}.") from error
    if not isinstance(picture, jax.ShapeDtypeStruct):
        returned = "None" if picture is None else f"a {type(picture).__name__}"
        raise EnvironmentDefinitionError(f"{call} returns {returned}: {wanted}.")
    shape = picture.shape
    if picture.dtype != jnp.uint8 or shape != (*batch, height, *shape[-2:-1], 3) or not shape[-2]:
        raise EnvironmentDefinitionError(f"{call} returns {picture.dtype}{list(shape)}: {wanted}.")
    return picture


def _check_arguments(env: Environment[Any, Any], call: str) -> None:
    """A wrapper passes on what it is given: what counts is what the environment inside takes."""
    signatures = {
        "render(self, state, params=None, *, height=256)": ((None, None), {"height": 1}),
        "paint(self, state, params, height)": ((None, None, 1), {}),
    }
    for owner in (env, env.unwrapped):
        for signature, (args, options) in signatures.items():
            name = signature.partition("(")[0]
            try:
                inspect.signature(getattr(owner, name)).bind(*args, **options)
            except TypeError as error:
                message = f"{call} cannot be called: {error}; its signature must be {signature}."
                raise EnvironmentDefinitionError(message) from error


def picture_shape(env: Environment[Any, Any], states: Any, params: Any, height: Any) -> tuple[int, int]:
    """The height and width of one environment's picture, from states that have a first axis for time."""
    first = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), states)
    height, width = picture_struct(env, first, params, height).shape[-3:-1]
    return height, width


def checked_states(env: Environment[Any, Any], state_seq: Any) -> tuple[Any, tuple[int, ...]]:
    """The states as one tree with the types that `reset` returns, and their leading axes: (time,) or (time, n)."""
    struct, what = arguments.state_struct(env), f"{env.name}'s states"
    states = stacked(state_seq, "state_seq", InvalidStateError)
    if isinstance(state_seq, list | tuple) and not state_seq:
        raise VisualizerError(_EMPTY)
    if jax.tree.structure(states) != jax.tree.structure(struct):
        trees.conform(states, struct, what, InvalidStateError)  # says how they differ
    time = np.shape(states.time)
    lead = time[: len(time) - len(env.batch_shape)]
    if len(lead) not in (1, 2):
        batch = f", before the batch's {env.batch_shape}" if env.batch_shape else ""
        advice = " Put a single state in a list." if time == env.batch_shape else ""
        raise InvalidStateError(
            f"{what} must have a first axis for time, and at most one more for several environments{batch}: "
            f"got time of shape {time}.{advice}"
        )
    if not all(time):
        raise VisualizerError(_EMPTY)
    expected = jax.tree.map(lambda x: jax.ShapeDtypeStruct((*lead, *x.shape), x.dtype), struct)
    return trees.conform(states, expected, what, InvalidStateError), time


def stacked(sequence: Any, what: str, error: type[Exception]) -> Any:
    """A list of equal trees, or a tree that has an axis for time already, as a tree on the host."""
    if not isinstance(sequence, list | tuple):
        if isinstance(sequence, Iterator | Sequence | Set | ValuesView):  # a generator, a string, a range
            raise error(
                f"{what} must be a list with one entry for each state, or have a first axis for time, "
                f"got a value of type {type(sequence).__name__}."
            )
        return jax.tree.map(_on_host, sequence)
    if not sequence:
        return np.empty(0)
    structure = jax.tree.structure(sequence[0])
    columns: list[list[Any]] = [[] for _ in range(structure.num_leaves)]
    for index, each in enumerate(sequence):
        if jax.tree.structure(each) != structure:
            raise error(f"{what} must hold values of one kind: number {index} is not like number 0.")
        for column, leaf in zip(columns, jax.tree.leaves(each), strict=True):
            column.append(leaf)
            if np.shape(leaf) != np.shape(column[0]):
                raise error(
                    f"{what} must hold values of equal shapes: number {index} has one of {np.shape(leaf)} "
                    f"where number 0 has {np.shape(column[0])}."
                )
    try:
        return jax.tree.unflatten(structure, [_joined(column) for column in columns])
    except TypeError:
        raise error(f"{what} must hold values of one kind: they make no array together.") from None


def _joined(leaves: list[Any]) -> Any:
    if trees.is_key(leaves[0]):
        return jnp.stack(leaves)
    return np.stack([np.asarray(leaf) for leaf in leaves])


def _on_host(leaf: Any) -> Any:
    return leaf if trees.is_key(leaf) else np.asarray(leaf)
