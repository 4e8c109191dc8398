"""Which environment an adapter steps: what users pass, as an environment with its params."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax

from envcore import forks
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError, InvalidParamsError
from envcore.registration import make


def chosen(env: str | Environment[Any, Any], params: Any, options: Mapping[str, Any]) -> tuple[Any, Any]:
    """The environment, and its params as arrays on the default device.

    Args:
      env: an environment, or an id for `make`.
      params: its params, a mapping of those that differ from the defaults, or None for the defaults.
      options: constructor options, where `env` is an id.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: env is neither an id nor an environment, or an option is unknown or refused.
      InvalidParamsError: the params belong to another environment, or a name or value is invalid.
      EnvcoreError: this process was forked after JAX had started.
    """
    forks.check()  # before `make`, which would hang
    if isinstance(env, str):
        env, _ = make(env, **options)
    elif not isinstance(env, Environment):
        raise InvalidArgumentError(f"env must be an environment of envcore or its id, got {env!r}.")
    elif options:
        raise InvalidArgumentError(
            f"the option {sorted(options)[0]!r} is only for an environment's id: {env.name} is already made."
        )
    if params is None:
        return env, arguments.device_params(env)
    return env, jax.device_put(arguments.checked_params(env, with_updates(env, params)))


def with_updates(env: Environment[Any, Any], params: Any) -> Any:
    """The params; where only a mapping is given, the default params with these.

    Raises:
      InvalidParamsError: the mapping names a param that the environment does not have.
    """
    if not isinstance(params, Mapping):
        return params
    defaults = env.default_params
    known = arguments.param_names(defaults)
    unknown = sorted(set(params) - set(known), key=str)
    if unknown:
        raise InvalidParamsError(f"{env.name} has no param {unknown[0]!r}; its params: {', '.join(known)}.")
    return defaults.replace(**params)
