"""`run_rollout`: a whole rollout in one kernel."""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable
from typing import Any

import jax
from envcore import checks, random, trees
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.rollout import Policy, RolloutState, Transition
from envcore.typing import PyTree

from envcore_native import kernels
from envcore_native.trace import lower

_KEY_TYPE = "threefry2x32"


def run_rollout(
    env: Environment,
    policy: Policy,
    start: RolloutState,
    num_steps: int,
    params: PyTree = None,
    policy_params: PyTree = None,
    collect: Callable[[Transition], PyTree] = lambda transition: transition,
) -> tuple[RolloutState, PyTree]:
    """What `envcore.rollout.run_rollout` returns, computed by one kernel on a CPU or a CUDA device.

    The environments play the same trajectories with the same key: integers and bools are equal bit for bit, floats
    differ by rounding. Under `vmap`, the rollouts are played one after another. They cannot be differentiated.

    Args:
      env: one environment, or `Batched` with or without wrappers around it.
      policy: `random_policy(env)`, or a function of each environment's observation alone: arithmetic, indexing, small
        products, and draws of `jax.random` or `envcore.random`.
      start: from `start_rollout`, or from an earlier rollout.
      num_steps: number of steps, static.
      params: the environment's params; its defaults if None.
      policy_params: passed to the policy.
      collect: a function that selects what to keep of each `Transition`, for each environment alone. What is not kept
        is not computed.

    Returns:
      The state after the last step, and what was collected; each leaf of it has a leading axis of length `num_steps`.

    Raises:
      InvalidArgumentError: an argument is invalid, or part of the program cannot be lowered; the message says which.
      EnvcoreError: Warp is not installed.
    """
    num_steps = checks.positive_integer("num_steps", num_steps, InvalidArgumentError)
    params = arguments.checked_params(env, params)
    state = arguments.checked_state(env, start.state)
    if importlib.util.find_spec("warp") is None:
        raise EnvcoreError("envcore_native.run_rollout needs Warp: pip install warp-lang.")
    _check_key(start.key)
    return _play(env, policy, collect, num_steps, RolloutState(start.key, state), params, policy_params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2, 3))
def _play(
    env: Environment, policy: Policy, collect: Any, num_steps: int, start: RolloutState, params: Any, policy_params: Any
) -> tuple[RolloutState, PyTree]:
    program = lower(env, policy, collect, params, policy_params)
    words = jax.random.key_data(start.key) if trees.is_key(start.key) else start.key
    (last,), (keys,) = kernels.play(program.keys, 1, num_steps, [words], [], [words])
    row = jax.ShapeDtypeStruct((program.width,), words.dtype)
    _, (table,) = kernels.play(program.table, num_steps, 1, [keys], [], [row])
    (state, structure), (steps, stacked) = jax.tree.flatten(start.state), jax.tree.flatten(program.stacked)
    fixed = [table, *jax.tree.leaves((params, policy_params)), *program.closed_over]
    state, made = kernels.play(program.rollout, math.prod(env.batch_shape), num_steps, state, fixed, steps)
    made = [x.reshape(num_steps, *env.batch_shape, *step.shape) for x, step in zip(made, steps, strict=True)]
    key = jax.random.wrap_key_data(last, impl=_KEY_TYPE) if trees.is_key(start.key) else last
    return RolloutState(key, jax.tree.unflatten(structure, state)), jax.tree.unflatten(stacked, made)


def _check_key(key: jax.Array) -> None:
    random.check_key(key)
    config: Any = jax.config
    kind = str(jax.random.key_impl(key)) if trees.is_key(key) else config.jax_default_prng_impl
    if {kind, config.jax_default_prng_impl} != {_KEY_TYPE}:
        raise InvalidArgumentError(f"envcore_native.run_rollout needs keys of type {_KEY_TYPE}, got {kind}.")
