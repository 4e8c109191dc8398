"""Settings of algorithms: dataclasses, whose annotations are checked, and one TOML file per environment.

    steps: int = 128                        # at least 1; at least 0 if the default is 0
    scale: float = 0.5                      # from 0 to 1,000,000
    discount: Annotated[float, (0, 1)] = 0.99       # from 0 to 1; integers take bounds as well
    activation: Literal["tanh", "relu"] = "tanh"
    hidden: tuple[int, ...] = (64, 64)      # at least 1 each
    anneal: bool = True
    schedule: str = "linear"

This module imports no JAX. A file `configs/CartPole-v1.toml` of a package has a table for each of its algorithms:

    [ppo]
    total_steps = 500_000
    learning_rate = 1e-3

What it leaves out keeps the dataclass's default.
"""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from envcore import suggestions
from envcore_runs.records import File

from envcore_baselines.errors import ConfigError

_LARGEST, _LARGEST_FLOAT = 2**31 - 1, 10**6
"""Integer and number without bounds of their own."""

Config = TypeVar("Config")


def folder_of(algorithm: type[Any]) -> Path:
    """The folder `configs` of the package that defines an algorithm, which has a file for each tuned environment."""
    package = sys.modules[algorithm.__module__.partition(".")[0]]
    return Path(getattr(package, "__path__", [os.devnull])[0]) / "configs"


def of_environment(env_id: str, algorithm: str, folder: Path) -> dict[str, Any]:
    """The settings in the environment's file; none if it has no file, or no table of the algorithm."""
    path = folder / f"{env_id.replace('/', '-')}.toml"
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
    hints = get_type_hints(kind, include_extras=True)
    found: dict[str, Any] = {}
    for name, value in values.items():
        if name not in fields:
            meant = suggestions.hint(name, fields)
            raise ConfigError(f"{source}: there is no setting {name!r}.{meant} The settings are {', '.join(fields)}.")
        try:
            found[name] = _checked(hints[name], fields[name].default, _plain(value))
        except ValueError as error:
            raise ConfigError(f"{source}: {name} must be {error}, got {value!r}.") from None
    return kind(**found)


def as_toml(config: Any, algorithm: str) -> str:
    """The configuration as a table of an environment's file."""
    fields = dataclasses.asdict(config).items()
    lines = [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in fields]
    header = algorithm if algorithm.isidentifier() else json.dumps(algorithm)
    return "\n".join([f"[{header}]", *lines])


def _checked(hint: Any, default: Any, value: Any) -> Any:
    """The value as the annotation has it.

    Raises:
      ValueError: with what it must be.
    """
    kind, bounds = get_args(hint) if get_origin(hint) is Annotated else (hint, None)
    number = value if type(value) in (int, float) and math.isfinite(value) else math.nan
    if kind is int:
        low, high = bounds or (min(default, 1), _LARGEST)
        if not (low <= number <= high and number == int(number)):
            raise ValueError(f"an integer from {low:,} to {high:,}")
        return int(number)
    if kind is float:
        low, high = bounds or (0, _LARGEST_FLOAT)
        if not low <= number <= high:
            raise ValueError(f"a number from {low:,} to {high:,}")
        return float(number)
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"one of {', '.join(map(repr, get_args(kind)))}")
    elif get_origin(kind) is tuple:
        if not isinstance(value, list | tuple) or not all(type(x) is int and 0 < x <= _LARGEST for x in value):
            raise ValueError("a list of positive integers, such as [64, 64]")
        return tuple(value)
    elif type(value) is not kind:
        raise ValueError("true or false" if kind is bool else "a string")
    return value


def _plain(value: Any) -> Any:
    """Numbers of numpy's and JAX's, also those in a list, as Python's; other values as they are."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.item() if getattr(value, "shape", None) == () else value
