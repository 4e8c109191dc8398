"""`Tree`: pytrees of given types, without bounds."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from envcore import random, trees
from envcore.spaces.base import Space, describe
from envcore.spaces.unbounded import unbounded_space


class Tree(Space):
    """All values of a pytree's structure, shapes and dtypes, of whatever classes it consists.

    Args:
      struct: a tree of arrays or `jax.ShapeDtypeStruct`s; its classes, static fields included, are part of the space.

    Raises:
      TypeError: a leaf is a typed random key.
    """

    def __init__(self, struct: Any):
        self.struct = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), struct)
        self._leaves = [unbounded_space(leaf) for leaf in jax.tree.leaves(self.struct)]

    @property
    def shape(self) -> Any:
        return jax.tree.map(lambda leaf: leaf.shape, self.struct)

    @property
    def dtype(self) -> Any:
        return jax.tree.map(lambda leaf: leaf.dtype, self.struct)

    def sample(self, key: jax.Array) -> Any:
        keys = random.split(key, max(1, len(self._leaves)))
        samples = [space.sample(keys[i]) for i, space in enumerate(self._leaves)]
        return jax.tree.unflatten(jax.tree.structure(self.struct), samples)

    def mismatch(self, value: Any) -> str | None:
        if jax.tree.structure(value) != jax.tree.structure(self.struct):
            return f"expected {trees.structure_difference(self.struct, value)}"
        problems = (space.mismatch(leaf) for space, leaf in zip(self._leaves, jax.tree.leaves(value), strict=True))
        return next(filter(None, problems), None)

    def _within(self, value: Any) -> jax.Array:
        return jax.numpy.array(True)  # NaN included: a library's own state may hold it where it means nothing

    def _static(self) -> tuple[Any, ...]:
        return jax.tree.structure(self.struct), tuple(
            (x.shape, np.dtype(x.dtype)) for x in jax.tree.leaves(self.struct)
        )

    def __repr__(self) -> str:
        return f"Tree({describe(self.struct)}, {len(self._leaves)} arrays)"
