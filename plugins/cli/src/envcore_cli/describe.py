"""`envcore info`."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np
from envcore.engine.arguments import param_names
from envcore.environment import Environment
from envcore_runs.choice import Choice
from rich.table import Table
from rich.text import Text

from envcore_cli import output

_MOST_NUMBERS = 16
"""Largest size of an array that is printed in full."""


def show_environment(choice: Choice) -> None:
    """Prints what you need to know about an environment before the first step."""
    found = choice.found
    env, params = choice.make()
    table = Table(show_header=False, box=None, pad_edge=False)
    facts = {
        "id": found.spec.id,
        "distribution": found.distribution,
        "class": found.spec.entry_point,
        "source": found.spec.source,
        **describe(env, params),
    }
    for name, text in facts.items():
        table.add_row(name, Text(text))
    output.show(table)
    for cls in dict.fromkeys((type(env.unwrapped), type(env))):
        rules = cls.__doc__ or ""
        if not rules.startswith(f"{cls.__name__}("):  # dataclasses without a docstring have their signature as one
            output.write(f"\n{inspect.cleandoc(rules)}")


def describe(env: Environment, params: Any) -> dict[str, str]:
    """Describes an environment's spaces, options and params as text."""
    names = ", ".join(f"{i} {name}" for i, name in enumerate(env.action_names))
    return {
        "observation": repr(env.observation_space(params)),
        "action": repr(env.action_space(params)) + (f": {names}" if names else ""),
        "options": _options(env),
        "params": _values(params, param_names(params)),
    }


def _options(env: Environment) -> str:
    return _values(env, [field.name for field in dataclasses.fields(env) if field.repr]) or "none"


def _values(instance: object, names: Iterable[str]) -> str:
    return ", ".join(f"{name}={_shown(getattr(instance, name))}" for name in names)


def _shown(value: Any) -> str:
    """Formats an array as Python numbers. Large arrays become dtype and shape.

    Float32 numbers have as few digits as identify them, such as 9.8 instead of 9.800000190734863.
    """
    if not isinstance(value, jax.Array | np.ndarray):
        return repr(value)
    if value.size > _MOST_NUMBERS:
        return f"{value.dtype} {value.shape}"
    value = np.asarray(value)
    return repr((value.astype(str).astype(float) if value.dtype.kind == "f" else value).tolist())
