"""Params with some leaves that differ from step to step."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.tree_util import keystr, tree_leaves_with_path, tree_map_with_path


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
