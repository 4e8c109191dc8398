"""Spaces of envcore as specs of dm_env."""

from __future__ import annotations

from typing import Any

import numpy as np
from dm_env import specs
from envcore import spaces


def to_spec(space: spaces.Space, name: str) -> Any:
    """The spec with the same values, shape and dtype; a tuple or dict of specs for a space of several parts.

    Raises:
      TypeError: the space is not one of envcore's own.
    """
    match space:
        case spaces.Discrete():
            return specs.DiscreteArray(space.n, np.int32, name)
        case spaces.MultiDiscrete():
            return specs.BoundedArray(space.shape, space.dtype, 0, space.nvec - 1, name)
        case spaces.Box() if space.dtype.kind == "f" and np.isinf(space.low).all() and np.isinf(space.high).all():
            return specs.Array(space.shape, space.dtype, name)
        case spaces.Box():
            return specs.BoundedArray(space.shape, space.dtype, space.low, space.high, name)
        case spaces.Tuple():
            return tuple(to_spec(part, f"{name}.{index}") for index, part in enumerate(space.spaces))
        case spaces.Dict():
            return {key: to_spec(part, f"{name}.{key}") for key, part in space.spaces.items()}
        case _:
            raise TypeError(f"only envcore's own spaces have a counterpart in dm_env, got {space!r}")
