"""The interface of an algorithm, and functions that algorithms share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

import envcore
import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, spaces, trees
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.wrappers import ActionMaskObservation, FlattenObservation

ILLEGAL = np.float32(-1e9)
"""The logit or value of an action that must not be chosen."""

Metrics = dict[str, jax.Array]
"""Metrics of an update by name, each of shape ().

`returns`, float32, is the sum over the episodes that ended, and `episodes`, int32, their number. The others are
metrics of the algorithm, such as the `loss`, float32, NaN where there was nothing to measure.
"""


class Learner(Protocol):
    """An algorithm for one environment. Its methods are pure functions that work under jit, scan and vmap.

    To write your own, define a class that takes `(env, params, config)`. The class attribute `Config` is a dataclass of
    settings, with types as in `settings`. An argument named `distribution` receives a distribution for `MultiDiscrete`
    actions, and None for others. An argument named `network` receives the user's network, which you should check with
    `checked_network`. Raise ValueError if settings, network or environment do not fit.
    """

    @property
    def env(self) -> Environment:
        """The environment whose observations `act` takes."""
        ...

    @property
    def steps_per_update(self) -> int:
        """Environment steps per update."""
        ...

    @property
    def num_updates(self) -> int:
        """Number of updates in a training."""
        ...

    def init(self, key: Any, /) -> Any:
        """The state before the first update. Its attribute `agent` is the first argument of `act`."""
        ...

    def update(self, state: Any) -> tuple[Any, Metrics]:
        """Returns the next state and the metrics of the update."""
        ...

    def start_memory(self) -> Any:
        """The memory at the start of an episode, a pytree of arrays, or () without a memory."""
        ...

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[Any, Any]:
        """Returns the action for one observation, deterministic if `greedy`, and the next memory."""
        ...


class RolloutLearner:
    """Base class of learners that play a rollout in each update. By default, they have no memory."""

    config: Any

    @property
    def steps_per_update(self) -> int:
        """Environment steps per update."""
        return self.config.num_envs * self.config.rollout_steps

    @property
    def num_updates(self) -> int:
        """Number of updates in a training."""
        return -(-self.config.total_steps // self.steps_per_update)

    def start_memory(self) -> Any:
        """The memory at the start of an episode, empty by default."""
        return ()


class Constants:
    """Makes a pytree of constants a static argument of jit. Equal if all values, shapes and dtypes are equal.

    Attributes:
      tree: the pytree.
    """

    def __init__(self, tree: Any):
        leaves, structure = jax.tree.flatten(tree)
        numbers = [np.asarray(jax.random.key_data(x) if trees.is_key(x) else x) for x in leaves]
        kinds = [str(getattr(leaf, "dtype", x.dtype)) for leaf, x in zip(leaves, numbers, strict=True)]
        self.tree = tree
        self._key = structure, tuple((kind, x.shape, x.tobytes()) for kind, x in zip(kinds, numbers, strict=True))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constants) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def flattened(env: Environment, params: Any) -> Environment:
    """Flattens observations, unless they are a `Box` or come with an action mask."""
    is_flat = isinstance(env, ActionMaskObservation) or isinstance(env.observation_space(params), spaces.Box)
    return env if is_flat else FlattenObservation(env)


def observed(env: Environment, params: Any) -> Environment:
    """Prepares an environment for a learner: adds action masks, and flattens observations unless they are a `Box`."""
    inner = env.env if isinstance(env, ActionMaskObservation) else env
    return with_masks(flattened(inner, params), params)


def with_masks(env: Environment, params: Any) -> Environment:
    """Adds action masks to the observations, if the environment has discrete actions with masks."""
    if isinstance(env, ActionMaskObservation):
        return env
    is_discrete = isinstance(env.action_space(params), spaces.Discrete | spaces.MultiDiscrete)
    has_masks = arguments.action_mask_struct(env) is not None
    return ActionMaskObservation(env) if is_discrete and has_masks else env


def as_observed(env: Environment, obs: Any, params: Any) -> Any:
    """Converts an observation of an environment from `with_masks` to one from `observed`, which is `env`."""
    if isinstance(env, ActionMaskObservation):
        return {**obs, "observation": as_observed(env.env, obs["observation"], params)}
    return env.flatten(obs, params) if isinstance(env, FlattenObservation) else obs


def split_mask(obs: Any) -> tuple[Any, Any]:
    """Splits observations into arrays and action masks, None without masks."""
    return (obs["observation"], obs["action_mask"]) if isinstance(obs, dict) else (obs, None)


def masked(values: jax.Array, mask: Any) -> jax.Array:
    """Sets values or logits (..., n) to `ILLEGAL` where the mask is False, unless it is None or all False."""
    return values if mask is None else jnp.where(mask | ~mask.any(-1, keepdims=True), values, ILLEGAL)


def epsilon_greedy(values: jax.Array, epsilon: Any, key: jax.Array) -> jax.Array:
    """Epsilon-greedy legal actions for values (n, actions), int32 (n,). Breaks ties at random."""
    chance = random.uniform(key, (values.shape[0], 1 + values.shape[1]))
    values = jnp.where((chance[:, :1] < epsilon) & (values > ILLEGAL), 0, values)
    is_best = values == values.max(-1, keepdims=True)
    return jnp.where(is_best, chance[:, 1:], -1).argmax(-1).astype(jnp.int32)


def chosen(values: jax.Array, actions: jax.Array) -> jax.Array:
    """Selects from values (n, actions) the value of each row's action, int32 (n,)."""
    return jnp.where(jnp.arange(values.shape[-1]) == actions[:, None], values, 0).sum(-1)


