"""The graph of the scalars that a program computes. Equal scalars are computed once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from envcore import trees
from envcore.errors import InvalidArgumentError

CONSTANT, BY_STEP, BY_ENVIRONMENT = range(3)
_DTYPES = {"bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float32"}
_INT32 = np.dtype(np.int32)
_ANY = -(2**31), 2**31 - 1
INSTEAD = "For rollouts, use envcore.rollout.run_rollout."
_MOST_SCALARS = 20_000  # per step, because C compilers take half a minute for more. Seaquest has 4,000


def check_dtype(dtype: Any, of: str = "arrays", place: str = "") -> None:
    """Raises `InvalidArgumentError` if a dtype is not supported."""
    name = dtype.name if hasattr(dtype, "name") else np.dtype(dtype).name
    if name not in _DTYPES:
        raise InvalidArgumentError(f"envcore_native does not support {of} of {name}{place}.")


@dataclasses.dataclass(eq=False, slots=True)
class Scalar:
    """A number in the program.

    Attributes:
      op: "const", "input", "loop" for a loop variable, or an operation that `c` writes.
      dtype: the dtype.
      args: the operands. A constant has its value, and an input its name.
      number: the position in the graph, after all operands.
      varies: CONSTANT, BY_STEP if the value depends on the step alone, or BY_ENVIRONMENT if it depends on the
        environment too.
      loops: the loop variables that the value depends on.
    """

    op: str
    dtype: np.dtype
    args: tuple[Any, ...]
    number: int
    varies: int
    loops: frozenset[Scalar] = frozenset()

    @property
    def is_constant(self) -> bool:
        return self.op == "const"

    @property
    def operands(self) -> tuple[Scalar, ...]:
        return tuple(x for x in self.args if isinstance(x, Scalar))


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Key:
    """A random key, which can be an element of an array like a scalar."""

    words: tuple[Scalar, ...]


def is_key(aval: Any) -> bool:
    """Whether a type is that of random keys. Raises `InvalidArgumentError` for other keys than JAX's default ones."""
    is_one = trees.kind(aval.dtype) == "key"
    if is_one and str(aval.dtype) != "key<fry>":
        raise InvalidArgumentError(f"envcore_native only supports random keys of type threefry2x32, got {aval.dtype}.")
    return is_one


@dataclasses.dataclass(frozen=True)
class Table:
    """A table of constants for lookups at run time, as bytes, in which 0 and -0 differ."""

    dtype: np.dtype
    content: bytes


