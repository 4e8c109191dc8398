"""Differences between trees of arrays, told in words."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path

from envcore import trees

# Two programs may round float32 differently: XLA fuses and vectorises them differently.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5


def type_difference(got: Any, expected: Any) -> str | None:
    """Names the first leaf whose shape, dtype or weak type differs; None where all types agree."""
    if jax.tree.structure(got) != jax.tree.structure(expected):
        return f"its structure is {jax.tree.structure(got)} instead of {jax.tree.structure(expected)}"
    for (path, x), y in zip(tree_leaves_with_path(got), jax.tree.leaves(expected), strict=True):
        if _describe(x) != _describe(y):
            return f"{_name(path)} is {_describe(x)} instead of {_describe(y)}"
    return None


def value_difference(got: Any, expected: Any) -> str | None:
    """Names the first leaf whose values differ: floats by more than rounding, everything else at all."""
    for (path, x), y in zip(tree_leaves_with_path(got), jax.tree.leaves(expected), strict=True):
        x, y = as_numpy(x), as_numpy(y)
        if x.shape != y.shape:
            return f"{_name(path)} has shape {x.shape} instead of {y.shape}"
        if jnp.issubdtype(x.dtype, jnp.floating):
            x, y = x.astype(np.float64), y.astype(np.float64)
            same = np.isclose(x, y, _RELATIVE, _ABSOLUTE, equal_nan=True)
        else:
            same = x == y
        if not same.all():
            return f"{_name(path)} is {x[~same][0]} instead of {y[~same][0]}"
    return None


def as_numpy(x: Any) -> np.ndarray[Any, Any]:
    """A leaf's numbers on the host; of a typed key its words."""
    if trees.is_key(x):
        x = jax.random.key_data(x)
    return np.asarray(x)


def take(tree: Any, index: Any) -> Any:
    """`leaf[index]` of every leaf."""
    return jax.tree.map(lambda x: x[index], tree)


def _name(path: Any) -> str:
    return keystr(path) or "it"


def _describe(x: Any) -> str:
    return f"{'weak ' if getattr(x, 'weak_type', False) else ''}{x.dtype}{list(x.shape)}"
