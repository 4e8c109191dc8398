"""`FromGymnax`: use environments of gymnax and Craftax, and others with gymnax's interface, in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import importlib
import sys
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT, EnvParams, computed
from envcore.errors import DatasetError, InvalidArgumentError
from jax import lax
from jax.core import Tracer

from envcore_bridges.base.environment import ForeignEnvironment, ForeignParams, as_dicts
from envcore_bridges.base.loading import default_numerics, unknown_name
from envcore_bridges.base.pictures import paint_on_host, pixels_of, resized
from envcore_bridges.base.spaces import space_like
from envcore_bridges.libraries import BY_FAMILY, is_installed, missing

# Classes of gymnax 1.0 whose observations exceed their declared bounds, because of rewards, a -1 or rounding.
_EXCEEDING = ("GaussianBandit", "MemoryChain", "MetaMaze", "UmbrellaChain")

# Classes of gymnax with very cheap resets. Resetting all environments instead of looping over finished ones saves 25%
# of the time with 2,048 SimpleBandits, and 50% with DiscountingChains.
_FREE_RESETS = ("DiscountingChain", "SimpleBandit")

_LIMITS = ("max_steps_in_episode", "max_timesteps")

_SQUARE = ("Acrobot-v1", "Pendulum-v1")  # square images, while the others are 3:2


def from_gymnax(source: str | Callable[..., Any], **options: Hashable) -> FromGymnax:
    """Makes an environment of gymnax or Craftax, or your own with gymnax's interface.

    Args:
      source: an id such as `"gymnax/CartPole-v1"` or `"craftax/Craftax-Symbolic-v1"`, or a class or function that
        makes an environment with `reset_env` and `step_env`.
      **options: the library's constructor options.

    Raises:
      InvalidArgumentError: the name or an option is unknown, or an option is not hashable.
      EnvironmentLoadError: the library is not installed.
    """
    return FromGymnax.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromGymnax(ForeignEnvironment):
    """An environment of gymnax or Craftax, or another one with gymnax's interface.

    It calls the library's `reset_env` and `step_env`, and not its `step` with auto-reset.

    Observation and action: the library's. Named tuples and dataclasses become dicts. The observation space is the
    declared one with the dtypes of the observations, provided that the shapes match. Observations of gymnax's
    GaussianBandit, MemoryChain, MetaMaze and UmbrellaChain exceed their bounds, so these have no bounds here.
    Reward: the library's, as float32.
    Termination: when the library ends an episode for a reason other than its time limit. Most of these libraries report
    the time limit as `done` too. Here it becomes `params.max_steps_in_episode`, which truncates. Your own environment
    also truncates if its info contains a true `truncated`.
    Params: the library's, as `params.env_params`. You can replace them directly, as in `params.replace(gravity=3.7)`.
    Their time limit (`max_steps_in_episode` or `max_timesteps`) is overridden. In gymnax and Craftax, which can show it
    to the agent, it is set to envcore's. In other libraries it is set so high that it is never reached.
    Info: the library's info entries except `action_mask`, `discount`, `final_obs` and `terminated`.
    Picture: Craftax's renderer, in JAX. For classic control, gymnax's visualizer. For others, the environment's
    `render`, which returns a Matplotlib figure.
    """

    def load(self) -> Any:
        make = self.source if callable(self.source) else _factory(self.source)
        try:
            env = make(**dict(self.options))
        except OSError as error:
            raise DatasetError(f"{self.name} cannot read or download its data: {error}.") from error
        if not hasattr(type(env), "step_env"):  # wrappers forward attributes of the instance
            raise InvalidArgumentError(
                f"from_gymnax({self.name}) needs an environment with reset_env and step_env, and {type(env).__name__} "
                "has none. Instead of the library's wrappers, put envcore.wrappers around from_gymnax."
            )
        return env

    expensive_reset = computed(
        lambda self: not (self._library == "gymnax" and type(self.library_env).__name__ in _FREE_RESETS)
    )

    @property
    def time_limit(self) -> int:
        params = getattr(self.library_env, "default_params", None)
        field = _limit_field(params)
        return NO_TIME_LIMIT if field is None else min(int(getattr(params, field)), NO_TIME_LIMIT)

    @property
    def default_params(self) -> Any:
        theirs = jax.tree.map(lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, _default_params(self))
        if theirs is None:
            return EnvParams(max_steps_in_episode=self.time_limit)
        return ForeignParams(env_params=theirs, max_steps_in_episode=self.time_limit)

    def action_space(self, params: Any) -> spaces.Space:
        return space_like(self._declared("action_space", params), None)

    def observation_space(self, params: Any) -> spaces.Space:
        struct = self.state_types.obs
        if self._library == "gymnax" and type(self.library_env).__name__ in _EXCEEDING:
            return spaces.unbounded_space(struct)
        return space_like(self._declared("observation_space", params), struct)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        obs, state = self.library_env.reset_env(key, self._theirs(params))
        return state, as_dicts(obs)

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        env = self.library_env
        obs, state, reward, done, *truncated, info = env.step_env(key, state, action, self._theirs(params))
        if self._library == "craftax":
            done = env.is_terminal(state, self._theirs(params, limited=False))
        if truncated:  # a library that returns six values
            info = {**info, "truncated": truncated[0]}
        elif "truncated" in info:
            done = jnp.asarray(done, jnp.bool_) & ~jnp.asarray(info["truncated"], jnp.bool_)
        return state, as_dicts(obs), reward, done, info

    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        theirs = self._theirs(params)
        if self._library == "craftax":
            with default_numerics():
                picture = _craftax_renderer(".".join(type(self.library_env).__module__.split(".")[:2]))(state.inner)
                return resized(lax.stop_gradient(jnp.clip(jnp.round(picture), 0, 255)).astype(jnp.uint8), height)
        name = getattr(self.library_env, "name", "")
        if self._library == "gymnax" and name in importlib.import_module("gymnax.visualize.vis_gym").SUPPORTED_GYM_ENVS:
            aspect = 1.0 if name in _SQUARE else 1.5
            return paint_on_host(functools.partial(_draw_classic, name), (state.inner, theirs), height, aspect)
        if not hasattr(self.library_env, "render"):
            return super().render(state, params, height)
        return paint_on_host(functools.partial(_draw_figure, self.library_env), (state.inner, theirs), height, 4 / 3)

    @property
    def _library(self) -> str:
        return type(self.library_env).__module__.partition(".")[0]

    def _theirs(self, params: Any, limited: bool = True) -> Any:
        """Returns the library's params, with envcore's time limit or with none."""
        theirs: Any = getattr(params, "env_params", None)
        field = _limit_field(theirs)
        if field is None:
            return theirs
        # Gymnax shows the limit in observations and checks it in `is_truncated`, and Craftax shows it in its info.
        # Another library may end an episode at the limit.
        shown = self._library == "craftax" or (self._library == "gymnax" and hasattr(self.library_env, "is_truncated"))
        limit = params.max_steps_in_episode if limited and shown else NO_TIME_LIMIT
        return dataclasses.replace(theirs, **{field: _like(limit, getattr(_default_params(self), field))})

    def _declared(self, method: str, params: Any) -> Any:
        """Returns a space of the library. It is concrete even under `jit`, unless the params are traced."""
        traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(params))
        make = getattr(self.library_env, method)
        try:
            with default_numerics(), contextlib.nullcontext() if traced else jax.ensure_compile_time_eval():
                return make(self._theirs(params))
        except NotImplementedError:  # no space is declared
            return None


@functools.lru_cache(maxsize=512)
def _default_params(env: FromGymnax) -> Any:
    with default_numerics(), jax.ensure_compile_time_eval():
        params = getattr(env.library_env, "default_params", None)
    return params if jax.tree.leaves(params) or dataclasses.is_dataclass(params) else None


def _like(limit: Any, default: Any) -> Any:
    """Converts the limit to the dtype of the library's limit, which may be a float."""
    kind = jnp.result_type(default)
    if isinstance(limit, int | np.integer):
        return kind.type(limit)
    return jnp.asarray(limit).astype(kind)


