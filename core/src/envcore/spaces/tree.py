"""All values of given types: `Tree` of any pytree, `unbounded_space` of dataclasses, dicts and tuples."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import checks, random, trees
from envcore.spaces.base import Space, describe
from envcore.spaces.box import Box
from envcore.spaces.composite import Dict, Tuple
from envcore.typing import PyTree


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
    def shape(self) -> PyTree:
        return jax.tree.map(lambda leaf: leaf.shape, self.struct)

    @property
    def dtype(self) -> PyTree:
        return jax.tree.map(lambda leaf: leaf.dtype, self.struct)

    def _sample(self, key: jax.Array) -> PyTree:
        keys = random.split(key, max(1, len(self._leaves)))
        samples = [space.sample(keys[i]) for i, space in enumerate(self._leaves)]
        return jax.tree.unflatten(jax.tree.structure(self.struct), samples)

    def mismatch(self, value: PyTree) -> str | None:
        if jax.tree.structure(value) != jax.tree.structure(self.struct):
            return f"expected {trees.structure_difference(self.struct, value)}"
        problems = (space.mismatch(leaf) for space, leaf in zip(self._leaves, jax.tree.leaves(value), strict=True))
        return next(filter(None, problems), None)

    def _within(self, value: PyTree) -> jax.Array:
        return jax.numpy.array(True)  # NaN included: a library's own state may hold it where it means nothing

    def batch(self, num: int) -> Tree:
        num = checks.positive_integer("num", num)
        return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct((num, *x.shape), x.dtype), self.struct))

    def unbatch(self) -> Tree:
        return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), self.struct))

    def _static(self) -> tuple[PyTree, ...]:
        return jax.tree.structure(self.struct), tuple(
            (x.shape, np.dtype(x.dtype)) for x in jax.tree.leaves(self.struct)
        )

    def __repr__(self) -> str:
        return f"Tree({describe(self.struct)}, {len(self._leaves)} arrays)"


def unbounded_space(struct: Any) -> Space:
    """The space of all values with the given structure, shapes and dtypes.

    Args:
      struct: a tree of arrays or `jax.ShapeDtypeStruct`s, of dataclasses, dicts and tuples.

    Raises:
      TypeError: a leaf is a typed random key.
    """
    if dataclasses.is_dataclass(struct):
        return Dict({field.name: unbounded_space(getattr(struct, field.name)) for field in dataclasses.fields(struct)})
    if isinstance(struct, dict):
        return Dict({name: unbounded_space(part) for name, part in struct.items()})
    if isinstance(struct, tuple | list):
        return Tuple(unbounded_space(part) for part in struct)
    if jnp.issubdtype(struct.dtype, jax.dtypes.prng_key):
        raise TypeError(f"a space cannot hold random keys, got {struct.dtype}: store jax.random.key_data(key) instead")
    if struct.dtype == np.bool_:
        return Box(False, True, struct.shape, struct.dtype)
    if jnp.issubdtype(struct.dtype, jnp.integer):
        info = np.iinfo(struct.dtype)
        low, high = (np.full(struct.shape, bound, struct.dtype) for bound in (info.min, info.max))
        return Box(low, high, struct.shape, struct.dtype)
    return Box(-np.inf, np.inf, struct.shape, struct.dtype)
