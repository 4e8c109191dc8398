"""Rollouts: run a policy in an environment for many steps in one `lax.scan`.

`start_rollout` and `run_rollout` run one environment, or thousands in parallel if it is `Batched`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import jax
from flax import struct
from jax import lax

from envcore import checks, random, spaces
from envcore.devices import vary_alike
from envcore.engine import arguments, stepping
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.typing import PyTree

Policy = Callable[[PyTree, PyTree, jax.Array], PyTree]
"""A policy: `policy(policy_params, obs, key) -> action`."""


@struct.dataclass
class Transition:
    """One step of a rollout.

    Attributes:
      state: the state before the step.
      obs: the observation before the step, which the policy received.
      action: the action that the policy returned.
      reward: float32.
      next_obs: the observation after the step. At the end of an episode, this is the final observation, not the first
        one of the next episode.
      done: bool, whether the episode ended.
      info: the environment's info for the step (`terminated`, `truncated`, `discount`, ...).
    """

    state: PyTree
    obs: PyTree
    action: PyTree
    reward: jax.Array
    next_obs: PyTree
    done: jax.Array
    info: dict[str, PyTree]


if TYPE_CHECKING:  # without `collect`, `run_rollout` returns transitions
    from typing_extensions import TypeVar as TypeVarWithDefault

    Collected = TypeVarWithDefault("Collected", default=Transition)
else:
    Collected = TypeVar("Collected")


@struct.dataclass
class RolloutState:
    """The state of a rollout. Pass it to `run_rollout` to continue.

    Attributes:
      key: random key for the remaining steps.
      state: the environment's current state.
    """

    key: jax.Array
    state: PyTree


def start_rollout(env: Environment, key: jax.Array, params: PyTree = None) -> RolloutState:
    """Resets the environment and returns the initial state of a rollout."""
    key, key_reset = random.split(key)
    return RolloutState(key, env.reset(key_reset, params)[1])


def _everything(transition: Transition) -> Transition:
    return transition


def run_rollout(
    env: Environment,
    policy: Policy,
    start: RolloutState,
    num_steps: int,
    params: PyTree = None,
    policy_params: PyTree = None,
    collect: Callable[[Transition], Collected] = _everything,  # pyright: ignore[reportArgumentType]
) -> tuple[RolloutState, Collected]:
    """Runs a policy for `num_steps` steps with auto-reset, in one `lax.scan`. Call it inside `jit`.

    Args:
      env: the environment. Wrap it in `Batched` to run many copies.
      policy: `policy(policy_params, obs, key) -> action`, for example `random_policy(env)`.
      start: the state from `start_rollout`, or from an earlier `run_rollout`.
      num_steps: number of steps, static.
      params: the environment's params, by default its default params.
      policy_params: passed to the policy.
      collect: a function that selects what to keep of each `Transition`. Keep little for long rollouts.

    Returns:
      The state after the last step, and the collected values, whose leaves have a leading axis of length `num_steps`.

    Raises:
      InvalidArgumentError: num_steps is not a positive integer.
    """
    num_steps = checks.positive_integer("num_steps", num_steps, InvalidArgumentError)
    params = arguments.checked_params(env, params)
    state = vary_alike(arguments.checked_state(env, start.state), start.key, params, policy_params)
    start = RolloutState(start.key, state)

    def body(carry: RolloutState, _: None) -> tuple[RolloutState, PyTree]:
        # Recompute the observation from the state, because XLA would copy a carried one on every iteration.
        # `split` instead of `spawn` would take 49 ns per step instead of 33 (2,048 rollouts of CartPole).
        keys, obs = random.spawn(carry.key, 3), stepping.observe(env, carry.state, params)
        action = policy(policy_params, obs, keys[1])
        _, state, reward, done, info = env.step(keys[2], carry.state, action, params)
        info = dict(info)
        transition = Transition(carry.state, obs, action, reward, info.pop("final_obs"), done, info)
        return RolloutState(keys[0], state), collect(transition)

    return lax.scan(body, start, None, num_steps)


@dataclasses.dataclass(frozen=True)
class RandomPolicy:
    """Samples random actions from a space. Policies with equal spaces are equal, and can be pickled."""

    space: spaces.Space

    def __call__(self, policy_params: PyTree, obs: PyTree, key: jax.Array) -> PyTree:
        return self.space.sample(key)


def random_policy(env: Environment, params: PyTree = None) -> Policy:
    """Returns a policy that samples random actions. For `Batched`, it samples the whole batch at once."""
    params = arguments.default_params(env) if params is None else arguments.checked_params(env, params)
    return RandomPolicy(env.action_space(params))
