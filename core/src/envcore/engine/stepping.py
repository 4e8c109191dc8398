"""What `Environment`'s public methods compile: one program for all equal environments, arguments checked already.

Where the caller's own `jit` traces them, they are inlined: the compiled program does not call them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp

from envcore import random, trees
from envcore.devices import vary_alike
from envcore.engine import arguments, definition, episode
from envcore.engine.arguments import Env
from envcore.engine.episode import Info, Outcome
from envcore.errors import EnvironmentDefinitionError
from envcore.typing import PyTree


def _program(fun: Callable[..., PyTree]) -> Callable[..., PyTree]:
    """Compiles a function of an environment, which is static, and arrays."""

    @functools.wraps(fun)
    def traced(env: Env, *args: PyTree) -> PyTree:
        try:
            return fun(env, *args)
        except jax.errors.ConcretizationTypeError as error:
            definition.explain_traced_value(env, error)
            raise

    return jax.jit(traced, static_argnums=0, inline=True)


@_program
def observe(env: Env, state: PyTree, params: PyTree) -> PyTree:
    """`Environment.observe`, with the types that every observation has."""
    return trees.narrow(env.observe(state, params))


@_program
def action_mask(env: Env, state: PyTree, params: PyTree) -> PyTree:
    """`Environment.action_mask`, with the types that every mask has."""
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
    state = episode.conform(env, "restart", state, outcome.state, "restart's state")
    state = vary_alike(state, key, action, params)
    # Once for obs and once for final_obs: whichever of them the program does not use, XLA deletes.
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
        raise EnvironmentDefinitionError(f"info[{clash[0]!r}] is the base class's own entry: give it another name.")
    return {**outcome.info, **own}


def own_info(info: Info) -> Info:
    """The environment's own entries of `info`, without those that every environment has: for adapters."""
    return {name: value for name, value in info.items() if name not in _OF_EVERY_ENVIRONMENT}


_OF_EVERY_ENVIRONMENT = ("discount", "final_obs", "terminated", "truncated")
