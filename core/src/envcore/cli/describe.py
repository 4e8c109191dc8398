"""`envcore info`."""

from __future__ import annotations

import dataclasses
import inspect
import sys

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from envcore import registry


def show_environment(env_id: str) -> None:
    """Prints what a user needs to know of an environment before the first step."""
    console = Console()
    found = registry.find(env_id)
    env, params = registry.make(env_id)
    table = Table(show_header=False, box=None, pad_edge=False)
    facts = {
        "id": found.spec.id,
        "distribution": found.distribution,
        "class": found.spec.entry_point,
        "source": found.spec.source,
        "observation": repr(env.observation_space(params)),
        "action": repr(env.action_space(params)),
        "options": _fields(env) or "none",
        "params": _fields(params),
    }
    for name, text in facts.items():
        table.add_row(name, Text(text))  # `Text`, because brackets are no markup here
    console.print(table)
    console.print()
    console.print(
        inspect.getdoc(sys.modules[type(env).__module__]) or "", markup=False, highlight=False, soft_wrap=True
    )


def _fields(instance: object) -> str:
    assert dataclasses.is_dataclass(instance)
    pairs = [(field.name, getattr(instance, field.name)) for field in dataclasses.fields(instance)]
    return ", ".join(f"{name}={value.tolist() if isinstance(value, np.ndarray) else value!r}" for name, value in pairs)
