"""Jumanji's specs as spaces."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from envcore import spaces
from envcore.errors import InvalidArgumentError

_STEPS = ("step", "step_count")

# Bounds that the library declares and breaks: by environment and entry, the true ones (None: as declared).
_WIDER: dict[tuple[str, str], tuple[float | None, float | None]] = {
    ("TSP", "position"): (-1, None),  # before the first city
}

_ONE_TOO_MANY = ("MultiCVRP",)
"""Environments that declare an action more than there are: a node after the last one."""


def observation_space(spec: Any, env_name: str, name: str = "") -> spaces.Space:
    """The space of observations that `as_dicts` has made dicts."""
    from jumanji import specs

    if not isinstance(spec, specs.Array):
        parts = {name: part for name, part in vars(spec).items() if isinstance(part, specs.Spec)}
        return spaces.Dict({name: observation_space(part, env_name, name) for name, part in parts.items()})
    free = spaces.unbounded_space(jax.ShapeDtypeStruct(spec.shape, spec.dtype))
    assert isinstance(free, spaces.Box)
    if name in _STEPS and not spec.shape:
        return spaces.Box(0, free.high, (), spec.dtype)
    if not isinstance(spec, specs.BoundedArray):
        return free
    wider = _WIDER.get((env_name, name), (None, None))
    declared = np.asarray(spec.minimum), np.asarray(spec.maximum)
    low, high = (bound if known is None else known for known, bound in zip(wider, declared, strict=True))
    return spaces.Box(low, high, spec.shape, spec.dtype)


def action_space(spec: Any, env_name: str) -> spaces.Space:
    """The space of actions.

    Raises:
      InvalidArgumentError: there is none for the spec.
    """
    from jumanji import specs

    if isinstance(spec, specs.DiscreteArray):
        return spaces.Discrete(int(spec.num_values))
    if isinstance(spec, specs.MultiDiscreteArray):
        return spaces.MultiDiscrete(np.asarray(spec.num_values))
    if isinstance(spec, specs.BoundedArray):
        low, high = (np.broadcast_to(np.asarray(bound), spec.shape) for bound in (spec.minimum, spec.maximum))
        if spec.dtype.kind in "iu" and spec.shape and (low == 0).all():
            return spaces.MultiDiscrete(high.astype(np.int32) + (env_name not in _ONE_TOO_MANY))
        return spaces.Box(low, high, spec.shape, spec.dtype)
    raise InvalidArgumentError(f"{env_name} has the action spec {spec!r}, which envcore does not support.")
