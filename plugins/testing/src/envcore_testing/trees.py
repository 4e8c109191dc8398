"""Trees of arrays: differences in words, parts, and params with some leaves that differ from step to step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Generator
from typing import Any

import chex
import jax
import jax.numpy as jnp
import numpy as np
from envcore import trees
from jax.tree_util import keystr, tree_leaves_with_path, tree_map_with_path

# Two programs may round float32 differently: XLA fuses and vectorizes them differently.
_RELATIVE, _ABSOLUTE = 1e-4, 1e-5


def type_differences(got: Any, expected: Any) -> list[str]:
    """Names every leaf whose shape, dtype or weak type differs."""
    return _differences(got, expected, _type_difference)


def value_differences(got: Any, expected: Any) -> list[str]:
    """Names every leaf whose values differ. Floats may differ by rounding, everything else must be equal."""
    return _differences(got, expected, lambda x, y: _value_difference(x, y, _is_equal))


def exact_differences(got: Any, expected: Any) -> list[str]:
    """Names every leaf whose values differ at all; NaN equals NaN."""
    return _differences(got, expected, lambda x, y: _value_difference(x, y, _is_exactly_equal))


def on_host(tree: Any) -> Any:
    """The leaves as numpy arrays, which can be indexed without compiling; typed keys stay as they are."""
    return jax.tree.map(lambda x: x if trees.is_key(x) else np.asarray(x), tree)


def as_numpy(x: Any) -> np.ndarray[Any, Any]:
    """A leaf as a numpy array; a typed key as its words."""
    if trees.is_key(x):
        x = jax.random.key_data(x)
    return np.asarray(x)


def take(tree: Any, index: Any) -> Any:
    """`leaf[index]` of every leaf."""
    return jax.tree.map(lambda x: x[index], tree)


def join(*parts: Any) -> Any:
    """Concatenates every leaf of trees of the same structure along its first axis."""
    return jax.tree.map(lambda *xs: (jnp if trees.is_key(xs[0]) else np).concatenate(xs), *parts)


def _differences(got: Any, expected: Any, difference: Callable[[Any, Any], str | None]) -> list[str]:
    with _assertions_enabled():
        if not _holds(chex.assert_trees_all_equal_structs, got, expected):
            return [f"it must be {trees.structure_difference(expected, got)}"]
        pairs = zip(tree_leaves_with_path(got), jax.tree.leaves(expected), strict=True)
        return [f"{keystr(path) or 'it'} {found}" for (path, x), y in pairs if (found := difference(x, y)) is not None]


def _type_difference(x: Any, y: Any) -> str | None:
    types = [f"{'weak ' if getattr(z, 'weak_type', False) else ''}{z.dtype}{list(z.shape)}" for z in (x, y)]
    return None if types[0] == types[1] else f"is {types[0]} instead of {types[1]}"


def _value_difference(x: Any, y: Any, is_equal: Callable[[Any, Any], bool]) -> str | None:
    x, y = as_numpy(x), as_numpy(y)
    if x.shape != y.shape:
        return f"has shape {x.shape} instead of {y.shape}"
    if is_equal(x, y):
        return None
    x, y = x.ravel(), y.ravel()
    while x.size > 1:  # halved down to the first element that differs
        middle = x.size // 2
        half = slice(middle, None) if is_equal(x[:middle], y[:middle]) else slice(middle)
        x, y = x[half], y[half]
    return f"is {x[0]} instead of {y[0]}"


def _is_equal(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    """NaN equals NaN, and 0.0 equals -0.0."""
    if x.dtype == y.dtype and x.tobytes() == y.tobytes():  # as most are; chex takes 100 us to find that out
        return True
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return _holds(chex.assert_trees_all_equal, x, y)
    x, y = x.astype(np.float64), y.astype(np.float64)  # no overflow, and no dtype that numpy lacks
    return _holds(chex.assert_trees_all_close, x, y, rtol=_RELATIVE, atol=_ABSOLUTE)


def _is_exactly_equal(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    return x.dtype == y.dtype and np.array_equal(x, y, equal_nan=x.dtype.kind == "f")


def _holds(assertion: Callable[..., None], *args: Any, **kwargs: Any) -> bool:
    try:
        assertion(*args, **kwargs)
    except AssertionError:
        return False
    return True


@contextlib.contextmanager
def _assertions_enabled() -> Generator[None]:
    """After `chex.disable_asserts()`, every assertion of chex holds, and the kit would find nothing."""
    disabled = _holds(chex.assert_equal, 0, 1)
    chex.enable_asserts()
    try:
        yield
    finally:
        if disabled:
            chex.disable_asserts()


def float_params(params: Any) -> list[str]:
    """The paths of the float leaves of the params."""
    return [keystr(path) for path, leaf in tree_leaves_with_path(params) if jnp.issubdtype(leaf.dtype, jnp.floating)]


def mapped_axes(params: Any, names: Collection[str]) -> Any:
    """The `in_axes` of `vmap` that map over the named leaves."""
    return tree_map_with_path(lambda path, _: 0 if keystr(path) in names else None, params)


def scaled(params: Any, names: Collection[str], scales: np.ndarray[Any, Any]) -> Any:
    """The named leaves times each of the scales, along a first axis."""

    def leaf(path: Any, x: np.ndarray[Any, Any]) -> Any:
        return np.multiply.outer(scales.astype(x.dtype), x) if keystr(path) in names else x

    return tree_map_with_path(leaf, params)


def with_leaf(params: Any, path: Any, value: Any) -> Any:
    """The params with another value of the leaf at the path."""
    return tree_map_with_path(lambda where, x: value if where == path else x, params)
