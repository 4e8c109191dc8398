"""Settings of algorithms: dataclasses that msgspec validates, and one TOML file of tuned settings per environment.

    total_steps: Steps = 500_000
    discount: Fraction = 0.99
    max_grad_norm: Weight = 0.5
    activation: Literal["tanh", "relu"] = "tanh"
    hidden: tuple[Positive, ...] = (64, 64)
    anneal: bool = True

You can use any type that `msgspec.convert` takes. The file `configs/CartPole-v1.toml` of a package has a table for each
of its algorithms:

    [ppo]
    total_steps = 500_000
    learning_rate = 1e-3

Other settings keep the dataclass's defaults. This module imports no JAX.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from envcore import suggestions
from envcore_runs.records import File

from envcore_baselines.errors import ConfigError

Steps = Annotated[int, msgspec.Meta(ge=1, le=10**12)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=2**31 - 1)]
Natural = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]
Fraction = Annotated[float, msgspec.Meta(ge=0, le=1)]
Finite = Annotated[float, msgspec.Meta(ge=-(10**6), le=10**6)]
Weight = Annotated[float, msgspec.Meta(ge=0, le=10**6)]

Config = TypeVar("Config")


def folder_of(algorithm: type[Any]) -> Path:
    """The folder `configs` of the algorithm's package, with a file for each tuned environment."""
    package = sys.modules[algorithm.__module__.partition(".")[0]]
    return Path(getattr(package, "__path__", [os.devnull])[0]) / "configs"


def of_environment(env_id: str, algorithm: str, folder: Path) -> dict[str, Any]:
    """The tuned settings for an environment. Empty if it has no file or no table for the algorithm."""
    path = folder / f"{env_id.replace('/', '-')}.toml"
    return File(path).read(dict[str, dict[str, Any]]).get(algorithm, {}) if path.exists() else {}


def build(kind: type[Config], values: Mapping[str, Any], source: str) -> Config:
    """Validates settings, and fills in defaults for the others.

    Args:
      kind: the dataclass.
      values: values by field.
      source: where the values come from, for error messages.

    Raises:
      ConfigError: there is no such field, or a value is invalid.
    """
    fields: dict[str, Any] = {field.name: field.type for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints, found = get_type_hints(kind, include_extras=True), dict[str, Any]()
    for name, value in values.items():
        if name not in fields:
            meant = suggestions.hint(name, fields)
            raise ConfigError(f"{source}: there is no setting {name!r}.{meant} The settings are {', '.join(fields)}.")
        try:
            found[name] = msgspec.convert(_plain(value), hints[name])
        except msgspec.ValidationError as error:
            is_choice = get_origin(hints[name]) is Literal
            problem = f"Expected one of {get_args(hints[name])}" if is_choice else error
            raise ConfigError(f"{source}: {name} is {value!r}. {problem}.") from None
    return kind(**found)


def as_toml(config: Any, algorithm: str) -> str:
    """Formats settings as a table for an environment's TOML file. Leaves out settings that are None."""
    fields = dataclasses.asdict(config).items()
    text = {name: str(x) if isinstance(x, float) else json.dumps(x, ensure_ascii=False) for name, x in fields}
    lines = [f"{name} = {value}" for name, value in text.items() if value != "null"]  # TOML has no null
    header = algorithm if algorithm.isidentifier() else json.dumps(algorithm)
    return "\n".join([f"[{header}]", *lines])


def _plain(value: Any) -> Any:
    """Converts NumPy and JAX scalars, also in lists, to Python ones, and whole floats such as 1e6 to integers."""
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    value = value.item() if getattr(value, "shape", None) == () else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
