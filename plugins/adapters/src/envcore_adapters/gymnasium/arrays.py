"""Arrays of a step as numpy, JAX or PyTorch arrays, without a copy where their memory is the host's."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Literal

import jax
import numpy as np
from envcore.errors import InvalidArgumentError

_ARRAYS = np.ndarray, jax.Array

Kind = Literal["numpy", "jax", "torch"]
"""The libraries whose arrays a vector environment can return."""


def converter(kind: Kind) -> Callable[[Any], Any] | None:
    """The function that makes an array of that library from what a program returns; None where there is none to do.

    Raises:
      InvalidArgumentError: there is no such library, or PyTorch is not installed.
    """
    if kind in ("numpy", "jax"):
        return None
    if kind != "torch":
        raise InvalidArgumentError(f"arrays must be 'numpy', 'jax' or 'torch', got {kind!r}.")
    try:
        return importlib.import_module("torch").from_dlpack
    except ImportError as error:
        raise InvalidArgumentError("arrays='torch' needs PyTorch: run `pip install torch`.") from error


def without_tensors(tree: Any) -> Any:
    """The tree with PyTorch's tensors as numpy arrays, or JAX arrays on a GPU, that share their memory."""
    if isinstance(tree, _ARRAYS):  # usually; the walk over a tree takes 4 us
        return tree
    return jax.tree.map(_from_torch, tree)


def writable(array: jax.Array) -> np.ndarray[Any, Any]:
    """A numpy array of the same memory on the CPU, else a copy; only for arrays that nothing else uses.

    JAX lends its memory for reading only, because an array may be used by other computations.
    """
    (device,) = array.devices()
    return np.asarray(_Memory(array)) if device.platform == "cpu" else np.array(array)


def _from_torch(value: Any) -> Any:
    if type(value).__module__.partition(".")[0] != "torch":
        return value
    value = value.detach()
    return value.numpy() if value.device.type == "cpu" else jax.dlpack.from_dlpack(value)


class _Memory:
    """Lends numpy the memory of an array. What numpy makes of it keeps it, and so the array, alive."""

    __slots__ = ("__array_interface__", "_array")

    def __init__(self, array: jax.Array):
        self._array = array.block_until_ready()
        self.__array_interface__ = {
            "data": (array.unsafe_buffer_pointer(), False),
            "shape": array.shape,
            "typestr": np.dtype(array.dtype).str,
            "version": 3,
        }
