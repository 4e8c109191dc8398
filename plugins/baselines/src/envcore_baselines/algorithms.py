"""The algorithms by name. Imports no JAX before one is made."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from envcore_baselines import settings
from envcore_baselines.errors import ConfigError

if TYPE_CHECKING:
    from envcore_baselines.learner import Learner

ALGORITHMS = {
    "ppo": "envcore_baselines.ppo:PPO",
    "ppo_rnn": "envcore_baselines.ppo_rnn:RecurrentPPO",
    "es": "envcore_baselines.es:ES",
    "dqn": "envcore_baselines.dqn:DQN",
    "bootstrapped_dqn": "envcore_baselines.bootstrapped_dqn:BootstrappedDQN",
}
"""The class of each algorithm."""

MAX_SEEDS = 10_000
"""Agents that one run can train."""

_MOST = 2**31 - 1  # updates, and steps of one, are counted in int32


def checked(name: str) -> str:
    """The name of an algorithm.

    Raises:
      ConfigError: there is no such algorithm.
    """
    if name not in ALGORITHMS:
        raise ConfigError(f"there is no algorithm {name!r}; there are {', '.join(ALGORITHMS)}.")
    return name


def config(name: str, env_id: str | None, given: Mapping[str, Any], source: str = "--setting") -> Any:
    """The settings of an algorithm: its defaults, then those of the environment's file, then the given ones.

    Args:
      name: of the algorithm.
      env_id: None leaves out the file.
      given: by name.
      source: where the given ones come from, for error messages.

    Raises:
      ConfigError: there is no such setting, or a value is invalid.
    """
    kind = _class(name).Config
    settings.build(kind, given, source)
    tuned = settings.of_environment(env_id, name) if env_id else {}
    return settings.build(kind, {**tuned, **given}, f"settings of {env_id}")


def learner(name: str, env: Any, params: Any, config: Any) -> Learner:
    """The algorithm for an environment.

    Raises:
      ConfigError: the settings or the environment's spaces do not fit.
    """
    from envcore_baselines.distributions import of_several
    from envcore_baselines.learner import observed

    kind = _class(name)
    takes_distribution = "distribution" in inspect.signature(kind).parameters
    options = {"distribution": of_several(env, params)} if takes_distribution else {}
    try:
        made: Learner = kind(observed(env, params), params, config, **options)
    except ValueError as error:
        raise ConfigError(str(error)) from error
    if made.steps_per_update > _MOST:
        raise ConfigError(f"an update would take {made.steps_per_update:,} steps: at most {_MOST:,} fit.")
    if made.num_updates > _MOST:
        updates = f"total_steps = {config.total_steps:,} are {made.num_updates:,} updates"
        raise ConfigError(f"{updates}, of {made.steps_per_update:,} steps each: at most {_MOST:,} fit.")
    return made


def _class(name: str) -> Any:
    module, _, attribute = ALGORITHMS[checked(name)].partition(":")
    return getattr(importlib.import_module(module), attribute)