def _limit_field(params: Any) -> str | None:
    return next((name for name in _LIMITS if hasattr(params, name)), None)


def _factory(source: str) -> Callable[..., Any]:
    """Returns a function that makes the environment with this id."""
    library, _, name = source.partition("/")
    if library not in ("craftax", "gymnax"):
        raise InvalidArgumentError(f"source must be 'gymnax/NAME', 'craftax/NAME' or a class, got {source!r}.")
    if library == "gymnax" and getattr(sys.modules.get("gymnax"), "__name__", "gymnax") == "envcore_gymnax":
        raise InvalidArgumentError(
            "gymnax/... needs gymnax itself, but `import gymnax` finds envcore-gymnax, because "
            "envcore_gymnax.install() was called: call envcore_gymnax.uninstall() first."
        )
    if not is_installed(library):
        raise missing(library, f"{library}/...")
    theirs = importlib.import_module(library)
    names = BY_FAMILY["craftax"].environments() if library == "craftax" else theirs.registered_envs
    if name not in names:
        raise unknown_name(library, name, names)
    if library == "gymnax":
        return lambda **options: theirs.make(name, **options)[0]
    *package, kind, _ = name.lower().split("-")  # craftax, then perhaps classic
    module = importlib.import_module(f"craftax.{'_'.join(package)}.envs.craftax_{kind}_env")
    return getattr(module, f"{name.removesuffix('-v1').replace('-', '')}EnvNoAutoReset")


@functools.cache
def _craftax_renderer(package: str) -> Callable[[Any], jax.Array]:
    """Returns Craftax's renderer. It is cached, because it loads textures."""
    constants, renderer = (importlib.import_module(f"{package}.{name}") for name in ("constants", "renderer"))
    with jax.ensure_compile_time_eval():
        return renderer.make_craftax_pixel_renderer(constants.BLOCK_PIXEL_SIZE_IMG)


def _draw_classic(name: str, shown: Any, shape: tuple[int, int]) -> Any:
    return importlib.import_module("gymnax.visualize.vis_gym").render_gym_frame(name, *shown)


def _draw_figure(env: Any, shown: Any, shape: tuple[int, int]) -> Any:
    from matplotlib import pyplot as plt

    figure, _ = env.render(*shown)
    try:
        return pixels_of(figure)
    finally:
        plt.close(figure)
