"""The graph of scalars that a program computes, each once."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Collection, Generator, Sequence
from typing import Any

import numpy as np
from envcore.errors import InvalidArgumentError

CONSTANT, BY_STEP, BY_ENVIRONMENT = range(3)
_MOST_HELD = 8  # elements of an array that are kept in registers
_MOST_FIXED = 2**20
_DTYPES = {"bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32"}


def check_dtype(dtype: Any, of: str = "arrays", place: str = "") -> None:
    """Raises `InvalidArgumentError` where there is no arithmetic for a type."""
    name = dtype.name if hasattr(dtype, "name") else np.dtype(dtype).name
    if name not in _DTYPES:
        raise InvalidArgumentError(f"envcore_native has no rule for {of} of {name}{place}.")


@dataclasses.dataclass(eq=False, slots=True)
class Scalar:
    """A number in the program.

    Attributes:
      op: a constant's "const", an input's "input", or what `source` makes an expression of, such as a function of
        `arithmetic.h`.
      dtype: its type.
      args: the scalars that it is computed from; of a constant its value, of an input its name.
      number: its place in the graph, above those of its arguments.
      varies: CONSTANT, or whether it depends on the step alone (BY_STEP) or on the environment too (BY_ENVIRONMENT).
    """

    op: str
    dtype: np.dtype
    args: tuple[Any, ...]
    number: int
    varies: int

    @property
    def is_constant(self) -> bool:
        return self.op == "const"

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return () if self.op in ("const", "input") else tuple(x for x in self.args if isinstance(x, Scalar))


@dataclasses.dataclass(frozen=True)
class Table:
    """Numbers that are looked up at run time."""

    dtype: np.dtype
    values: tuple[Any, ...]


class Graph:
    """Makes scalars; two with the same operation and arguments are one.

    Attributes:
      rows: the numbers of a batch's rows, while a function of the batch is interpreted.
    """

    def __init__(self) -> None:
        self.rows: Sequence[Scalar] = ()
        self._known: dict[Any, Scalar] = {}

    @contextlib.contextmanager
    def drawing(self, rows: Sequence[Scalar]) -> Generator[None]:
        """A random draw as long as these rows has an element for each."""
        before, self.rows = self.rows, rows
        try:
            yield
        finally:
            self.rows = before

    def constant(self, value: Any, dtype: Any) -> Scalar:
        value = np.asarray(value, dtype)[()]
        return self._scalar(("const", value.dtype, value.tobytes()), "const", value.dtype, (value,), CONSTANT)

    def input(self, name: str, dtype: Any, varies: int = BY_ENVIRONMENT) -> Scalar:
        return self._scalar(("input", name), "input", np.dtype(dtype), (name,), varies)

    def inputs(self, name: str, shape: tuple[int, ...], dtype: Any, varies: int = BY_ENVIRONMENT) -> np.ndarray:
        """An array of inputs.

        Raises:
          InvalidArgumentError: there is no arithmetic for its type.
        """
        check_dtype(dtype)
        array = np.empty(shape, object)
        for place, index in enumerate(np.ndindex(shape)):
            array[index] = self.input(f"{name}_{place}", dtype, varies)
        return array

    def fixed(self, name: str, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array of inputs that all steps and environments share; of a longer one, elements are read where needed.

        Raises:
          InvalidArgumentError: there is no arithmetic for its type, or it has too many elements.
        """
        size = math.prod(shape)
        if size <= _MOST_HELD:
            return self.inputs(name, shape, dtype)
        check_dtype(dtype)
        if size > _MOST_FIXED:
            raise InvalidArgumentError(
                f"envcore_native takes arrays of params of up to {_MOST_FIXED:,} elements, got {size:,}."
            )
        array = np.empty(size, object)
        array[:] = [self.apply("load", dtype, name, place) for place in range(size)]
        return array.reshape(shape)

    def apply(self, op: str, dtype: Any, *args: Any) -> Scalar:
        """The result of an operation; an argument that is no scalar is a static one, part of the source."""
        operands = [x for x in args if isinstance(x, Scalar)]
        identity = tuple(x.number if isinstance(x, Scalar) else x for x in args)
        kinds = tuple(isinstance(x, Scalar) for x in args)
        varies = BY_ENVIRONMENT if op == "load" else max((x.varies for x in operands), default=CONSTANT)
        return self._scalar((op, np.dtype(dtype), identity, kinds), op, np.dtype(dtype), args, varies)

    def _scalar(self, identity: Any, op: str, dtype: np.dtype, args: tuple[Any, ...], varies: int) -> Scalar:
        if identity not in self._known:
            self._known[identity] = Scalar(op, dtype, args, len(self._known), varies)
        return self._known[identity]

    def array(self, value: Any, dtype: Any = None) -> np.ndarray:
        """An array of scalars; of a numpy array the constants."""
        value = np.asarray(value, dtype)
        if value.dtype == object:
            return value
        result = np.empty(value.shape, object)
        for index in np.ndindex(value.shape):
            result[index] = self.constant(value[index], value.dtype)
        return result


def live(outputs: list[Scalar], known: set[int], ends: Collection[str] = ()) -> list[Scalar]:
    """What the outputs are computed from, in order and not yet known; `known` then has them.

    What scalars with an operation of `ends` are computed from is left out.
    """
    found, stack = [], list(outputs)
    while stack:
        scalar = stack.pop()
        if scalar.number not in known:
            known.add(scalar.number)
            found.append(scalar)
            stack.extend(() if scalar.op in ends else scalar.operands)
    return sorted(found, key=lambda scalar: scalar.number)
