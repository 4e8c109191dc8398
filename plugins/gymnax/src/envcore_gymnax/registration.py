"""`make`, `register` and `registered_envs`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import envcore
from envcore.errors import InvalidArgumentError

from envcore_gymnax.environments.environment import EnvcoreEnvironment, Environment
from envcore_gymnax.settings import IDS

_registered: dict[str, Callable[..., Any]] = {}


def make(env_id: str, **env_kwargs: Any) -> tuple[Any, Any]:
    """Makes an environment.

    Args:
      env_id: an id of gymnax's or of any other installed environment of envcore, or one given to `register`.
      **env_kwargs: its constructor options.

    Returns:
      The environment and its default params.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: an option is unknown or refused.
    """
    env = _registered[env_id](**env_kwargs) if env_id in _registered else EnvcoreEnvironment(env_id, **env_kwargs)
    return env, env.default_params


def register(env_id: str, factory: Callable[..., Any]) -> None:
    """Adds an environment to this process.

    Args:
      env_id: its id; an id of envcore's is not allowed.
      factory: a class or function that takes options and returns an `Environment`.

    Raises:
      InvalidArgumentError: the id is taken by something else, or the factory cannot be called.
    """
    if not callable(factory):
        raise InvalidArgumentError(f"register needs a class or function that makes {env_id!r}, got {factory!r}.")
    if env_id in envcore.registry or _registered.get(env_id, factory) is not factory:
        raise InvalidArgumentError(f"the id {env_id!r} is taken already.")
    _registered[env_id] = factory


def registered_envs() -> list[str]:
    """Gymnax's ids whose suite is installed, then those of `register`."""
    return [env_id for env_id in IDS if env_id in envcore.registry] + list(_registered)


__all__ = ["Environment", "make", "register", "registered_envs"]
