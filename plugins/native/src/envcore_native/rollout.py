"""`run_rollout`: runs a whole rollout in one kernel."""

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
from envcore.suggestions import how_to_install
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
    """Runs a rollout like `envcore.rollout.run_rollout`, in one kernel on a CPU or a CUDA device.

    With the same key, both functions give the same trajectories. Integers and bools are equal bit for bit, and floats
    differ by rounding. Under `vmap`, rollouts run one after another. Gradients are not supported.

    Args:
      env: one environment, or `Batched` with or without wrappers around it.
      policy: `random_policy(env)`, or a function that computes each action from that environment's observation alone.
        It can use arithmetic, indexing, small matrix products, and draws from `jax.random` or `envcore.random`.
      start: the result of `start_rollout`, or the state after an earlier rollout.
      num_steps: number of steps, static.
      params: the environment's params, or None for the defaults.
      policy_params: passed to the policy.
      collect: a function that selects the parts of each `Transition` to return, computed for each environment alone.
        Parts that you leave out are not computed.

    Returns:
      The state after the last step, and the collected values. Each collected leaf has a leading axis of length
      `num_steps`.

    Raises:
      InvalidArgumentError: an argument is invalid, or the program uses an operation that envcore-native doesn't
        support. The message names the operation.
      EnvcoreError: Warp is not installed.
    """
    num_steps = checks.positive_integer("num_steps", num_steps, InvalidArgumentError)
    params = arguments.checked_params(env, params)
    state = arguments.checked_state(env, start.state)
    if importlib.util.find_spec("warp") is None:
        raise EnvcoreError(f"envcore_native.run_rollout needs Warp: {how_to_install('envcore-native[gpu]')}.")
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
