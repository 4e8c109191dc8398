"""`Tuple` and `Dict`, spaces composed of other spaces, and `Tree`, all values of given types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import checks, random, trees
from envcore.spaces.base import Space, describe
from envcore.spaces.box import Box
from envcore.typing import PyTree


class _Composite(Space):
    """What the two have in common."""

    _parts: Mapping[Any, Space]  # by their places in a value

    def __init__(self, parts: Mapping[Any, Space]):
        for space in parts.values():
            if not isinstance(space, Space):
                raise TypeError(f"expected a Space, got {space!r}")
        self._parts = parts
        self.shape = self._build(space.shape for space in parts.values())
        self.dtype = self._build(space.dtype for space in parts.values())

    def _build(self, values: Iterable[PyTree]) -> PyTree:
        """A value, of the values of its parts in their order."""
        raise NotImplementedError

    def _values(self, value: PyTree) -> Mapping[Any, PyTree]:
        """The values of the parts by their places."""
        raise NotImplementedError

    def _sample(self, key: jax.Array) -> PyTree:
        keys = random.split(key, len(self._parts))
        return self._build(space.sample(keys[i]) for i, space in enumerate(self._parts.values()))

    def parts(self, value: PyTree) -> list[tuple[Space, PyTree]]:
        """Pairs of each part's space and the value of that part, for a value of the right structure.

        Those of a `Dict` are sorted by name.
        """
        values = self._values(value)
        return [(space, values[place]) for place, space in self._parts.items()]

    def map(self, fun: Callable[[Space, PyTree], PyTree], value: PyTree) -> PyTree:
        """A value of which each part is `fun(space, part)`, for a value of the right structure."""
        return self._build(fun(space, part) for space, part in self.parts(value))

    def value_problem(self, value: PyTree) -> str | None:
        problems = (space.value_problem(part) for space, part in self.parts(value))
        return next(filter(None, problems), None)

    def cast(self, value: PyTree) -> PyTree:
        return self.map(lambda space, part: space.cast(part), value)

    def batch(self, num: int) -> PyTree:
        return type(self)(self._build(space.batch(num) for space in self._parts.values()))

    def unbatch(self) -> PyTree:
        return type(self)(self._build(space.unbatch() for space in self._parts.values()))

    def flat_space(self) -> Box:
        boxes = [space.flat_space() for space in self._parts.values()]
        return Box(_join([box.low for box in boxes]), _join([box.high for box in boxes]))

    def flatten(self, value: PyTree) -> jax.Array:
        return jnp.concatenate([space.flatten(part).astype(jnp.float32) for space, part in self.parts(value)])

    def _mismatch_of_parts(self, value: PyTree) -> str | None:
        values = self._values(value)
        problems = ((place, space.mismatch(values[place])) for place, space in self._parts.items())
        return next((f"in part {place!r}: {problem}" for place, problem in problems if problem), None)

    def _within(self, value: PyTree) -> jax.Array:
        result = jnp.array(True)
        for space, part in self.parts(value):
            result = result & space.contains(part)
        return result

    def _static(self) -> tuple[PyTree, ...]:
        return tuple(self._parts.items())


class Tuple(_Composite):
    """A tuple of spaces; values are tuples.

    Raises:
      TypeError: a part is not a space.
    """

    def __init__(self, spaces: Iterable[Space]):
        self.spaces = tuple(spaces)
        super().__init__(dict(enumerate(self.spaces)))

    def _build(self, values: Iterable[PyTree]) -> tuple[PyTree, ...]:
        return tuple(values)

    def _values(self, value: PyTree) -> Mapping[int, PyTree]:
        return value

    def mismatch(self, value: PyTree) -> str | None:
        if not isinstance(value, tuple) or len(value) != len(self.spaces):
            return f"expected a tuple of {len(self.spaces)}, got {describe(value)}"
        return self._mismatch_of_parts(value)

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"


class Dict(_Composite):
    """A dict of spaces; values are dicts. A dataclass with these fields, such as a state, is treated like a dict.

    Raises:
      TypeError: a part is not a space.
    """

    def __init__(self, spaces: Mapping[str, Space]):
        self.spaces = dict(sorted(spaces.items()))
        super().__init__(self.spaces)

    def _build(self, values: Iterable[PyTree]) -> dict[str, PyTree]:
        return dict(zip(self.spaces, values, strict=True))

    def _values(self, value: PyTree) -> Mapping[str, PyTree]:
        return _as_mapping(value) or {}

    def mismatch(self, value: PyTree) -> str | None:
        parts = _as_mapping(value)
        if parts is None or set(parts) != set(self.spaces):
            return f"expected a dict of {', '.join(map(repr, self.spaces))}, got {describe(value)}"
        return self._mismatch_of_parts(parts)

    def __repr__(self) -> str:
        return f"Dict({', '.join(f'{name}={space!r}' for name, space in self.spaces.items())})"


def _as_mapping(value: PyTree) -> Mapping[str, PyTree] | None:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _join(bounds: list[Any]) -> PyTree:
    is_traced = any(isinstance(bound, jax.Array) for bound in bounds)
    return (jnp if is_traced else np).concatenate([bound.astype(np.float32) for bound in bounds])


class Tree(Space):
    """All values of a pytree's structure, shapes and dtypes, of whatever classes it consists.

    Args:
      struct: a tree of arrays or `jax.ShapeDtypeStruct`s; its classes, static fields included, are part of the space.

    Raises:
      TypeError: a leaf is a typed random key.
    """

    def __init__(self, struct: Any):
        self.struct = jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), struct)
        self.shape = jax.tree.map(lambda leaf: leaf.shape, self.struct)
        self.dtype = jax.tree.map(lambda leaf: leaf.dtype, self.struct)
        self._leaves = [unbounded_space(leaf) for leaf in jax.tree.leaves(self.struct)]

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
        return jnp.array(True)  # NaN included: a library's own state may hold it where it means nothing

    def batch(self, num: int) -> Tree:
        num = checks.positive_integer("num", num)
        return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct((num, *x.shape), x.dtype), self.struct))

    def unbatch(self) -> Tree:
        return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), self.struct))

    def _static(self) -> tuple[PyTree, ...]:
        leaves, structure = jax.tree.flatten(self.struct)
        return structure, tuple((leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves)

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
