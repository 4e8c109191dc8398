"""Finds algorithms by name or class, with their settings. Imports JAX only with an algorithm."""

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
"""The names of the algorithms in this package."""

Algorithm: TypeAlias = str | type[Any]
"""A registered name, `MODULE:CLASS`, or a class with the members of `Learner` and `Config`."""


def checked(name: str) -> str:
    """Returns the name of an algorithm if it exists, without importing it.

    Raises:
      ConfigError: there is no such algorithm, or several distributions register it.
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
    """The name of an algorithm or a network in the file of a run.

    Raises:
      InvalidArgumentError: the run is saved, and the value cannot be imported again by its name.
    """
    if isinstance(value, str):
        return value
    from envcore_runs import description

    return user_modules.reference_to(f"the {what}", value) if is_saved else description.name_of(value)


def config(algorithm: Algorithm, env_id: str | None, given: Mapping[str, Any], source: str = "settings") -> Any:
    """Combines an algorithm's defaults, the tuned settings of the environment, and the given settings.

    Later ones override earlier ones.

    Args:
      algorithm: name or class.
      env_id: id of the environment, or None to skip tuned settings.
      given: values by setting.
      source: where the given settings come from, for error messages.

    Raises:
      ConfigError: there is no such algorithm or setting, or a value is invalid.
      InvalidArgumentError: the class cannot be imported.
    """
    kind, table = _found(algorithm)
    settings.build(kind.Config, given, source)
    tuned = settings.of_environment(env_id, table, settings.folder_of(kind)) if env_id and table else {}
    return settings.build(kind.Config, {**tuned, **given}, f"settings of {env_id}")


def grid(algorithm: Algorithm, sweep: Mapping[str, Sequence[Any] | np.ndarray]) -> dict[str, list[float]]:
    """Checks the values of a sweep, and removes duplicates.

    Args:
      algorithm: name or class.
      sweep: values by setting.

    Raises:
      ConfigError: there is no such setting, it cannot be swept because it is not a float, or a value is invalid.
    """
    kind = _found(algorithm)[0].Config
    defaults = {field.name: field.default for field in dataclasses.fields(kind)}
    found: dict[str, list[float]] = {}
    for setting, values in sweep.items():
        if setting in defaults and type(defaults[setting]) is not float:
            numbers = ", ".join(each for each, default in defaults.items() if type(default) is float)
            raise ConfigError(f"sweep: {setting} cannot be swept, only these can: {numbers}.")
        if isinstance(values, str) or not hasattr(values, "__len__") or not len(values):
            raise ConfigError(f"sweep: {setting} needs a list of values, got {values!r}.")
        checked = [getattr(settings.build(kind, {setting: value}, "sweep"), setting) for value in values]
        found[setting] = list(dict.fromkeys(checked))
    return found


def learner(algorithm: Algorithm, env: Any, params: Any, config: Any, network: Any = None) -> Learner:
    """Makes the learner for an environment.

    Args:
      algorithm: name or class.
      env: the environment.
      params: params of the environment.
      config: settings of the algorithm.
      network: a network or its `MODULE:NAME`, or None for the algorithm's default. See `learner.checked_network`.

    Raises:
      ConfigError: there is no such algorithm, it does not take a network, or the settings, the network or the
        environment's spaces do not fit.
      InvalidArgumentError: the class or the network cannot be imported.
    """
    if env.observation_space(params).flat_space().shape == (0,):
        raise ConfigError(f"{env.name} has empty observations: {env.observation_space(params)}.")
    from envcore_baselines.distributions import of_several
    from envcore_baselines.learner import observed

    kind, _ = _found(algorithm)
    arguments = inspect.signature(kind).parameters
    options: dict[str, Any] = {"distribution": of_several(env, params)} if "distribution" in arguments else {}
    if network is not None:
        if "network" not in arguments:
            raise ConfigError(f"{kind.__name__} does not take a network. Use ppo, pqn or dqn.")
        options["network"] = user_modules.imported("network", network) if isinstance(network, str) else network
    try:
        return kind(observed(env, params), params, config, **options)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _found(algorithm: Algorithm) -> tuple[type[Any], str]:
    """Imports the class of an algorithm. Also returns its table in the tuned settings, "" if it is not registered."""
    kind: Any = algorithm
    table = ""
    if isinstance(algorithm, str):
        found = registry.announced(AlgorithmSpec).find(checked(algorithm), ConfigError)
        kind = found.load(ConfigError) if found else user_modules.imported("algorithm", algorithm)
        table = found.spec.name if found else ""
    if not isinstance(kind, type) or not dataclasses.is_dataclass(getattr(kind, "Config", None)):
        raise ConfigError(f"an algorithm must be a class with a dataclass Config for its settings, got {kind!r}.")
    return kind, table
