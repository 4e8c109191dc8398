"""Which environment an adapter steps: what its constructor was given, as an environment with params on the device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import envcore
import jax
from envcore import Environment
from envcore.engine import arguments
from envcore.errors import InvalidArgumentError, InvalidParamsError

RENDER_MODES = ("rgb_array",)
RENDER_HEIGHT = 400
"""In pixels, by default: about the height of Gymnasium's own pictures."""


def chosen(env: str | Environment[Any, Any], params: Any, options: dict[str, Any]) -> tuple[Environment[Any, Any], Any]:
    """The environment, and its params as arrays on the default device.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: env is neither an id nor an environment, or an option is unknown or refused.
      InvalidParamsError: the params belong to another environment, or a name or value is invalid.
    """
    if isinstance(env, str):
        env, _ = envcore.make(env, **options)
    elif not isinstance(env, Environment):
        raise InvalidArgumentError(f"env must be an environment of envcore or its id, got {env!r}.")
    elif options:
        raise InvalidArgumentError(
            f"the option {sorted(options)[0]!r} is only for an environment's id: {env.name} is already made."
        )
    if params is None:
        return env, arguments.device_params(env)
    if isinstance(params, Mapping):
        params = _with(env, params)
    return env, jax.device_put(arguments.checked_params(env, params))


def check_render_mode(render_mode: str | None) -> None:
    """Raises `InvalidArgumentError` where the mode is not one of those that the adapters have by themselves."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise InvalidArgumentError(
            f"render_mode must be None or 'rgb_array', got {render_mode!r}; with 'human' and 'rgb_array_list', use "
            "gymnasium.make, or put gymnasium.wrappers.HumanRendering or RenderCollection around the environment."
        )


def _with(env: Environment[Any, Any], updates: Mapping[str, Any]) -> Any:
    params: Any = env.default_params
    known = arguments.param_names(params)
    unknown = sorted(set(updates) - set(known))
    if unknown:
        raise InvalidParamsError(f"{env.name} has no param {unknown[0]!r}; its params: {', '.join(known)}.")
    return params.replace(**updates)