def flat(tree: Any) -> Any:
    """Merges the axes of steps and environments."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), tree)


def as_floats(obs: jax.Array) -> jax.Array:
    """Converts observations to float32. XLA's conversion of bools is up to ten times slower on CPU."""
    return jnp.where(obs, np.float32(1), np.float32(0)) if obs.dtype == jnp.bool_ else obs.astype(jnp.float32)


def check_images(env: Environment, params: Any, obs: Any) -> None:
    """Raises ValueError if a convolution cannot take the observations. `obs` has no mask."""
    if obs.ndim != 3 or min(obs.shape[:2]) < 3:
        needed = "torso = 'conv' needs observations (height, width, channels) of at least 3 x 3"
        raise ValueError(f"{needed}, but {env.name} has {env.observation_space(params)}.")


def checked_network(network: Any, obs: Any, results: Mapping[str, tuple[int, ...]]) -> Any:
    """Checks a user's network by tracing it for one and for two observations, and returns it.

    Args:
      network: an object with the functions `init(key, obs)`, which returns weights, and `apply(weights, obs)`. Or a
        class of such objects that takes the number of outputs.
      obs: an observation, or its `jax.ShapeDtypeStruct`.
      results: expected shapes of the float32 results for one observation, by name. The first shape has length 1 and
        contains the number of outputs.

    Raises:
      ValueError: the object has no `init` and `apply`, returns other shapes or dtypes, or has no float weights to
        train. Errors in the network's code are not caught.
    """
    if not hasattr(network, "init") or not hasattr(network, "apply"):
        raise ValueError(f"the network must have init(key, obs) and apply(weights, obs), got {network!r}.")
    made = network(*next(iter(results.values()))) if isinstance(network, type) else network
    one, two = (jax.ShapeDtypeStruct((number, *obs.shape), obs.dtype) for number in (1, 2))
    weights = jax.eval_shape(made.init, jax.eval_shape(lambda: jax.random.key(0)), one)
    for batch in (two, one):  # `act` passes one observation
        returned = jax.eval_shape(made.apply, weights, batch)
        found = [(x.shape, x.dtype.name) for x in jax.tree.leaves(returned)]
        if found != [((batch.shape[0], *shape), "float32") for shape in results.values()]:
            described = [f"{name} float32 {('n', *shape)}".replace("'", "") for name, shape in results.items()]
            expected = f"the network must map observations to {' and '.join(described)}"
            raise ValueError(f"{expected}, got {found} for n = {batch.shape[0]}.")
    leaves = jax.tree.leaves(weights)
    if not leaves or not all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves):
        raise ValueError(f"the network must have weights to train, all of them floats, got {weights}.")
    return made


def permutations(key: jax.Array, num: int, size: int) -> jax.Array:
    """Returns `num` random permutations of the numbers below `size`, int32 (num, size).

    `jax.random.permutation` takes eight times as long on CPU, a quarter of a PPO update. Up to 8,192 numbers are sorted
    by 19 or more random bits stored above them. Numbers with equal bits stay in order, so of two neighbors in a
    permutation of 8,192 the first is smaller with probability 50.1%. More numbers are sorted by 32 bits.
    """
    low, numbers = (size - 1).bit_length(), jax.lax.broadcasted_iota(jnp.uint32, (num, size), 1)
    words = random.bits(key, (num, size))
    if low > 13:
        order = jax.lax.sort((words, numbers), num_keys=1, is_stable=False)[1]
    else:
        order = jax.lax.sort(words << low | numbers, is_stable=False) & (1 << low) - 1
    return order.astype(jnp.int32)


def main(algorithm: Any, env_id: str, **settings: Any) -> None:
    """Runs an algorithm's file: `python ppo.py [ID [TOTAL_STEPS]]` trains an agent and prints about 30 mean returns.

    Args:
      algorithm: the class in the file.
      env_id: default of ID.
      **settings: settings that differ from the defaults.
    """
    env_id, *total_steps = sys.argv[1:] or [env_id]
    if total_steps:
        settings["total_steps"] = int(total_steps[0])
    config = algorithm.Config(**settings)
    learner: Learner = algorithm(*envcore.make(env_id), config)
    state, update = jax.jit(learner.init)(jax.random.key(0)), jax.jit(learner.update)
    for number in range(1, learner.num_updates + 1):
        state, metrics = update(state)
        if number % max(learner.num_updates // 30, 1) == 0:
            mean_return = metrics["returns"] / metrics["episodes"]
            print(f"{number * learner.steps_per_update:,} steps: return {mean_return:.3f}")


def each_agent(fun: Callable[..., Any]) -> Callable[..., Any]:
    """Like `jax.vmap(fun)`, but a single agent calls `fun` directly, which takes 0.8 of the time to trace and compile.

    Arguments are pytrees of arrays with a leading axis for agents.
    """

    def of_agents(*trees: Any) -> Any:
        if len(jax.tree.leaves(trees)[0]) > 1:
            return jax.vmap(fun)(*trees)
        return jax.tree.map(lambda x: jnp.asarray(x)[None], fun(*jax.tree.map(lambda x: x[0], trees)))

    return of_agents
