"""What decides a run, as JSON can hold it: a run may go on where another had the same description."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np
from envcore import trees
from envcore.errors import InvalidArgumentError

_MOST_NUMBERS = 64  # of an array that is written out


def described(value: Any) -> Any:
    """The description of an option, of params or of an environment. Different values have different descriptions.

    Functions alone are described by their names.

    Raises:
      InvalidArgumentError: nothing but the value's place in memory tells it from others.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if trees.is_key(value):
        return described(jax.random.key_data(value))
    if isinstance(value, np.generic | np.ndarray | jax.Array):
        return _described_array(np.asarray(value))
    if isinstance(value, Mapping):
        return {str(name): described(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [described(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"class": name_of(type(value)), **fields_of(value)}
    if isinstance(value, functools.partial) or hasattr(value, "__qualname__"):
        return name_of(value)
    text = repr(value)
    if re.search(r" at 0x[0-9a-fA-F]+", text):
        raise InvalidArgumentError(
            f"what is saved must say what it is of, and {reprlib.repr(value)} has no description: use a dataclass."
        )
    return text


def fields_of(value: Any) -> dict[str, Any]:
    """The descriptions of a dataclass's fields."""
    return {field.name: described(getattr(value, field.name)) for field in dataclasses.fields(value)}


def name_of(function: Callable[..., Any]) -> str:
    """What a function or a class is called, `module:name`; an object of another kind goes by its class."""
    inner: Any = function.func if isinstance(function, functools.partial) else function
    named = inner if hasattr(inner, "__qualname__") else type(inner)
    return f"{named.__module__}:{named.__qualname__}"


def _described_array(array: np.ndarray) -> Any:
    if array.size <= _MOST_NUMBERS:
        return array.tolist()
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "sha256": digest}
