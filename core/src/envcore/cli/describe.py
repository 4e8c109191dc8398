"""`envcore info`."""

from __future__ import annotations

import dataclasses
import inspect
import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from envcore import registry


def show_environment(env_id: str) -> None:
    """Prints what a user needs to know of an environment before the first step."""
    console = Console()
    found = registry.find(env_id)
    env, params = registry.make(env_id)
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("id", found.spec.id)
    table.add_row("distribution", found.distribution)
    table.add_row("class", found.spec.entry_point)
    table.add_row("source", found.spec.source)
    table.add_row("observation", repr(env.observation_space(params)))
    table.add_row("action", repr(env.action_space(params)))
    table.add_row("options", _fields(env) or "none")
    table.add_row("params", _fields(params))
    console.print(table, markup=False)
    console.print()
    console.print(inspect.getdoc(sys.modules[type(env).__module__]) or "", markup=False, highlight=False)


def _fields(instance: object) -> str:
    assert dataclasses.is_dataclass(instance)
    pairs = [(field.name, getattr(instance, field.name)) for field in dataclasses.fields(instance)]
    return ", ".join(f"{name}={value.tolist() if isinstance(value, np.ndarray) else value!r}" for name, value in pairs)
