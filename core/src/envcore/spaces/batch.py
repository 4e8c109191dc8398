"""Spaces of batches of values."""

from __future__ import annotations

import jax
import numpy as np

from envcore import options
from envcore.devices import AxisName
from envcore.spaces.base import Space
from envcore.spaces.box import Box
from envcore.spaces.composite import Dict, Tuple
from envcore.spaces.discrete import Discrete, MultiDiscrete
from envcore.spaces.tree import Tree


def batch_space(space: Space, num: int, axis_name: AxisName | None = None) -> Space:
    """The space of batches of `num` values, stacked along a new first axis; it samples a whole batch at once.

    With an `axis_name` it is one device's share, and `sample` works only inside `jax.shard_map` or `jax.pmap`: the
    devices along that axis, all with the same key, together sample `batch_space(space, num * num_devices)`.

    Raises:
      ValueError: num is not a positive integer.
      TypeError: the space is not one of envcore's own.
    """
    num = options.positive_integer("num", num)
    match space:
        case Discrete():
            return MultiDiscrete(np.full(num, space.n), axis_name)
        case MultiDiscrete():
            return MultiDiscrete(np.broadcast_to(space.nvec, (num, *space.shape)), axis_name)
        case Box():
            return Box(space.low, space.high, (num, *space.shape), space.dtype, axis_name)
        case Tuple():
            return Tuple(batch_space(part, num, axis_name) for part in space.spaces)
        case Dict():
            return Dict({name: batch_space(part, num, axis_name) for name, part in space.spaces.items()})
        case Tree():
            return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct((num, *x.shape), x.dtype), space.struct))
        case _:
            raise TypeError(f"batch_space supports only envcore's own spaces, got {space!r}")


def unbatch_space(space: Space) -> Space:
    """The space of one value of a batch: undoes `batch_space`.

    Raises:
      TypeError: the space has no batch axis, or is not one of envcore's own.
    """
    match space:
        case MultiDiscrete():
            return Discrete(int(space.nvec[0])) if space.nvec.ndim == 1 else MultiDiscrete(space.nvec[0])
        case Box() if space.shape:
            return Box(space.low[0], space.high[0], space.shape[1:], space.dtype)
        case Tuple():
            return Tuple(unbatch_space(part) for part in space.spaces)
        case Dict():
            return Dict({name: unbatch_space(part) for name, part in space.spaces.items()})
        case Tree():
            return Tree(jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape[1:], x.dtype), space.struct))
        case _:
            raise TypeError(f"unbatch_space needs a space with a batch axis, got {space!r}")