class Graph:
    """Makes scalars. Scalars with the same operation and arguments are the same object.

    Args:
      most_unrolled: arrays with more elements are computed in loops. With None, nothing is.

    Attributes:
      most_selects: up to this many constants are chosen by selects. More constants are stored in a table.
      num_rows: the batch size, while a function of the batch is interpreted for one row.
      shared: names of arrays that all environments share.
      affine: loop variables, and their sums that have a different value in every iteration.
    """

    def __init__(self, most_unrolled: int | None = None) -> None:
        self.most_unrolled, self.most_selects = most_unrolled, 64 if most_unrolled is None else 2
        self.num_rows: int | None = None
        self.shared: set[str] = set()
        self.affine: set[Scalar] = set()
        self._known: dict[Any, Scalar] = {}
        self._ranges: dict[Scalar, tuple[int, int]] = {}
        self._sums: dict[Scalar, tuple[Scalar, int]] = {}

    def number(self, num_rows: int) -> int | Scalar:
        """The index of the current row in a batch of `num_rows`."""
        return self.within(self.input("number", _INT32), 0, num_rows - 1) if num_rows > 1 else 0

    def constant(self, value: Any, dtype: Any) -> Scalar:
        value = np.asarray(value, dtype)[()]
        return self._scalar(("const", value.dtype, value.tobytes()), "const", value.dtype, (value,), CONSTANT)

    def input(self, name: str, dtype: Any, varies: int = BY_ENVIRONMENT) -> Scalar:
        return self._scalar(("input", name), "input", np.dtype(dtype), (name,), varies)

    def apply(self, op: str, dtype: Any, *args: Any) -> Scalar:
        """The result of an operation. Arguments other than scalars are static parts of the source."""
        operands = [x for x in args if isinstance(x, Scalar)]
        identity = tuple(x.number if isinstance(x, Scalar) else x for x in args)
        kinds = tuple(isinstance(x, Scalar) for x in args)
        varies = max((x.varies for x in operands), default=CONSTANT)
        if op == "lookup" and not isinstance(args[0], Table):
            varies = max(varies, BY_STEP) if args[0] in self.shared else BY_ENVIRONMENT
        scalar = self._scalar((op, np.dtype(dtype), identity, kinds), op, np.dtype(dtype), args, varies)
        if any(x.loops for x in operands):
            scalar.loops = frozenset().union(*(x.loops for x in operands))
        return scalar

    def _scalar(self, identity: Any, op: str, dtype: np.dtype, args: tuple[Any, ...], varies: int) -> Scalar:
        if identity not in self._known:
            if len(self._known) >= _MOST_SCALARS and self.most_unrolled is not None:
                raise InvalidArgumentError(f"a step of over {_MOST_SCALARS:,} operations is not supported. {INSTEAD}")
            self._known[identity] = Scalar(op, dtype, args, len(self._known), varies)
        return self._known[identity]

    # Index arithmetic with numbers and int32 scalars.

    def loop(self, size: int) -> Scalar:
        """A new loop variable, from 0 to `size` - 1."""
        scalar = self.apply("loop", _INT32, len(self._known))
        scalar.loops = frozenset([scalar])
        self.affine.add(scalar)
        self._ranges[scalar] = (0, size - 1)
        return scalar

    def range_of(self, index: int | Scalar) -> tuple[int, int]:
        """The smallest and largest value of an index."""
        return (index, index) if isinstance(index, int) else self._ranges.get(index, _ANY)

    def parts_of(self, index: int | Scalar) -> tuple[Scalar | None, int]:
        """The scalar and the number whose sum is the index."""
        return (None, index) if isinstance(index, int) else self._sums.get(index, (index, 0))

    def add(self, index: int | Scalar, number: int | Scalar) -> Any:
        """The sum of two indices of the same axis."""
        if isinstance(number, Scalar):
            if isinstance(index, int):
                return self.add(number, index)
            ranges = zip(self.range_of(index), self.range_of(number), strict=True)
            return self.within(self.apply("op_add", _INT32, index, number), *map(sum, ranges))
        base, offset = self.parts_of(index)
        if base is None or number == 0:
            return offset + number if base is None else index
        if offset + number == 0:
            return base
        result = self.apply("op_add", _INT32, base, self.constant(offset + number, _INT32))
        self._sums[result] = base, offset + number
        return self.within(result, *(x + number for x in self.range_of(index)))

    def times(self, index: int | Scalar, number: int) -> Any:
        if isinstance(index, int) or number == 1:
            return index * number if isinstance(index, int) else index
        low, high = sorted(x * number for x in self.range_of(index))
        return self.within(self.apply("op_mul", _INT32, index, self.constant(number, _INT32)), low, high)

    def divide(self, index: int | Scalar, number: int) -> tuple[int | Scalar, int | Scalar]:
        """The quotient and remainder of a non-negative index."""
        if isinstance(index, int):
            return divmod(index, number)
        high = self.range_of(index)[1]
        if high < number:
            return 0, index
        divisor = self.constant(number, _INT32)
        quotient, rest = (self.apply(f"op_{op}", _INT32, index, divisor) for op in ("quotient", "remainder"))
        return self.within(quotient, 0, high // number), self.within(rest, 0, number - 1)

    def combine(self, indices: Sequence[int | Scalar], shape: Sequence[int]) -> int | Scalar:
        """The flat index of an element in an array of the given shape, in row-major order."""
        place, scalars, stride = 0, [], 1
        for index, size in zip(reversed(indices), reversed(shape), strict=True):
            base, offset = self.parts_of(index)
            place += offset * stride
            if base is not None and size > 1:
                scalars.append((base, stride))
            stride *= size
        total, are_affine = None, all(base in self.affine for base, _ in scalars)
        for base, stride_of in reversed(scalars):
            term = self.times(base, stride_of)
            total = term if total is None else self.apply("op_add", _INT32, total, term)
        if total is None:
            return place
        if are_affine:
            self.affine.add(total)
        return self.within(self.add(total, place), 0, stride - 1)

    def clamp(self, index: int | Scalar, most: int) -> int | Scalar:
        """The index, clamped to the range from 0 to `most`."""
        if isinstance(index, int):
            return min(max(index, 0), most)
        low, high = self.range_of(index)
        if most == 0 or high <= 0:
            return 0
        if low < 0:
            index = self.apply("op_max", _INT32, index, self.constant(0, _INT32))
        if high > most:
            index = self.apply("op_min", _INT32, index, self.constant(most, _INT32))
        return self.within(index, max(low, 0), min(high, most))

    def within(self, index: int | Scalar, low: int, high: int) -> Any:
        if isinstance(index, Scalar):
            before = self.range_of(index)
            self._ranges[index] = max(low, before[0]), min(high, before[1])
        return index

    def is_not_negative(self, index: int | Scalar) -> bool | Scalar:
        low, high = self.range_of(index)
        if low >= 0 or high < 0:
            return low >= 0
        return self.apply("op_ge", bool, index, self.constant(0, _INT32))

    def is_below(self, index: int | Scalar, number: int) -> bool | Scalar:
        low, high = self.range_of(index)
        if low >= number or high < number:
            return high < number
        return self.apply("op_lt", bool, index, self.constant(number, _INT32))


def live(outputs: list[Scalar], known: set[int]) -> list[Scalar]:
    """The scalars that the outputs depend on and that are not in `known`, in order. Adds them to `known`."""
    found, stack = [], list(outputs)
    while stack:
        scalar = stack.pop()
        if scalar.number not in known:
            known.add(scalar.number)
            found.append(scalar)
            stack.extend(scalar.operands)
    return sorted(found, key=lambda scalar: scalar.number)
