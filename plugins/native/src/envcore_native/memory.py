"""Arrays whose elements lie in memory in a regular order, so that their places can be computed."""

from __future__ import annotations

import dataclasses

import numpy as np

from envcore_native.scalars import Table


@dataclasses.dataclass(frozen=True)
class Memory:
    """Where the elements of an array are: `of[start + sum(index * strides)]`.

    Attributes:
      of: the name of an array of the program, or a table of constants.
      start: place of the first element.
      strides: elements from one to the next along each axis.
    """

    of: str | Table
    start: int
    strides: tuple[int, ...]


def memory_of(x: np.ndarray) -> Memory | None:
    """Where an array of scalars is in memory; None if it is not there, or in no regular order."""
    scalars = list(x.flat)
    if not scalars:
        return None
    if all(scalar.is_constant for scalar in scalars):
        table = Table(scalars[0].dtype, tuple(scalar.args[0] for scalar in scalars))
        return Memory(table, 0, tuple(np.prod(x.shape[axis + 1 :], dtype=int).item() for axis in range(x.ndim)))
    if any(scalar.op != "load" or scalar.args[0] != scalars[0].args[0] for scalar in scalars):
        return None
    places = np.array([scalar.args[1] for scalar in scalars]).reshape(x.shape)
    start = places.flat[0].item()
    seconds = [tuple(int(i == axis) for i in range(x.ndim)) for axis in range(x.ndim)]
    strides = tuple((places[i].item() - start if n > 1 else 0) for i, n in zip(seconds, x.shape, strict=True))
    regular = start + np.tensordot(strides, np.indices(x.shape), 1) if x.ndim else start
    return Memory(scalars[0].args[0], start, strides) if np.array_equal(places, regular) else None
