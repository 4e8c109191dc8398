"""`make`, `register` and `registered_envs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import envcore
from envcore.errors import InvalidArgumentError, UnknownEnvironmentError

from envcore_gymnax.environments.environment import EnvcoreEnvironment, Environment
from envcore_gymnax.settings import IDS

registered_envs = [env_id for env_id in IDS if env_id in envcore.registry]
"""Ids of gymnax 1.0.1 whose suites are installed, and ids passed to `register`."""

_registry: dict[str, Callable[..., Any]] = {}


class UnregisteredError(UnknownEnvironmentError, ValueError):
    """The id is unknown. This is a `ValueError` too, as in gymnax."""


def make(env_id: str, **env_kwargs: Any) -> tuple[Any, Any]:
    """Makes an environment.

    Args:
      env_id: an id of gymnax, of any other installed envcore environment, or one that you passed to `register`.
      **env_kwargs: constructor options.

    Returns:
      The environment and its default params.

    Raises:
      UnregisteredError: the id is unknown.
      InvalidArgumentError: an option is unknown or refused, or a factory did not return an environment.
    """
    if isinstance(env_id, str) and env_id in _registry:
        env = _registry[env_id](**env_kwargs)
        if not all(hasattr(env, name) for name in ("default_params", "reset", "step")):
            raise InvalidArgumentError(f"the factory of {env_id!r} must return a Gymnax Environment, got {env!r}.")
        return env, env.default_params
    try:
        env = EnvcoreEnvironment(env_id, **env_kwargs)
    except UnknownEnvironmentError as error:
        raise UnregisteredError(f"{env_id!r} is not in registered environments: {error}") from error
    return env, env.default_params


def register(env_id: str, factory: Callable[..., Any]) -> None:
    """Registers your own environment for `make`, and adds its id to `registered_envs`.

    Args:
      env_id: the id, which must not be an id of envcore.
      factory: a class or function that takes options and returns an `Environment`.

    Raises:
      InvalidArgumentError: the id is not a string, is empty or already registered, or the factory is not callable.
    """
    if not isinstance(env_id, str) or not env_id:
        raise InvalidArgumentError(f"an environment's id must be a string that is not empty, got {env_id!r}.")
    if not callable(factory):
        raise InvalidArgumentError(f"register needs a callable that makes {env_id!r}, got {factory!r}.")
    if env_id in envcore.registry or _registry.get(env_id, factory) is not factory:
        raise InvalidArgumentError(f"the id {env_id!r} is already registered.")
    if env_id not in _registry:
        registered_envs.append(env_id)
    _registry[env_id] = factory


__all__ = ["Environment", "make", "register", "registered_envs"]
