"""Rollouts: a policy and an environment inside one `lax.scan`.

Everything here is built from `start_rollout` and `run_rollout`. They run one environment,
or thousands with one key when the environment is `Batched`. `RolloutWrapper` is a convenience class with the same
interface as gymnax's.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from flax import struct
from jax import lax
from jax.sharding import NamedSharding

from envcore import forks, options, random, spaces
from envcore.devices import free_devices, spread
from envcore.engine.arguments import with_updates
from envcore.environment import NO_TIME_LIMIT, Environment, Info
from envcore.errors import InvalidArgumentError
from envcore.registration import make
from envcore.typing import PyTree

T = TypeVar("T")

Policy = Callable[[PyTree, PyTree, jax.Array], PyTree]
"""`policy(policy_params, obs, key) -> action`."""

STEPS_WITHOUT_TIME_LIMIT = 1000
"""Default length of `RolloutWrapper`'s rollouts if the environment has no time limit: the usual limit of control
benchmarks (Gymnasium's MuJoCo, the DeepMind Control Suite)."""


@struct.dataclass
class Transition:
    """One step of a rollout.

    Attributes:
      state: the state before the step.
      obs: the observation before the step, which the policy saw.
      action: the action that the policy took.
      reward: float32.
      next_obs: the observation after the step; at the end of an episode the final one, not the first of the next
        episode.
      done: bool, whether the episode ended.
      info: the environment's info for the step (`terminated`, `truncated`, `discount`, ...).
    """

    state: PyTree
    obs: PyTree
    action: PyTree
    reward: jax.Array
    next_obs: PyTree
    done: jax.Array
    info: Info


@struct.dataclass
class RolloutState:
    """The state of a rollout between steps, which `run_rollout` takes and returns.

    Attributes:
      key: the random key for the remaining steps.
      state: the environment's current state.
    """

    key: jax.Array
    state: PyTree


def start_rollout(env: Environment[Any, Any], key: jax.Array, params: PyTree = None) -> RolloutState:
    """Resets the environment for a rollout."""
    forks.check()
    key, key_reset = random.split(key)
    return RolloutState(key, env.reset(key_reset, params)[1])


def run_rollout(
    env: Environment[Any, Any],
    policy: Policy,
    start: RolloutState,
    num_steps: int,
    params: PyTree = None,
    policy_params: PyTree = None,
    collect: Callable[[Transition], PyTree] = lambda transition: transition,
) -> tuple[RolloutState, PyTree]:
    """Takes `num_steps` steps, with auto-reset, in one `lax.scan`. Call it inside `jit`.

    Args:
      env: the environment; wrap it in `Batched` to run many.
      policy: `policy(policy_params, obs, key) -> action`, for example `random_policy(env)`.
      start: from `start_rollout`, or from an earlier `run_rollout`.
      num_steps: number of steps, static.
      params: the environment's params; its defaults if None.
      policy_params: passed to the policy.
      collect: a function that selects what to keep of each `Transition`; keep little for long rollouts.

    Returns:
      The state after the last step, and what was collected; each leaf of it has a leading axis of length `num_steps`.

    Raises:
      InvalidArgumentError: num_steps is not a positive integer.
    """
    num_steps = options.positive_integer("num_steps", num_steps, InvalidArgumentError)

    def body(carry: RolloutState, _: None) -> tuple[RolloutState, PyTree]:
        # The observation is computed from the state here and not carried: XLA would copy it on every iteration.
        # By `split`, 2,048 rollouts of CartPole with a key each would take 49 instead of 33 ns a step.
        keys, obs = random.spawn(carry.key, 3), env.get_obs(carry.state, params)
        action = policy(policy_params, obs, keys[1])
        _, state, reward, done, info = env.step(keys[2], carry.state, action, params)
        info = dict(info)
        transition = Transition(carry.state, obs, action, reward, info.pop("final_obs"), done, info)
        return RolloutState(keys[0], state), collect(transition)

    return lax.scan(body, start, None, num_steps)


@dataclasses.dataclass(frozen=True)
class RandomPolicy:
    """Samples actions from a space. Policies with equal spaces are equal, and can be pickled.

    Attributes:
      space: the action space.
    """

    space: spaces.Space

    def __call__(self, policy_params: PyTree, obs: PyTree, key: jax.Array) -> PyTree:
        """Returns a random action; ignores the observation."""
        return self.space.sample(key)


def random_policy(env: Environment[Any, Any], params: PyTree = None) -> Policy:
    """Returns a policy that samples the action space; for `Batched`, it samples all actions at once."""
    return RandomPolicy(env.action_space(params))


class RolloutWrapper:
    """Rollouts of a fixed length with one policy, compiled on first use.

    Args:
      model_forward: `model_forward(policy_params, obs, key) -> action`; None for random actions.
      env_name: an environment's id, or an `Environment`.
      num_env_steps: length of a rollout; by default the environment's time limit, or `STEPS_WITHOUT_TIME_LIMIT`.
      env_kwargs: constructor options, if `env_name` is an id.
      env_params: the environment's params, or a mapping of those that differ from the defaults.

    It can be pickled if `model_forward` can be: a module-level function, not a lambda or a nested function.

    Each rollout starts with a reset and continues through auto-resets for its whole length. All methods return
    `(obs, action, reward, next_obs, done, cum_return)`, each with an axis of length `num_env_steps`, except
    `cum_return`, float32, the return of the first episode. `next_obs` is the observation after the step, also at the
    end of an episode.

    Many rollouts are spread over this process's devices, over as many as divide the number of members or else of keys;
    not where the caller has placed an argument on a device, has set JAX's default device, or calls this inside a
    program. Random actions give the same results on any devices; a network may round differently.

    Called directly, the methods write all steps to memory, which takes about as long as a light environment's steps.
    Inside the caller's `jit`, what is not used is not computed: `jax.jit(lambda *args:
    manager.batch_rollout(*args)[-1])` takes no memory for the steps. For the most steps a second use `run_rollout` with
    `Batched` or `Sharded`: 29 to 31 million steps a CPU second of CartPole and Breakout, whose rewards alone are read,
    where these methods with a key for each rollout take 20 to 21 million.

    Raises:
      InvalidArgumentError: an argument has the wrong type, or num_env_steps is not a positive integer.
      InvalidParamsError: env_params names a param that the environment does not have.
    """

    def __init__(
        self,
        model_forward: Policy | None = None,
        env_name: str | Environment[Any, Any] = "Pendulum-v1",
        num_env_steps: int | None = None,
        env_kwargs: Mapping[str, object] | None = None,
        env_params: PyTree = None,
    ):
        if model_forward is not None and not callable(model_forward):
            raise InvalidArgumentError(
                f"model_forward must be a function, got {model_forward!r}: is it meant for env_name?"
            )
        if isinstance(env_name, str):
            self.env, _ = make(env_name, **(env_kwargs or {}))
        elif env_kwargs:
            raise InvalidArgumentError(
                "env_kwargs are only for an environment's id: an Environment already has its options."
            )
        elif not isinstance(env_name, Environment):
            raise InvalidArgumentError(f"env_name must be an id or an Environment, got {env_name!r}.")
        else:
            self.env = env_name
        self.env_params = self.env.default_params if env_params is None else with_updates(self.env, env_params)
        self.num_env_steps = _rollout_length(self.env, self.env_params, num_env_steps)
        self.policy = random_policy(self.env, self.env_params) if model_forward is None else model_forward

    def single_rollout(self, key: jax.Array, policy_params: PyTree = None) -> tuple[PyTree, ...]:
        """Runs one rollout."""
        forks.check()
        return self._rollout(key, policy_params)

    @functools.partial(jax.jit, static_argnums=0)
    def _rollout(self, key: jax.Array, policy_params: PyTree) -> tuple[PyTree, ...]:
        start = start_rollout(self.env, key, self.env_params)
        _, steps = run_rollout(self.env, self.policy, start, self.num_env_steps, self.env_params, policy_params)
        return steps.obs, steps.action, steps.reward, steps.next_obs, steps.done, _first_return(steps)

    def batch_rollout(self, keys: jax.Array, policy_params: PyTree = None) -> tuple[PyTree, ...]:
        """Runs a rollout for each key: every result gets a leading axis for the keys."""
        return for_each_key(self._rollout, keys, policy_params)

    def population_rollout(self, keys: jax.Array, policy_params: PyTree) -> tuple[PyTree, ...]:
        """Runs a rollout for each member of a population and each key: the two leading axes of the results.

        The leaves of `policy_params` have a leading axis for the members.
        """
        return for_each_member(self._rollout, keys, policy_params)


def for_each_key(rollout: Callable[[jax.Array, PyTree], T], keys: jax.Array, policy_params: PyTree) -> T:
    """`rollout(key, policy_params)` for each key, spread over the devices that are free; see `RolloutWrapper`."""
    forks.check()
    return _for_each_key(rollout, free_devices(keys, policy_params), keys, policy_params)


def for_each_member(rollout: Callable[[jax.Array, PyTree], T], keys: jax.Array, policy_params: PyTree) -> T:
    """`rollout(key, policy_params)` for each member and each key: likewise, over members or else over keys."""
    forks.check()
    of_members = free_devices(policy_params, keys)
    of_keys = free_devices(keys, policy_params) if of_members is None else None
    return _for_each_member(rollout, of_members, of_keys, keys, policy_params)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _for_each_key(
    rollout: Callable[[jax.Array, PyTree], T], sharding: NamedSharding | None, keys: jax.Array, policy_params: PyTree
) -> T:
    return spread(jax.vmap(rollout, (0, None)), sharding, (True, False))(keys, policy_params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _for_each_member(
    rollout: Callable[[jax.Array, PyTree], T],
    of_members: NamedSharding | None,
    of_keys: NamedSharding | None,
    keys: jax.Array,
    policy_params: PyTree,
) -> T:
    of_member = functools.partial(_for_each_key, rollout, of_keys)
    return spread(jax.vmap(of_member, (None, 0)), of_members, (False, True))(keys, policy_params)


def _rollout_length(env: Environment[Any, Any], params: PyTree, num_env_steps: int | None) -> int:
    if num_env_steps is None:
        limit = int(params.max_steps_in_episode)
        return STEPS_WITHOUT_TIME_LIMIT if limit == NO_TIME_LIMIT else limit
    return options.positive_integer("num_env_steps", num_env_steps, InvalidArgumentError)


def _first_return(steps: Transition) -> jax.Array:
    """The sum of rewards up to and including the first `done`."""
    step = lax.broadcasted_iota(jnp.int32, steps.done.shape, 0)
    last = jnp.where(steps.done, step, steps.done.shape[0]).min(axis=0, keepdims=True)
    return jnp.where(step <= last, steps.reward, 0).sum(axis=0)
