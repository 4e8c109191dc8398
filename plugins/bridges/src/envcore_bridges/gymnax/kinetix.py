"""How Kinetix makes an environment of a level, or of random levels of a size."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from envcore.errors import InvalidArgumentError

_ACTIONS = ("multi_discrete", "discrete", "continuous")
_OBSERVATIONS = ("symbolic_entity", "symbolic_flat", "pixels")


def factory(name: str) -> Callable[..., Any]:
    """A function that makes the environment.

    Args:
      name: `"random-s"`, or the size and name of one of the library's levels, such as `"s/h4_thrust_aim"`.
    """

    def make(action: str = _ACTIONS[0], observation: str = _OBSERVATIONS[0]) -> Any:
        for option, value, known in (("action", action, _ACTIONS), ("observation", observation, _OBSERVATIONS)):
            if value not in known:
                raise InvalidArgumentError(f"the option {option!r} must be one of {', '.join(known)}, got {value!r}.")
        environment, ued = _module("environment"), _module("environment.ued.ued")
        types: Any = _module("environment.spaces")
        params = environment.EnvParams()
        static = environment.static_env_params_from_size(name.removeprefix("random-")[0])
        if name.startswith("random-"):
            reset = ued.make_reset_fn_sample_kinetix_level(params, static)
        else:
            reset = ued.make_reset_fn_list_of_levels([name], static)
        return environment.make_kinetix_env(
            types.ActionType.from_string(action),
            types.ObservationType.from_string(observation),
            reset,
            params,
            static,
            auto_reset=False,
        )

    return make


def renderer(env: Any) -> Callable[[Any], Any]:
    """The library's picture of a state, float32 (height, width, 3)."""
    render = _module("render.renderer_pixels").make_render_pixels(env.default_params, env.static_env_params)
    return lambda state: render(state).transpose(1, 0, 2)[::-1]


def _module(name: str) -> Any:
    return importlib.import_module(f"kinetix.{name}")
