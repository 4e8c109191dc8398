"""The libraries' own resets and steps, for the lockstep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore_bridges.base import as_dicts


class Loop(NamedTuple):
    """How a library plays an environment, without its auto-reset, as `check_lockstep` takes it.

    Attributes:
      reset: `reset(key) -> (state, obs)`.
      step: `step(state, action, key) -> (state, obs, reward, terminated)`.
      own_limit: whether its rules depend on the time limit, so that it cannot be shortened.
    """

    reset: Callable[[jax.Array], tuple[Any, Any]]
    step: Callable[[Any, Any, jax.Array], tuple[Any, ...]]
    own_limit: bool = False


def _brax(env: Any) -> Loop:
    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = env.reset(key)
        return state, as_dicts(state.obs)

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        state = env.step(jax.tree.map(lambda x: x, state), action)  # it writes into the dict of metrics
        return state, as_dicts(state.obs), state.reward, state.done

    return Loop(reset, step)


def _gymnax(env: Any) -> Loop:
    params = jax.tree.map(jnp.asarray, env.default_params)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = env.reset_env(key, params)
        return state, obs

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        # As numbers that XLA does not know, as ours are: it folds constants before it rounds.
        unknown = jax.lax.optimization_barrier(params)
        obs, state, reward, terminated, _ = env.step_env(key, state, action, unknown)
        return state, obs, reward, terminated, env.is_truncated(state, params)

    return Loop(reset, step, own_limit=True)


def _five_values(env: Any) -> Loop:
    """Of libraries that took gymnax 0's interface; their own time limits are in the fourth value."""
    params = jax.tree.map(jnp.asarray, env.default_params)

    def reset(key: jax.Array) -> tuple[Any, Any]:
        obs, state = env.reset_env(key, jax.lax.optimization_barrier(params))
        return state, obs

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        obs, state, reward, done, _ = env.step_env(key, state, action, jax.lax.optimization_barrier(params))
        return state, obs, reward, done

    return Loop(reset, step)


def _jumanji(env: Any) -> Loop:
    def reset(key: jax.Array) -> tuple[Any, Any]:
        state, timestep = env.reset(key)
        return state, as_dicts(timestep.observation)

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        state, timestep = env.step(state, action)
        return state, as_dicts(timestep.observation), timestep.reward, timestep.last()

    return Loop(reset, step)


def _navix(env: Any) -> Loop:
    def reset(key: jax.Array) -> tuple[Any, Any]:
        timestep = env.reset(key)
        return timestep, timestep.observation

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        timestep = env._step(state, action)
        return timestep, timestep.observation, timestep.reward, timestep.step_type == 2

    return Loop(reset, step, own_limit=True)


def _pgx(env: Any) -> Loop:
    def reset(key: jax.Array) -> tuple[Any, Any]:
        state = env.init(key)
        return state, state.observation

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        state = env.step(state, action, key)
        return state, state.observation, state.rewards[0], state.terminated, state.truncated

    return Loop(reset, step, own_limit=True)


def _xminigrid(made: Any) -> Loop:
    env, params = made

    def reset(key: jax.Array) -> tuple[Any, Any]:
        timestep = env.reset(params, key)
        return timestep, timestep.observation

    def step(state: Any, action: Any, key: jax.Array) -> tuple[Any, ...]:
        # A number that XLA does not know, as ours is: by a constant it would multiply instead of divide.
        limit = jax.lax.optimization_barrier(jnp.int32(params.max_steps))
        after = env.step(params.replace(max_steps=limit), state, action)
        return after, after.observation, after.reward, after.last() & (after.discount == 0)

    return Loop(reset, step, own_limit=True)


LOOPS: dict[str, Callable[[Any], Loop]] = {
    "brax": _brax,
    "craftax": _five_values,
    "gymnax": _gymnax,
    "jumanji": _jumanji,
    "navix": _navix,
    "pgx": _pgx,
    "playground": _brax,
    "popgym_arcade": _five_values,
    "xminigrid": _xminigrid,
}
"""By the family of the ids. Each takes the library's environment, which a bridge has as `library_env`."""
