"""Settings of algorithms: dataclasses with checked fields, and one TOML file per environment. Imports no JAX.

A file `configs/CartPole-v1.toml` has a table for each algorithm:

    [ppo]
    total_steps = 500_000
    learning_rate = 1e-3

What it leaves out keeps the dataclass's default.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from envcore_runs.records import File, shown

from envcore_baselines.errors import ConfigError

FOLDER = Path(__file__).parent / "configs"

_MOST_LAYERS = 100
"""Of a network; with thousands, its compilation takes minutes."""

Config = TypeVar("Config")


def at_least(smallest: int, default: int, largest: int = 2**31 - 1) -> Any:
    """A field that holds an integer, bounds included."""
    return dataclasses.field(default=default, metadata={"at_least": (smallest, largest)})


def between(low: float, high: float, default: float) -> Any:
    """A field that holds a number, bounds included."""
    return dataclasses.field(default=default, metadata={"between": (low, high)})


def one_of(default: str, *others: str) -> Any:
    """A field that holds one of some words."""
    return dataclasses.field(default=default, metadata={"one_of": (default, *others)})


def of_environment(env_id: str, algorithm: str) -> dict[str, Any]:
    """The settings in the environment's file; none if it has no file, or no table of the algorithm."""
    path = FOLDER / f"{env_id.replace('/', '-')}.toml"
    return File(path).read(dict[str, dict[str, Any]]).get(algorithm, {}) if path.exists() else {}


def build(kind: type[Config], values: Mapping[str, Any], source: str) -> Config:
    """A configuration with these values, and defaults for all others.

    Args:
      kind: the dataclass.
      values: by field.
      source: where they come from, for error messages.

    Raises:
      ConfigError: there is no such field, or a value is invalid.
    """
    fields: dict[str, Any] = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in values:
        if name not in fields:
            raise ConfigError(f"{source}: there is no setting {name!r}; there are {', '.join(fields)}.")
    checked = {name: _checked(fields[name], value, source) for name, value in values.items()}
    return kind(**checked)


def as_toml(config: Any, algorithm: str) -> str:
    """The configuration as a table of an environment's file."""
    lines = [f"{name} = {_literal(value)}" for name, value in dataclasses.asdict(config).items()]
    return "\n".join([f"[{algorithm}]", *lines])


def _checked(field: Any, value: Any, source: str) -> Any:
    def invalid(wanted: str) -> ConfigError:
        return ConfigError(f"{source}: {field.name} must be {wanted}, got {shown(value)}.")

    is_number = type(value) is int or (type(value) is float and math.isfinite(value))
    if isinstance(field.default, bool):
        if not isinstance(value, bool):
            raise invalid("true or false")
        return value
    if "at_least" in field.metadata:
        smallest, largest = field.metadata["at_least"]
        if not is_number or value != int(value) or value < smallest:
            raise invalid(f"an integer of at least {smallest}")
        if value > largest:
            raise invalid(f"at most {largest:,}")
        return int(value)
    if "between" in field.metadata:
        low, high = field.metadata["between"]
        if not is_number or not low <= value <= high:
            raise invalid(f"a number from {low} to {high}")
        return float(value)
    if "one_of" in field.metadata:
        if value not in field.metadata["one_of"]:
            raise invalid(f"one of {', '.join(map(repr, field.metadata['one_of']))}")
        return value
    if not isinstance(value, list | tuple) or not all(type(x) is int and 0 < x < 2**31 for x in value):
        raise invalid("a list of positive integers below 2**31")
    if len(value) > _MOST_LAYERS:
        raise ConfigError(f"{source}: {field.name} must be at most {_MOST_LAYERS} layers, got {len(value):,}.")
    return tuple(value)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    return str(list(value)) if isinstance(value, tuple) else repr(value)
