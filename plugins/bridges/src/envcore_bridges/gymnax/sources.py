"""The libraries that `FromGymnax` knows: how each makes an environment, and what each does about time limits."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from envcore.environment import NO_TIME_LIMIT
from envcore.errors import DatasetError, InvalidArgumentError

from envcore_bridges.base import rebuilt, unknown_name
from envcore_bridges.gymnax import environments
from envcore_bridges.libraries import is_installed, missing

# Classes of gymnax 1.0 whose observations exceed the bounds that they declare: by rewards, by -1, by a rounding.
_EXCEEDING = ("GaussianBandit", "MemoryChain", "MetaMaze", "UmbrellaChain")

# Classes of gymnax whose resets cost next to nothing: without a loop over those that end, 2,048 SimpleBandits take a
# quarter less time, and DiscountingChains half of it.
_FREE_RESETS = ("DiscountingChain", "SimpleBandit")

_LIMITS = ("max_steps_in_episode", "max_timesteps")
_ARCADE_LIMITS = ("max_steps_in_episode", "max_episode_length")
_PATCHED = "_envcore_time_limit"


def load(source: str | Callable[..., Any], name: str, options: dict[str, Any]) -> Any:
    """The library's environment; `name` is what errors call it.

    Raises:
      InvalidArgumentError: the name or an option is unknown, or what the source makes is not an environment with
        `reset_env` and `step_env`.
      EnvironmentLoadError: the library is not installed.
      DatasetError: the library cannot read or download data that the environment needs.
    """
    make = source if callable(source) else _factory(source)
    try:
        env = make(**options)
    except OSError as error:
        raise DatasetError(f"{name} cannot read or download its data: {error}.") from error
    missing = [method for method in ("reset_env", "step_env") if not hasattr(type(env), method)]
    if missing:
        wraps = f"{type(env).__name__} is a wrapper; use envcore.wrappers around from_gymnax instead"
        problem = wraps if hasattr(env, missing[0]) else f"{type(env).__name__} has no {missing[0]}"
        raise InvalidArgumentError(f"from_gymnax({name}) needs an environment with reset_env and step_env: {problem}.")
    return rebuilt(env, _lift_arcade_limit) if _library(env) == "popgym_arcade" else env


def reset(env: Any, key: Any, params: Any) -> tuple[Any, Any]:
    """The library's observation and state at the start of an episode."""
    if "override_reset_state" in inspect.signature(env.reset_env).parameters:  # Kinetix
        return env.reset_env(key, params, None)
    return env.reset_env(key, params)


def limit_field(params: Any) -> str | None:
    """The name of the time limit among a library's params."""
    return next((name for name in _LIMITS if hasattr(params, name)), None)


def time_limit(env: Any) -> Any:
    """The library's own time limit in steps."""
    if hasattr(env, _PATCHED):
        return getattr(env, _PATCHED)
    params = getattr(env, "default_params", None)
    field = limit_field(params)
    return NO_TIME_LIMIT if field is None else getattr(params, field)


def exceeds_bounds(env: Any) -> bool:
    """Whether its observations are known to exceed the bounds that it declares."""
    return _library(env) == "gymnax" and type(env).__name__ in _EXCEEDING


def resets_for_free(env: Any) -> bool:
    """Whether a reset is known to cost no more than looking who needs one."""
    return _library(env) == "gymnax" and type(env).__name__ in _FREE_RESETS


def returns_terminations(env: Any) -> bool:
    """Whether `step_env` leaves the time limit to `is_truncated`, as gymnax 1's own environments do."""
    return _library(env) == "gymnax" and hasattr(env, "is_truncated")


def rules_show_the_limit(env: Any) -> bool:
    """Whether the library sees our time limit: part of an observation of gymnax's, and of Craftax's info.

    Any other library may end an episode by it, and does not see it.
    """
    return returns_terminations(env) or _library(env) == "craftax"


def _library(env: Any) -> str:
    return type(env).__module__.partition(".")[0]


def _factory(source: str) -> Callable[..., Any]:
    library, _, name = source.partition("/")
    if library not in _FACTORIES:
        known = ", ".join(f"{each}/..." for each in _FACTORIES)
        raise InvalidArgumentError(f"from_gymnax knows {known} and classes, got {source!r}.")
    _import(library)
    return _FACTORIES[library](name)


def _import(library: str) -> None:
    found = sys.modules.get("gymnax")
    if library != "craftax" and getattr(found, "__name__", "gymnax") == "envcore_gymnax":
        raise InvalidArgumentError(
            f"{library}/... needs gymnax itself, but `import gymnax` finds envcore-gymnax, because "
            "envcore_gymnax.install() was called: call envcore_gymnax.uninstall() first."
        )
    if not is_installed(library):
        raise missing(library, f"{library}/...")
    importlib.import_module(library)


def _gymnax(name: str) -> Callable[..., Any]:
    import gymnax

    if name not in gymnax.registered_envs:
        raise unknown_name("gymnax", name, environments.GYMNAX)
    return lambda **options: gymnax.make(name, **options)[0]


_CRAFTAX = {
    "Craftax-Symbolic-v1": ("craftax.envs.craftax_symbolic_env", "CraftaxSymbolicEnvNoAutoReset"),
    "Craftax-Pixels-v1": ("craftax.envs.craftax_pixels_env", "CraftaxPixelsEnvNoAutoReset"),
    "Craftax-Classic-Symbolic-v1": (
        "craftax_classic.envs.craftax_symbolic_env",
        "CraftaxClassicSymbolicEnvNoAutoReset",
    ),
    "Craftax-Classic-Pixels-v1": ("craftax_classic.envs.craftax_pixels_env", "CraftaxClassicPixelsEnvNoAutoReset"),
}


def _craftax(name: str) -> Callable[..., Any]:
    if name not in _CRAFTAX:
        raise unknown_name("craftax", name, environments.CRAFTAX)
    module, cls = _CRAFTAX[name]
    return getattr(importlib.import_module(f"craftax.{module}"), cls)


def _arcade(name: str) -> Callable[..., Any]:
    if name not in importlib.import_module("popgym_arcade.registration").REGISTERED_ENVIRONMENTS:
        raise unknown_name("popgym_arcade", name, environments.POPGYM_ARCADE)
    return getattr(importlib.import_module("popgym_arcade.environments"), name)


def _kinetix(name: str) -> Callable[..., Any]:
    if name not in environments.KINETIX:
        raise unknown_name("kinetix", name, environments.KINETIX)
    from envcore_bridges.gymnax import kinetix

    return kinetix.factory(name)


_FACTORIES: dict[str, Callable[[str], Callable[..., Any]]] = {
    "gymnax": _gymnax,
    "craftax": _craftax,
    "popgym_arcade": _arcade,
    "kinetix": _kinetix,
}
"""By library: takes the name of an environment, and returns what makes it."""


def _lift_arcade_limit(env: Any) -> None:
    """Makes an environment of POPGym Arcade, whose time limit is a number of the object, play on after it."""
    field = next((name for name in _ARCADE_LIMITS if hasattr(env, name)), None)
    if field is None:
        return
    setattr(env, _PATCHED, getattr(env, field))
    if hasattr(env, "n_sigma"):  # CartPole, whose reward is 1 / max_steps_in_episode

        def is_terminal(state: Any, params: Any) -> Any:
            return type(env).is_terminal(env, state.replace(time=0), params)

        env.is_terminal = is_terminal
    else:
        setattr(env, field, NO_TIME_LIMIT)
