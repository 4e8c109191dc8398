"""The algorithms by name, or as classes. Imports no JAX before one is imported."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from envcore import registry, suggestions
from envcore.specs import AlgorithmSpec
from envcore.suggestions import left_out
from envcore_runs import user_modules

from envcore_baselines import settings
from envcore_baselines.errors import ConfigError
from envcore_baselines.plugin import envcore_algorithms

if TYPE_CHECKING:
    import numpy as np

    from envcore_baselines.learner import Learner

OURS = ", ".join(spec.name for spec in envcore_algorithms())
"""The names of those of this package."""

Algorithm: TypeAlias = str | type[Any]
"""An announced name, `MODULE:CLASS`, or a class: one with the members of `Learner`, and `Config`."""


def checked(name: str) -> str:
    """The name of an algorithm, before it is imported.

    Raises:
      ConfigError: there is no such algorithm, or several distributions announce it.
    """
    if registry.announced(AlgorithmSpec).find(name, ConfigError) is None and not user_modules.is_reference(name):
        known = list(registry.announced(AlgorithmSpec))
        parts = [
            f"there is no algorithm {name!r}.{suggestions.hint(name, known)}",
            f"Available: {', '.join(known) or 'none'}.",
            "For your own, pass MODULE:CLASS, as in `import MODULE`.",
        ]
        raise ConfigError(" ".join([*parts, *left_out(registry.plugins)]))
    return name


def name_of(what: str, value: Any, *, is_saved: bool) -> str:
    """What a run calls an algorithm or a network.

    Raises:
      InvalidArgumentError: the run is saved, and nothing could find the value again by its name.
    """
    if isinstance(value, str):
        return value
    from envcore_runs import description

    return user_modules.reference_to(f"the {what}", value) if is_saved else description.name_of(value)


def config(algorithm: Algorithm, env_id: str | None, given: Mapping[str, Any], source: str = "settings") -> Any:
    """The settings of an algorithm: its defaults, then those of the environment's file, then the given ones.

    Args:
      algorithm: its name or class.
      env_id: None leaves out the file.
      given: by name.
      source: where the given ones come from, for error messages.

    Raises:
      ConfigError: there is no such algorithm or setting, or a value is invalid.
      InvalidArgumentError: the class cannot be imported.
    """
    kind, table = _found(algorithm)
    settings.build(kind.Config, given, source)
    tuned = settings.of_environment(env_id, table, settings.folder_of(kind)) if env_id and table else {}
    return settings.build(kind.Config, {**tuned, **given}, f"settings of {env_id}")


def grid(algorithm: Algorithm, sweep: Mapping[str, Sequence[Any] | np.ndarray]) -> dict[str, list[float]]:
    """The values of settings that are swept, checked.

    Args:
      algorithm: its name or class.
      sweep: the values, by name.

    Raises:
      ConfigError: there is no such setting, it is not a number of the algorithm, or a value is invalid.
    """
    kind = _found(algorithm)[0].Config
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    found: dict[str, list[float]] = {}
    for setting, values in sweep.items():
        if setting in defaults and type(defaults[setting]) is not float:
            numbers = ", ".join(each for each, default in defaults.items() if type(default) is float)
            raise ConfigError(f"sweep: {setting} decides the shape of the program; what can be swept: {numbers}.")
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise ConfigError(f"sweep: {setting} needs a list of values, got {values!r}.")
        found[setting] = [getattr(settings.build(kind, {setting: value}, "sweep"), setting) for value in values]
    return found


def learner(algorithm: Algorithm, env: Any, params: Any, config: Any, network: Any = None) -> Learner:
    """The algorithm for an environment.

    Args:
      algorithm: its name or class.
      env: the environment.
      params: its params.
      config: the settings.
      network: see `learner.checked_network`, or `MODULE:NAME` of one; None for the algorithm's own.

    Raises:
      ConfigError: there is no such algorithm, it takes no network, or the settings, the network or the
        environment's spaces do not fit.
      InvalidArgumentError: the class or the network cannot be imported.
    """
    if env.observation_space(params).flat_space().shape == (0,):
        raise ConfigError(f"{env.name} observes no numbers: {env.observation_space(params)}.")
    from envcore_baselines.distributions import of_several
    from envcore_baselines.learner import observed

    kind, _ = _found(algorithm)
    arguments = inspect.signature(kind).parameters
    options: dict[str, Any] = {"distribution": of_several(env, params)} if "distribution" in arguments else {}
    if network is not None:
        if "network" not in arguments:
            raise ConfigError(f"{kind.__name__} takes no network; ppo, pqn and dqn take one.")
        options["network"] = user_modules.imported("network", network) if isinstance(network, str) else network
    try:
        return kind(observed(env, params), params, config, **options)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _found(algorithm: Algorithm) -> tuple[type[Any], str]:
    """The class of an algorithm, and its table in the files of environments; "" where they cannot have one."""
    kind: Any = algorithm
    table = ""
    if isinstance(algorithm, str):
        found = registry.announced(AlgorithmSpec).find(checked(algorithm), ConfigError)
        kind = found.load(ConfigError) if found else user_modules.imported("algorithm", algorithm)
        table = found.spec.name if found else ""
    if not isinstance(kind, type) or not dataclasses.is_dataclass(getattr(kind, "Config", None)):
        raise ConfigError(f"an algorithm must be a class with a Config, the dataclass of its settings, got {kind!r}.")
    return kind, table
