"""Which params may be infinite, and the check that all others are finite."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np
from flax import struct
from jax.tree_util import keystr, tree_leaves_with_path

from envcore import trees
from envcore.errors import InvalidParamsError
from envcore.typing import PyTree

_LIMIT = "envcore_limit"


def limit(default: Any = dataclasses.MISSING, **options: Any) -> PyTree:
    """Declares a param that is a limit: infinity is a value of it, and means that there is none.

        x_threshold: Any = limit(2.4)

    All other floats among the params must be finite. `check_params` decides on the sign, as it does for finite values.

    Args:
      default: the field's default; without one, give `default_factory`.
      **options: those of `flax.struct.field`.
    """
    return struct.field(default=default, metadata={_LIMIT: True}, **options)


def may_be_infinite(params: PyTree, path: tuple[PyTree, ...], default: Any) -> bool:
    """Whether the param at a key path of JAX's may be infinite; `default` is its default as an array.

    A `limit` may, and so may a param whose default holds an infinite number, because the fields of other libraries'
    params cannot be marked.
    """
    for key in path:
        name = getattr(key, "name", None)
        if name is None or not dataclasses.is_dataclass(params):
            break
        if any(field.name == name and _LIMIT in field.metadata for field in dataclasses.fields(params)):
            return True
        params = getattr(params, name)
    return bool(trees.kind(default.dtype) == "float" and np.isinf(default).any())


def check_finite(env_name: str, params: PyTree, defaults: PyTree) -> None:
    """Raises `InvalidParamsError` for a NaN, and for an infinite number in a param that may not be infinite.

    Python and numpy numbers are checked; JAX arrays pass, because their values may not be known yet.
    """
    # Most params are finite: that is found out without their names, which take ten times as long.
    if all(map(_is_finite, jax.tree.leaves(params))):
        return
    for (path, leaf), default in zip(tree_leaves_with_path(params), jax.tree.leaves(defaults), strict=True):
        if _is_finite(leaf):
            continue
        infinite_too = may_be_infinite(params, path, default)
        wrong = np.argwhere(np.isnan(leaf) if infinite_too else ~np.isfinite(leaf))
        if len(wrong):
            place = tuple(map(int, wrong[0]))
            where = keystr(path) + (f"[{', '.join(map(str, place))}]" if place else "")
            must = "must not be NaN" if infinite_too else "must be finite"
            raise InvalidParamsError(f"{env_name}'s params{where} {must}, got {np.asarray(leaf)[place]}.")


def _is_finite(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) or trees.is_finite(leaf)
