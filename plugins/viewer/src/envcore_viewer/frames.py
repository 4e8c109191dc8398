"""Sequences of states: checking them, and rendering them as frames."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence, Set, ValuesView
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rendering import picture_struct, render_instant
from jax import lax

from envcore_viewer.animation.files import empty_frames
from envcore_viewer.errors import VisualizerError

_CHUNK = 64  # frames rendered by one call, so that one program serves sequences of every length
_CHUNK_BYTES = 2**25  # and at most so many bytes of them
_EMPTY = "state_seq is empty: there is nothing to show without a state."


def render_frames(env: Environment, states: Any, params: Any = None, *, height: int = 256) -> np.ndarray:
    """Renders states that were collected over time, in chunks, so that it needs little more memory than the result.

    Args:
      env: the environment.
      states: its states; each leaf has a leading axis (time,), or axes (time, num_envs).
      params: as for `reset`.
      height: the height of a picture, in pixels.

    Returns:
      uint8 (time, height, width, 3), or (time, num_envs, height, width, 3) for several environments.

    Raises:
      AnimationError: there is not enough memory for the frames.
      the errors of `Visualizer` for these arguments.
    """
    states, lead = checked_states(env, states)
    params = arguments.checked_params(env, params)
    size = (*picture_shape(env, states, params, height), 3)
    out = empty_frames((*lead, *size))
    chunk = int(np.clip(_CHUNK_BYTES // out[0].nbytes, 1, _CHUNK))
    for start in range(0, lead[0], chunk):
        part = out[start : start + chunk]
        at = np.minimum(
            np.arange(start, start + chunk), lead[0] - 1
        )  # the last chunk is padded, so that all have one size
        rendered = _render(env, jax.tree.map(lambda x, at=at: x[at], states), params, height)
        part[...] = np.asarray(rendered)[: len(part)]
    return out


@functools.partial(jax.jit, static_argnums=(0, 3))
def _render(env: Environment, states: Any, params: Any, height: int) -> jax.Array:
    return lax.map(lambda state: render_instant(env, state, params, height), states)


def picture_shape(env: Environment, states: Any, params: Any, height: Any) -> tuple[int, int]:
    """The height and width of one environment's picture, from states with a leading time axis."""
    first = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), states)
    height, width = picture_struct(env, first, params, height).shape[-3:-1]
    return height, width


def checked_states(env: Environment, state_seq: Any) -> tuple[Any, tuple[int, ...]]:
    """Returns the states as one tree with the dtypes of `reset`, and their leading axes: (time,) or (time, n)."""
    struct, what = arguments.state_struct(env), f"{env.name}'s states"
    states = stacked(state_seq, "state_seq", InvalidArgumentError)
    if isinstance(state_seq, list | tuple) and not state_seq:
        raise VisualizerError(_EMPTY)
    if jax.tree.structure(states) != jax.tree.structure(struct):
        trees.conform(states, struct, what, InvalidArgumentError)  # says how they differ
    time = np.shape(states.time)
    lead = time[: len(time) - len(env.batch_shape)]
    if len(lead) not in (1, 2):
        batch = f", before the batch's {env.batch_shape}" if env.batch_shape else ""
        advice = " Put a single state in a list." if time == env.batch_shape else ""
        raise InvalidArgumentError(
            f"{what} must have a leading time axis, and at most one more axis for several environments{batch}: "
            f"got time of shape {time}.{advice}"
        )
    if not all(time):
        raise VisualizerError(_EMPTY)
    expected = jax.tree.map(lambda x: jax.ShapeDtypeStruct((*lead, *x.shape), x.dtype), struct)
    return trees.conform(states, expected, what, InvalidArgumentError), time


def stacked(sequence: Any, what: str, error: type[Exception]) -> Any:
    """Returns a list of equal trees, or a tree that already has a time axis, as one tree on the host."""
    if not isinstance(sequence, list | tuple):
        if isinstance(sequence, Iterator | Sequence | Set | ValuesView):  # a generator, a string, a range
            raise error(
                f"{what} must be a list with one entry for each state, or have a leading time axis, "
                f"got a value of type {type(sequence).__name__}."
            )
        return jax.tree.map(_on_host, sequence)
    if not sequence:
        return np.empty(0)
    structure = jax.tree.structure(sequence[0])
    columns: list[list[Any]] = [[] for _ in range(structure.num_leaves)]
    for index, each in enumerate(sequence):
        if jax.tree.structure(each) != structure:
            raise error(f"{what} must hold values of one structure: number {index} differs from number 0.")
        for column, leaf in zip(columns, jax.tree.leaves(each), strict=True):
            column.append(leaf)
            if np.shape(leaf) != np.shape(column[0]):
                raise error(
                    f"{what} must hold values of equal shapes: number {index} has shape {np.shape(leaf)} "
                    f"where number 0 has {np.shape(column[0])}."
                )
    try:
        return jax.tree.unflatten(structure, [_joined(column) for column in columns])
    except TypeError:
        raise error(f"{what} must hold values of one kind: they cannot be stacked into an array.") from None


def _joined(leaves: list[Any]) -> Any:
    if trees.is_key(leaves[0]):
        return jnp.stack(leaves)
    return np.stack([np.asarray(leaf) for leaf in leaves])


def _on_host(leaf: Any) -> Any:
    return leaf if trees.is_key(leaf) else np.asarray(leaf)
