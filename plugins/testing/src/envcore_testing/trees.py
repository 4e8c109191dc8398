"""Compare trees of arrays, and select parts of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from jax.tree_util import keystr, tree_leaves_with_path, tree_map_with_path

# Two programs may round float32 differently, because XLA fuses and vectorizes them differently.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5


def type_differences(got: Any, expected: Any, name: str = "") -> list[str]:
    """Describes every leaf whose shape, dtype or weak type differs. `name` is the name of the tree."""
    return _differences(got, expected, name, _type_difference)


def value_differences(got: Any, expected: Any, name: str = "") -> list[str]:
    """Describes every leaf whose values differ. Floats may differ by rounding, and other types must be equal."""
    return _differences(got, expected, name, lambda x, y: _value_difference(x, y, _RELATIVE, _ABSOLUTE))


def exact_differences(got: Any, expected: Any, name: str = "") -> list[str]:
    """Describes every leaf whose values are not exactly equal. NaN equals NaN."""
    return _differences(got, expected, name, lambda x, y: _value_difference(x, y, 0, 0))


def on_host(tree: Any) -> Any:
    """Converts leaves to numpy arrays, which can be indexed without compiling. Typed keys are unchanged."""
    return jax.tree.map(lambda x: x if trees.is_key(x) else np.asarray(x), tree)


def as_numpy(x: Any) -> np.ndarray[Any, Any]:
    """Converts a leaf to a numpy array, and a typed key to its words."""
    return np.asarray(jax.random.key_data(x) if trees.is_key(x) else x)


def take(tree: Any, index: Any) -> Any:
    """Returns `leaf[index]` for every leaf."""
    return jax.tree.map(lambda x: x[index], tree)


def join(*parts: Any) -> Any:
    """Concatenates trees of the same structure along the first axis of each leaf."""
    return jax.tree.map(lambda *xs: (jnp if trees.is_key(xs[0]) else np).concatenate(xs), *parts)


def float_leaves(tree: Any) -> list[tuple[Any, Any]]:
    """Returns the paths and values of float leaves."""
    return [(path, x) for path, x in tree_leaves_with_path(tree) if trees.kind(x.dtype) == "float" and x.size]


def with_leaf(tree: Any, path: Any, value: Any) -> Any:
    """Replaces the leaf at a path."""
    return tree_map_with_path(lambda where, x: value if where == path else x, tree)


def _differences(got: Any, expected: Any, name: str, difference: Callable[[Any, Any], str | None]) -> list[str]:
    if jax.tree.structure(got) != jax.tree.structure(expected):
        return [f"{name or 'it'} must be {trees.structure_difference(expected, got)}"]
    pairs = zip(tree_leaves_with_path(got), jax.tree.leaves(expected), strict=True)
    return [f"{name + keystr(path) or 'it'} {found}" for (path, x), y in pairs if (found := difference(x, y))]


def _type_difference(x: Any, y: Any) -> str | None:
    types = [f"{'weak ' if getattr(z, 'weak_type', False) else ''}{z.dtype}{list(z.shape)}" for z in (x, y)]
    return None if types[0] == types[1] else f"is {types[0]} instead of {types[1]}"


def _value_difference(x: Any, y: Any, relative: float, absolute: float) -> str | None:
    x, y = as_numpy(x), as_numpy(y)
    if x.shape != y.shape:
        return f"has shape {x.shape} instead of {y.shape}"
    equal = x == y
    if trees.kind(x.dtype) == "float":
        wide = x.astype(np.float64), y.astype(np.float64)  # no overflow, and no dtype that numpy lacks
        equal = np.isclose(*wide, relative, absolute, equal_nan=True)
    if np.all(equal):
        return None
    first = np.argmin(equal)
    return f"is {x.ravel()[first]} instead of {y.ravel()[first]}"
