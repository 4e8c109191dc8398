"""`Tuple` and `Dict`: spaces composed of other spaces."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

import jax
import jax.numpy as jnp

from envcore import random
from envcore.spaces.base import Space, describe
from envcore.typing import PyTree

K = TypeVar("K", int, str)


class Tuple(Space):
    """A tuple of spaces; values are tuples.

    Raises:
      TypeError: a part is not a space.
    """

    def __init__(self, spaces: Iterable[Space]):
        self.spaces = tuple(spaces)
        _check_spaces(self.spaces)

    @property
    def shape(self) -> tuple[PyTree, ...]:
        return tuple(space.shape for space in self.spaces)

    @property
    def dtype(self) -> tuple[PyTree, ...]:
        return tuple(space.dtype for space in self.spaces)

    def sample(self, key: jax.Array) -> tuple[PyTree, ...]:
        keys = random.split(key, len(self.spaces))
        return tuple(space.sample(keys[i]) for i, space in enumerate(self.spaces))

    def mismatch(self, value: PyTree) -> str | None:
        if not isinstance(value, tuple) or len(value) != len(self.spaces):
            return f"expected a tuple of {len(self.spaces)}, got {describe(value)}"
        return _first_mismatch(dict(enumerate(self.spaces)), dict(enumerate(value)))

    def parts(self, value: PyTree) -> list[tuple[Space, PyTree]]:
        """Pairs of each part's space and the value of that part, for a value of the right structure."""
        return list(zip(self.spaces, value, strict=True))

    def _within(self, value: PyTree) -> jax.Array:
        return _all(space.contains(part) for space, part in self.parts(value))

    def _static(self) -> tuple[Hashable, ...]:
        return self.spaces

    def __repr__(self) -> str:
        return f"Tuple({', '.join(map(repr, self.spaces))})"


class Dict(Space):
    """A dict of spaces; values are dicts. A dataclass with these fields, such as a state, is treated like a dict.

    Raises:
      TypeError: a part is not a space.
    """

    def __init__(self, spaces: Mapping[str, Space]):
        self.spaces = dict(sorted(spaces.items()))
        _check_spaces(self.spaces.values())

    @property
    def shape(self) -> dict[str, PyTree]:
        return {name: space.shape for name, space in self.spaces.items()}

    @property
    def dtype(self) -> dict[str, PyTree]:
        return {name: space.dtype for name, space in self.spaces.items()}

    def sample(self, key: jax.Array) -> dict[str, PyTree]:
        keys = random.split(key, len(self.spaces))
        return {name: space.sample(keys[i]) for i, (name, space) in enumerate(self.spaces.items())}

    def mismatch(self, value: PyTree) -> str | None:
        parts = _as_mapping(value)
        if parts is None or set(parts) != set(self.spaces):
            return f"expected a dict of {', '.join(map(repr, self.spaces))}, got {describe(value)}"
        return _first_mismatch(self.spaces, parts)

    def parts(self, value: PyTree) -> list[tuple[Space, PyTree]]:
        """Pairs of each part's space and the value of that part, for a value of the right structure, sorted by name."""
        named = _as_mapping(value) or {}
        return [(space, named[name]) for name, space in self.spaces.items()]

    def _within(self, value: PyTree) -> jax.Array:
        return _all(space.contains(part) for space, part in self.parts(value))

    def _static(self) -> tuple[Hashable, ...]:
        return tuple(self.spaces.items())

    def __repr__(self) -> str:
        return f"Dict({', '.join(f'{name}={space!r}' for name, space in self.spaces.items())})"


def _first_mismatch(spaces: Mapping[K, Space], parts: Mapping[K, PyTree]) -> str | None:
    for name, space in spaces.items():
        problem = space.mismatch(parts[name])
        if problem is not None:
            return f"in part {name!r}: {problem}"
    return None


def _as_mapping(value: PyTree) -> Mapping[str, PyTree] | None:
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def _check_spaces(spaces: Iterable[Space]) -> None:
    for space in spaces:
        if not isinstance(space, Space):
            raise TypeError(f"expected a Space, got {space!r}")


def _all(conditions: Iterable[jax.Array]) -> jax.Array:
    result = jnp.array(True)
    for condition in conditions:
        result = result & condition
    return result
