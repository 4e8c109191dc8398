"""Describes the arguments of a run as JSON. A run can be resumed only with the same description."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from envcore import trees


def described(value: Any) -> Any:
    """Returns the description of an option, of params or of an environment. Different values differ in it.

    Functions are described only by their names. Objects that are not dataclasses are described by their `repr`, or by
    their class if they have none of their own.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if trees.is_key(value):
        return described(jax.random.key_data(value))
    if isinstance(value, np.generic | np.ndarray | jax.Array):
        return np.asarray(value).tolist()
    if isinstance(value, Mapping):
        return {str(name): described(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: described(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"class": name_of(type(value)), **fields}
    if isinstance(value, functools.partial) or hasattr(value, "__qualname__"):
        return name_of(value)
    return name_of(value) if type(value).__repr__ is object.__repr__ else repr(value)


def name_of(function: Callable[..., Any]) -> str:
    """Returns the name of a function or class as `module:name`. For any other object, the name of its class."""
    inner: Any = function.func if isinstance(function, functools.partial) else function
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{named.__module__}:{named.__qualname__}"
