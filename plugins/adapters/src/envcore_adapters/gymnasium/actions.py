"""What users pass as actions, as arrays for a compiled program."""

from __future__ import annotations

import functools
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment, spaces
from envcore.errors import InvalidActionError

from envcore_adapters.inputs import action_error

_MOST_ON_DEVICE = 1024
_NESTED = spaces.Tuple, spaces.Dict
_INTEGERS = np.dtype(np.int64), np.dtype(np.int32)
_ARRAYS = np.ndarray, jax.Array


class ActionReader:
    """Checks the actions of an environment, and takes them to the types of its action space.

    Args:
      env: the environment, or a batch.
      space: its action space.
      reads_devices: JAX arrays are copied to the host and checked, as is right where all results go there too; else
        they stay where they are, and their values are not looked at.
    """

    def __init__(self, env: Environment, space: spaces.Space, *, reads_devices: bool):
        self._name, self._space, self._reads_devices = env.name, space, reads_devices
        self._is_multi_discrete = isinstance(space, spaces.MultiDiscrete)
        self._is_float_box = _is_float_box(space)

    @functools.cached_property
    def _on_device(self) -> list[jax.Array]:
        """The choices of a discrete space: a number that is on the device already saves a third of a step."""
        space = self._space
        if not isinstance(space, spaces.Discrete) or space.n > _MOST_ON_DEVICE:
            return []
        return [jax.device_put(np.int32(action)) for action in range(space.n)]

    def __call__(self, action: Any) -> Any:
        """The action as arrays of the space's dtypes.

        Raises:
          InvalidActionError: its structure, shape or kind of dtype differs, or a value on the host is not a choice
            of a discrete space, or not finite as the space's dtype.
        """
        if type(action) is int and 0 <= action < len(self._on_device):  # usually
            return self._on_device[action]
        if self._on_device and not isinstance(action, np.ndarray):
            try:
                index = operator.index(action)
            except TypeError:
                index = -1
            if 0 <= index < len(self._on_device):
                return self._on_device[index]
        return self._read(self._space, without_tensors(action))

    def unchecked(self, action: Any) -> Any:
        """The action like `__call__`, but unchecked where a program can check values instead of numpy: see `check`.

        With numpy it would take five calls and 30 us, because after a program has run they are not in the processor's
        caches.
        Discrete values become `(words,)`, uint32, two for each value if it has 64 bits.
        """
        is_array = self._is_multi_discrete and type(action) is np.ndarray and action.dtype in _INTEGERS
        if is_array and action.shape == self._space.shape and action.strides[-1] == action.dtype.itemsize:
            return (action.view(np.uint32),)
        if not self._is_float_box:
            return self(action)
        action = self._typed(self._space, without_tensors(action))
        return action if isinstance(action, jax.Array) else self._space.cast(action)

    def outside(self, action: Any) -> InvalidActionError:
        """The error about an action in which the program has found invalid values."""
        values = np.asarray(without_tensors(action))
        return self._error(self._space, str(self._space.value_problem(values)))

    def _read(self, space: spaces.Space, action: Any) -> Any:
        if isinstance(space, _NESTED):
            if isinstance(space, spaces.Tuple) and isinstance(action, list):
                action = tuple(action)
            self._check(space, action)
            return space.map(self._read, action)
        action = self._typed(space, action)
        problem = space.value_problem(action)
        if problem is not None:
            raise self._error(space, problem)
        return action if isinstance(action, jax.Array) else space.cast(action)

    def _typed(self, space: spaces.Space, action: Any) -> Any:
        """The action as an array of the space's shape and kind of dtype."""
        if not isinstance(action, np.ndarray):
            if isinstance(action, jax.Array) and not self._reads_devices:
                self._check(space, action)
                return action
            try:
                action = np.asarray(action)
            except ValueError as error:  # lists of different lengths
                raise self._error(space, str(error)) from error
        if action.shape != space.shape or action.dtype.kind != space.dtype.kind:  # else right: `mismatch` takes 5 us
            self._check(space, action)
        return action

    def _check(self, space: spaces.Space, action: Any) -> None:
        problem = space.mismatch(action)
        if problem is not None:
            raise self._error(space, problem)

    def _error(self, space: spaces.Space, problem: str) -> InvalidActionError:
        return action_error(self._name, space, problem)


def check(space: spaces.Space, action: Any) -> tuple[Any, Any]:
    """In a program: what `unchecked` returned, with the space's dtypes, and whether its values are right."""
    if _is_float_box(space):
        return action, jnp.isfinite(action).all()
    if not (isinstance(space, spaces.MultiDiscrete) and isinstance(action, tuple)):
        return action, jnp.bool_(True)
    words = action[0].reshape(*space.shape, -1)  # of each value its lower word first
    value = words[..., 0]
    is_inside = value < space.nvec.astype(np.uint32)
    if words.shape[-1] == 2:
        is_inside &= words[..., 1] == 0
    return value.astype(space.dtype), is_inside.all()


def without_tensors(tree: Any) -> Any:
    """The tree with PyTorch's tensors as numpy arrays, or JAX arrays on a GPU, that share their memory."""
    if isinstance(tree, _ARRAYS):  # usually; the walk over a tree takes 4 us
        return tree
    return jax.tree.map(_from_torch, tree)


def _from_torch(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] != "torch":
        return value
    value = value.detach()
    return value.numpy() if value.device.type == "cpu" else jax.dlpack.from_dlpack(value)


def _is_float_box(space: spaces.Space) -> bool:
    return isinstance(space, spaces.Box) and jnp.issubdtype(space.dtype, jnp.floating)
