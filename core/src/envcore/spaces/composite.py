"""`Tuple` and `Dict`: spaces composed of other spaces."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import random
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

    def _build(self, values: Iterable[PyTree]) -> PyTree:
        """A value, of the values of its parts in their order."""
        raise NotImplementedError

    def _values(self, value: PyTree) -> Mapping[Any, PyTree]:
        """The values of the parts by their places."""
        raise NotImplementedError

    @property
    def shape(self) -> PyTree:
        return self._build(space.shape for space in self._parts.values())

    @property
    def dtype(self) -> PyTree:
        return self._build(space.dtype for space in self._parts.values())

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
