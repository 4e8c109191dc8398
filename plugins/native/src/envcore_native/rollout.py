"""`run_rollout`: a whole rollout in one kernel."""

from __future__ import annotations

import functools
import importlib.util
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from envcore import checks, random, trees
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.rollout import Policy, RolloutState, Transition
from envcore.typing import PyTree

from envcore_native import kernels
from envcore_native.trace import Program, lower

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
      EnvcoreError: Warp is not installed, or JAX's backend is neither a CPU nor CUDA.
    """
    num_steps = checks.positive_integer("num_steps", num_steps, InvalidArgumentError)
    params = arguments.checked_params(env, params)
    state = arguments.checked_state(env, start.state)
    _check_platform()
    _check_key(start.key)
    fixed = jax.tree.map(jnp.asarray, (params, policy_params))
    leaves, structure = jax.tree.flatten(fixed)
    types = tuple(jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=x.weak_type) for x in leaves)
    program = _lowered(env, policy, collect, structure, types)
    words = jax.random.key_data(start.key) if trees.is_key(start.key) else start.key
    inputs = [*leaves, *program.closed_over]
    words, leaves, stacked = _play(program, env.batch_shape, num_steps, words, jax.tree.leaves(state), inputs)
    key = jax.random.wrap_key_data(words, impl=_KEY_TYPE) if trees.is_key(start.key) else words
    return RolloutState(key, jax.tree.unflatten(jax.tree.structure(state), leaves)), stacked


@functools.lru_cache(maxsize=256)
def _lowered(env: Environment, policy: Policy, collect: Any, structure: Any, types: Any) -> Program:
    return lower(env, policy, collect, *jax.tree.unflatten(structure, types))


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _play(
    program: Program,
    batch_shape: tuple[int, ...],
    num_steps: int,
    words: jax.Array,
    state: list[jax.Array],
    fixed: list[jax.Array],
) -> tuple[jax.Array, list[jax.Array], PyTree]:
    (last,), (keys,) = kernels.play(program.keys, 1, num_steps, [words], [], [words])
    row = jax.ShapeDtypeStruct((program.width,), words.dtype)
    _, (table,) = kernels.play(program.table, num_steps, 1, [keys], [], [row])
    steps, structure = jax.tree.flatten(program.stacked)
    state_in, filled = [x for x in state if x.size], [x for x in steps if x.size]
    fixed = [table, *(x for x in fixed if x.size)]
    ends, stores = kernels.play(program.rollout, math.prod(batch_shape), num_steps, state_in, fixed, filled)
    state = [ends.pop(0) if x.size else x for x in state]
    stacked = [stores.pop(0) if x.size else jnp.zeros(0, x.dtype) for x in steps]
    stacked = [x.reshape(num_steps, *batch_shape, *step.shape) for x, step in zip(stacked, steps, strict=True)]
    return last, state, jax.tree.unflatten(structure, stacked)


def _check_platform() -> None:
    if importlib.util.find_spec("warp") is None:
        raise EnvcoreError("envcore_native.run_rollout needs Warp: pip install warp-lang.")
    platform = jax.default_backend()
    if platform not in ("cpu", "gpu", "cuda"):
        raise EnvcoreError(
            f"envcore_native.run_rollout needs a CPU or a CUDA device, and JAX's backend is {platform}: "
            "use envcore.rollout.run_rollout."
        )


def _check_key(key: jax.Array) -> None:
    random.check_key(key)
    config: Any = jax.config
    kind = str(jax.random.key_impl(key)) if trees.is_key(key) else config.jax_default_prng_impl
    if {kind, config.jax_default_prng_impl} != {_KEY_TYPE} or not config.jax_threefry_partitionable:
        raise InvalidArgumentError(
            f"envcore_native.run_rollout needs keys of type {_KEY_TYPE}, JAX's default with jax_threefry_partitionable "
            f"on, got {kind}."
        )
