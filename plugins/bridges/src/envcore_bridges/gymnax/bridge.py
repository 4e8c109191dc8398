"""`FromGymnax`: environments that are written as gymnax's are, in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT, EnvParams, computed
from envcore.errors import NoPictureError
from jax.core import Tracer

from envcore_bridges.base import ForeignEnvironment, ForeignParams, as_dicts, default_numerics, resized
from envcore_bridges.gymnax import pictures, sources
from envcore_bridges.gymnax.spaces import space_like


def from_gymnax(source: str | Callable[..., Any], **options: Hashable) -> FromGymnax:
    """Makes an environment that is written as gymnax's are.

    Args:
      source: an id such as `"gymnax/CartPole-v1"` or `"craftax/Craftax-Symbolic-v1"`, or a class or function that
        makes an environment with `reset_env` and `step_env`.
      **options: what the library makes it with.

    Raises:
      InvalidArgumentError: the name or an option is unknown, or an option is not hashable.
      EnvironmentLoadError: the library is not installed.
    """
    return FromGymnax.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromGymnax(ForeignEnvironment):
    """An environment of gymnax, Craftax, POPGym Arcade or Kinetix, or any other that is written as gymnax's are.

    It plays by the library's `reset_env` and `step_env`; its `step` and its auto-reset stay out of it.

    Observation and action: the library's. Named tuples and dataclasses become dicts. The spaces are those that it
    declares, as long as its observations have their shapes; their dtypes are those of the observations. Four of
    gymnax's exceed their bounds, so they have none here: GaussianBandit, MemoryChain, MetaMaze and UmbrellaChain.
    Reward: the library's, as float32.
    Termination: what the library ends for another reason than time. Its own time limit, which most of these libraries
    report as the same `done`, does not end an episode: it is `params.max_steps_in_episode`, and truncates. An
    environment of your own also truncates where its info says `truncated`.
    Params: the library's, as `params.env_params`; `params.replace(gravity=3.7)` reaches them too. Their own time limit
    (`max_steps_in_episode` or `max_timesteps`) is overridden: by ours in gymnax and Craftax, whose rules can show it,
    and in any other library by one that is never reached.
    Info: the library's entries, without those of envcore's names: `action_mask`, `discount`, `final_obs`, `terminated`.
    Picture: by the library's own renderer in JAX where there is one (Craftax, Kinetix), else the observation where it
    is an image or a grid, else a bar for each of its numbers.
    """

    def load(self) -> Any:
        return sources.load(self.source, self.name, dict(self.options))

    expensive_reset = computed(lambda self: not sources.resets_for_free(self.library_env))

    @property
    def time_limit(self) -> int:
        return min(int(sources.time_limit(self.library_env)), NO_TIME_LIMIT)

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
        if sources.exceeds_bounds(self.library_env):
            return spaces.unbounded_space(struct)
        return space_like(self._declared("observation_space", params), struct)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        obs, state = sources.reset(self.library_env, key, self._theirs(params))
        return state, as_dicts(obs)

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        env = self.library_env
        obs, state, reward, done, *truncated, info = env.step_env(key, state, action, self._theirs(params))
        if sources.rules_show_the_limit(env) and not sources.returns_terminations(env):
            done = env.is_terminal(state, self._theirs(params, limited=False))
        if truncated:  # a library that returns six values
            info = {**info, "truncated": truncated[0]}
        elif "truncated" in info:
            done = jnp.asarray(done, jnp.bool_) & ~jnp.asarray(info["truncated"], jnp.bool_)
        return state, as_dicts(obs), reward, done, info

    def render(self, state: Any, params: Any, height: int = 256) -> jax.Array:
        with default_numerics():
            picture = pictures.picture(self.library_env, state.inner, state.obs, self.observation_space(params))
        if picture is None:
            raise NoPictureError(f"{self.name} cannot be rendered: its observation holds no number to draw.")
        return resized(picture, height)

    def _theirs(self, params: Any, limited: bool = True) -> Any:
        """The library's params, with our time limit or with none."""
        theirs: Any = getattr(params, "env_params", None)
        field = sources.limit_field(theirs)
        if field is None:
            return theirs
        seen = limited and sources.rules_show_the_limit(self.library_env)
        limit = params.max_steps_in_episode if seen else NO_TIME_LIMIT
        return dataclasses.replace(theirs, **{field: _like(limit, getattr(_default_params(self), field))})

    def _declared(self, method: str, params: Any) -> Any:
        """A space of the library's; concrete even under `jit`, unless the params are traced."""
        traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(params))
        make = getattr(self.library_env, method)
        try:
            with default_numerics(), contextlib.nullcontext() if traced else jax.ensure_compile_time_eval():
                return make(self._theirs(params))
        except NotImplementedError:  # it declares none
            return None


@functools.lru_cache(maxsize=512)
def _default_params(env: FromGymnax) -> Any:
    with default_numerics(), jax.ensure_compile_time_eval():
        params = getattr(env.library_env, "default_params", None)
    return params if jax.tree.leaves(params) or dataclasses.is_dataclass(params) else None


def _like(limit: Any, default: Any) -> Any:
    """The limit as a number of the kind that the library has, which may be a float."""
    kind = jnp.result_type(default)
    if isinstance(limit, int | np.integer):
        return kind.type(limit)
    return jnp.asarray(limit).astype(kind)
