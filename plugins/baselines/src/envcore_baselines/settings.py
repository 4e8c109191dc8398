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
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from envcore import suggestions
from envcore_runs.records import File

from envcore_baselines.errors import ConfigError

_MOST_LAYERS = 100
"""Of a network; with thousands, its compilation takes minutes."""

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
    for name in values:
        if name not in fields:
            meant = suggestions.hint(name, fields)
            raise ConfigError(f"{source}: there is no setting {name!r}.{meant} The settings are {', '.join(fields)}.")
    checked = {name: _checked(name, hints[name], fields[name].default, value, source) for name, value in values.items()}
    return kind(**checked)


def check_kind(kind: type[Any]) -> None:
    """Checks that a dataclass is one of settings.

    Raises:
      ConfigError: a field has no default, or an annotation that is none of those above.
    """
    try:
        hints = get_type_hints(kind, include_extras=True)
    except NameError as error:  # of a class inside a function
        raise ConfigError(f"the annotations of {kind.__name__} cannot be read: {error}.") from error
    for field in dataclasses.fields(kind):
        hint = hints[field.name]
        plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        if plain not in (bool, int, float, str, tuple[int, ...]) and get_origin(plain) is not Literal:
            raise ConfigError(
                f"the setting {field.name} of {kind.__name__} must be a bool, int, float, str, Literal or "
                f"tuple[int, ...], got {hint!r}."
            )
        if field.default is dataclasses.MISSING or not field.init:
            raise ConfigError(f"the setting {field.name} of {kind.__name__} needs a default.")


def as_toml(config: Any, algorithm: str) -> str:
    """The configuration as a table of an environment's file."""
    lines = [f"{name} = {_literal(value)}" for name, value in dataclasses.asdict(config).items()]
    header = algorithm if re.fullmatch(r"[\w-]+", algorithm, re.ASCII) else f'"{algorithm}"'
    return "\n".join([f"[{header}]", *lines])


def _checked(name: str, hint: Any, default: Any, value: Any, source: str) -> Any:
    def invalid(wanted: str) -> ConfigError:
        return ConfigError(f"{source}: {name} must be {wanted}, got {value!r}.")

    value = _plain(value)
    is_number = type(value) is int or (type(value) is float and math.isfinite(value))
    kind, bounds = (hint.__origin__, hint.__metadata__[0]) if get_origin(hint) is Annotated else (hint, None)
    if kind is bool:
        if not isinstance(value, bool):
            raise invalid("true or false")
        return value
    if kind is int:
        smallest, largest = bounds or (min(default, 1), _LARGEST)
        if not is_number or value != int(value) or value < smallest:
            raise invalid(f"an integer of at least {smallest}")
        if value > largest:
            raise invalid(f"at most {largest:,}")
        return int(value)
    if kind is float:
        low, high = bounds or (0, _LARGEST_FLOAT)
        if not is_number or not low <= value <= high:
            raise invalid(f"a number from {low} to {high:,}")
        return float(value)
    if kind is str:
        if not isinstance(value, str):
            raise invalid("a string")
        return value
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise invalid(f"one of {', '.join(map(repr, get_args(kind)))}")
        return value
    value = list(map(_plain, value)) if isinstance(value, list | tuple) else value
    if not isinstance(value, list) or not all(type(x) is int and 0 < x < 2**31 for x in value):
        raise invalid("a list of positive integers below 2**31, such as [64, 64]")
    if len(value) > _MOST_LAYERS:
        raise ConfigError(f"{source}: {name} must be at most {_MOST_LAYERS} layers, got {len(value):,}.")
    return tuple(value)


def _plain(value: Any) -> Any:
    """A number of numpy's or JAX's as one of Python's; other values as they are."""
    return value.item() if getattr(value, "shape", None) == () else value


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return str(list(value)) if isinstance(value, tuple) else repr(value)
