"""`advance`, `restart` and auto-reset, built on an author's rules, and the compiled programs of public methods.

Equal environments share one program. Inside your own `jit`, it is inlined instead of called.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from envcore import random, trees
from envcore.devices import vary_alike
from envcore.engine import arguments
from envcore.engine.arguments import Env
from envcore.errors import EnvironmentDefinitionError
from envcore.fusion import compute_once
from envcore.typing import PyTree

NO_TIME_LIMIT = 2**31 - 1
"""`max_steps_in_episode` for no time limit: no step is ever truncated.

It is also the largest value of `state.time`, where the count stops. Episodes continue after that without truncation.
"""


def next_time(time: jax.Array) -> jax.Array:
    """Returns the time one step later, int32 of any shape. Stops at 2**31 - 1 instead of wrapping around."""
    return time + (time != np.int32(NO_TIME_LIMIT)).astype(jnp.int32)


def is_time_up(time: jax.Array, limit: Any) -> jax.Array:
    """Returns whether the time limit is reached, bool of the time's shape. `NO_TIME_LIMIT` is never reached."""
    return (time >= limit) & (limit != np.int32(NO_TIME_LIMIT))


Info = dict[str, PyTree]


class Outcome(NamedTuple):
    """The result of one step without auto-reset.

    Attributes:
      state: the state after the step.
      reward: float32 ().
      terminated: bool (), whether the episode terminated.
      truncated: bool (), whether the time limit is reached.
      info: the environment's own entries.
    """

    state: PyTree
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    info: Info


_program = functools.partial(jax.jit, static_argnums=0, inline=True)
"""Compiles a function whose first argument, the environment, is static."""


@_program
def advance(env: Env, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
    """`Environment.advance`."""

    # Without the boundary, XLA CPU recomputes the rules for everything that uses a part of the state, and rounds floats
    # depending on what it fuses, so that two programs can differ. With the boundary, every program rounds in the same
    # way, and rollouts of 2,048 light environments take 0.67 to 0.97 of the time.
    # It is named after the author's function, so that JAX's errors name that one.
    @functools.wraps(env.transition)
    def rules(state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        return _advance(env, state, action, draws, params)

    return compute_once(rules, state, action, draws, params)


def _advance(env: Env, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
    result = env.transition(state, action, draws, params)
    after, reward, terminated, info = _checked_transition(env, state, result)
    at_limit = is_time_up(after.time, params.max_steps_in_episode)
    if env.time_limit_terminates:
        terminated, at_limit = terminated | at_limit, jnp.zeros_like(at_limit)
    return Outcome(after, reward, terminated, at_limit, info)


def restart(env: Env, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
    """`Environment.restart`."""
    fresh = vary_alike(jax.tree.map(jnp.asarray, arguments.new_state(env, key, params)), state, done)
    return trees.where(done, fresh, vary_alike(state, done, key, params))


def _checked_transition(env: Env, state: PyTree, result: PyTree) -> tuple[PyTree, ...]:
    """Casts what `transition` returned to the contract's types, and advances the time."""
    if not isinstance(result, tuple) or len(result) not in (3, 4):
        raise arguments.broken(
            env, "transition", f"transition must return (state, reward, terminated[, info]), got {result!r}"
        )
    after, reward, terminated, info = result if len(result) == 4 else (*result, {})
    if not isinstance(info, dict):
        raise arguments.broken(env, "transition", f"transition must return a dict as the fourth value, got {info!r}")
    after = conform(env, "transition", after, state, "transition's state").replace(time=next_time(state.time))
    reward = conform(env, "transition", reward, jax.ShapeDtypeStruct((), jnp.float32), "transition's reward")
    terminated = conform(env, "transition", terminated, jax.ShapeDtypeStruct((), jnp.bool_), "transition's terminated")
    return after, jnp.asarray(reward), jnp.asarray(terminated), trees.narrow(info)


def conform(env: Env, method: str, value: PyTree, expected: PyTree, what: str) -> PyTree:
    """Casts what an author's method returned to exactly the expected types."""
    return trees.conform(value, expected, what, functools.partial(arguments.broken, env, method))


@_program
def observe(env: Env, state: PyTree, params: PyTree) -> PyTree:
    """Calls `Environment.observe` and casts to the types that every observation has."""
    return trees.narrow(env.observe(state, params))


@_program
def action_mask(env: Env, state: PyTree, params: PyTree) -> PyTree:
    """Calls `Environment.action_mask` and casts to the types that every mask has."""
    return trees.narrow(env.action_mask(state, params))


@_program
def reset(env: Env, key: jax.Array, params: PyTree) -> tuple[PyTree, PyTree]:
    """`Environment.reset`."""
    state = arguments.new_state(env, key, params)
    return observe(env, state, params), state


@_program
def step(env: Env, key: jax.Array, state: PyTree, action: PyTree, params: PyTree) -> tuple[PyTree, ...]:
    """`Environment.step`."""
    outcome = env.advance(state, action, env.draw(key, params), params)
    done = outcome.terminated | outcome.truncated
    state = env.restart(random.reset_key(key), done, outcome.state, params)
    state = conform(env, "restart", state, outcome.state, "restart's state")
    state = vary_alike(state, key, action, params)
    # Computed for both obs and final_obs. XLA deletes whichever the program doesn't use.
    obs, final_obs = observe(env, state, params), observe(env, outcome.state, params)
    return obs, state, outcome.reward, done, _info(outcome, final_obs, action_mask(env, state, params))


@_program
def step_env(env: Env, key: jax.Array, state: PyTree, action: PyTree, params: PyTree) -> tuple[PyTree, ...]:
    """`Environment.step_env`."""
    outcome = env.advance(state, action, env.draw(key, params), params)
    obs = observe(env, outcome.state, params)
    mask = action_mask(env, outcome.state, params)
    return obs, outcome.state, outcome.reward, outcome.terminated, _info(outcome, obs, mask)


def _info(outcome: Outcome, final_obs: PyTree, mask: PyTree) -> Info:
    own = {} if mask is None else {"action_mask": mask}
    own |= {
        "terminated": outcome.terminated,
        "truncated": outcome.truncated,
        "discount": 1 - outcome.terminated.astype(jnp.float32),
        "final_obs": final_obs,
    }
    clash = sorted(set(own) & set(outcome.info))
    if clash:
        raise EnvironmentDefinitionError(
            f"transition returns info[{clash[0]!r}], which envcore sets. Use another name."
        )
    return {**outcome.info, **own}


def own_info(info: Info) -> Info:
    """Returns the environment's own entries of `info`, without those that every environment has. For adapters."""
    return {name: value for name, value in info.items() if name not in _OF_EVERY_ENVIRONMENT}


_OF_EVERY_ENVIRONMENT = ("discount", "final_obs", "terminated", "truncated")
