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


def type_differences(got: Any, expected: Any) -> list[str]:
    """Names every leaf whose shape, dtype or weak type differs."""
    if jax.tree.structure(got) != jax.tree.structure(expected):
        return [f"its structure is {jax.tree.structure(got)} instead of {jax.tree.structure(expected)}"]
    return [
        f"{_name(path)} is {_describe(x)} instead of {_describe(y)}"
        for (path, x), y in zip(tree_leaves_with_path(got), jax.tree.leaves(expected), strict=True)
        if _describe(x) != _describe(y)
    ]


def value_differences(got: Any, expected: Any) -> list[str]:
    """Names every leaf whose values differ: floats by more than rounding, everything else at all."""
    pairs = zip(tree_leaves_with_path(got), jax.tree.leaves(expected), strict=True)
    return [f"{_name(path)} {problem}" for (path, x), y in pairs if (problem := _value_difference(x, y)) is not None]


def on_host(tree: Any) -> Any:
    """The leaves as numpy arrays, to be taken apart without compiling; typed keys stay as they are."""
    return jax.tree.map(lambda x: x if trees.is_key(x) else np.asarray(x), tree)


def as_numpy(x: Any) -> np.ndarray[Any, Any]:
    """A leaf's numbers on the host; of a typed key its words."""
    if trees.is_key(x):
        x = jax.random.key_data(x)
    return np.asarray(x)


def take(tree: Any, index: Any) -> Any:
    """`leaf[index]` of every leaf."""
    return jax.tree.map(lambda x: x[index], tree)


def join(*parts: Any) -> Any:
    """Concatenates every leaf of trees of the same structure along its first axis."""
    return jax.tree.map(lambda *xs: (jnp if trees.is_key(xs[0]) else np).concatenate(xs), *parts)


def _value_difference(x: Any, y: Any) -> str | None:
    x, y = as_numpy(x), as_numpy(y)
    if x.shape != y.shape:
        return f"has shape {x.shape} instead of {y.shape}"
    if jnp.issubdtype(x.dtype, jnp.floating):
        x, y = x.astype(np.float64), y.astype(np.float64)
        same = np.isclose(x, y, _RELATIVE, _ABSOLUTE, equal_nan=True)
    else:
        same = x == y
    return None if same.all() else f"is {x[~same][0]} instead of {y[~same][0]}"


def _name(path: Any) -> str:
    return keystr(path) or "it"


def _describe(x: Any) -> str:
    return f"{'weak ' if getattr(x, 'weak_type', False) else ''}{x.dtype}{list(x.shape)}"
