"""What training asks of an algorithm, and what algorithms share."""

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
"""What an update says of itself, each of shape ().

Of the episodes that ended, the sum of their `returns`, float32, and the number of `episodes`, int32; then whatever the
algorithm measures, such as its `loss`, float32, NaN where there was nothing to measure.
"""


class Learner(Protocol):
    """An algorithm for one environment. Its methods are pure functions, to be jitted, scanned and mapped over seeds.

    A class of learners takes `(env, params, config)`. Its attribute `Config` is the dataclass of its settings, of the
    types that `settings` describes. If it has an argument `distribution`, it gets one for actions that are several
    discrete numbers, and None for others. If it has an argument `network`, a user may give one, which
    `checked_network` checks. It raises ValueError where settings, network or environment do not fit.
    """

    @property
    def env(self) -> Environment:
        """The environment whose observations `act` takes."""
        ...

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one update."""
        ...

    @property
    def num_updates(self) -> int:
        """Updates of a run."""
        ...

    def init(self, key: Any, /) -> Any:
        """The state before the first update; its attribute `agent` is what `act` takes."""
        ...

    def update(self, state: Any) -> tuple[Any, Metrics]:
        """The next state, and the metrics of the update."""
        ...

    def start_memory(self) -> Any:
        """What an agent remembers at the start of an episode, a pytree of arrays; () for one that remembers nothing."""
        ...

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[Any, Any]:
        """The action for one observation, without chance if `greedy`; and what the agent remembers after it."""
        ...


class RolloutLearner:
    """What our learners share: they play a rollout in each update, and remember nothing of an episode by default."""

    config: Any

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one update."""
        return self.config.num_envs * self.config.rollout_steps

    @property
    def num_updates(self) -> int:
        """Updates of a run."""
        return -(-self.config.total_steps // self.steps_per_update)

    def start_memory(self) -> Any:
        """What an agent remembers at the start of an episode: nothing."""
        return ()


class Constants:
    """Constants of a program as a static argument: pytrees are equal where all their numbers, shapes and dtypes are.

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
    """The environment, flattened unless it observes a `Box`, or an array beside an action mask."""
    is_flat = isinstance(env, ActionMaskObservation) or isinstance(env.observation_space(params), spaces.Box)
    return env if is_flat else FlattenObservation(env)


def observed(env: Environment, params: Any) -> Environment:
    """The environment as a learner observes it: flattened, unless it observes a `Box`, and with its action masks."""
    inner = env.env if isinstance(env, ActionMaskObservation) else env
    return with_masks(flattened(inner, params), params)


def with_masks(env: Environment, params: Any) -> Environment:
    """The environment, which also observes the masks of its actions if they are discrete and have some."""
    if isinstance(env, ActionMaskObservation):
        return env
    is_discrete = isinstance(env.action_space(params), spaces.Discrete | spaces.MultiDiscrete)
    has_masks = arguments.action_mask_struct(env) is not None
    return ActionMaskObservation(env) if is_discrete and has_masks else env


def as_observed(env: Environment, obs: Any, params: Any) -> Any:
    """What `env`, made by `observed`, observes where the same environment made by `with_masks` observes `obs`."""
    if isinstance(env, ActionMaskObservation):
        return {**obs, "observation": as_observed(env.env, obs["observation"], params)}
    return env.flatten(obs, params) if isinstance(env, FlattenObservation) else obs


def split_mask(obs: Any) -> tuple[Any, Any]:
    """Observations and their action masks, None without masks."""
    return (obs["observation"], obs["action_mask"]) if isinstance(obs, dict) else (obs, None)


def masked(values: jax.Array, mask: Any) -> jax.Array:
    """Values or logits, (..., n), `ILLEGAL` where the mask is False; as they are where it allows none, or is None."""
    return values if mask is None else jnp.where(mask | ~mask.any(-1, keepdims=True), values, ILLEGAL)


def epsilon_greedy(values: jax.Array, epsilon: Any, key: jax.Array) -> jax.Array:
    """Epsilon-greedy legal actions for values (n, actions), int32 (n,); ties are broken at random."""
    chance = random.uniform(key, (values.shape[0], 1 + values.shape[1]))
    values = jnp.where((chance[:, :1] < epsilon) & (values > ILLEGAL), 0, values)
    is_best = values == values.max(-1, keepdims=True)
    return jnp.where(is_best, chance[:, 1:], -1).argmax(-1).astype(jnp.int32)


def chosen(values: jax.Array, actions: jax.Array) -> jax.Array:
    """The values, (n, actions), of one action each, int32 (n,)."""
    return jnp.where(jnp.arange(values.shape[-1]) == actions[:, None], values, 0).sum(-1)


def flat(tree: Any) -> Any:
    """The steps of all environments in one axis, instead of two."""
    return jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:]), tree)


def as_floats(obs: jax.Array) -> jax.Array:
    """Observations as float32. On a CPU, XLA takes up to ten times as long to convert bools."""
    return jnp.where(obs, np.float32(1), np.float32(0)) if obs.dtype == jnp.bool_ else obs.astype(jnp.float32)


def check_images(env: Environment, params: Any, obs: Any) -> None:
    """Raises a ValueError unless a convolution takes the observations, `obs` without masks."""
    if obs.ndim != 3 or min(obs.shape[:2]) < 3:
        needed = "torso = 'conv' needs observations (height, width, channels) of at least 3 x 3"
        raise ValueError(f"{needed}, {env.name} has {env.observation_space(params)}.")


def checked_network(network: Any, obs: Any, results: Mapping[str, tuple[int, ...]]) -> Any:
    """Returns a network, which is traced: with weights as one observation gives them, for two observations and for one.

    Args:
      network: with the functions `init(key, obs)`, which returns weights, and `apply(weights, obs)`; or a class of such
        objects, which takes the number of outputs.
      obs: an observation, or its `jax.ShapeDtypeStruct`.
      results: the shapes of what it returns for an observation, float32, by their names; the first one, of length 1, is
        the number of outputs.

    Raises:
      ValueError: it is no network, returns something else, or has no weights that learn. What the network itself
        raises is not caught.
    """
    if not hasattr(network, "init") or not hasattr(network, "apply"):
        raise ValueError(f"the network must have init(key, obs) and apply(weights, obs), got {network!r}.")
    made = network(*next(iter(results.values()))) if isinstance(network, type) else network
    one, two = (jax.ShapeDtypeStruct((number, *obs.shape), obs.dtype) for number in (1, 2))
    weights = jax.eval_shape(made.init, jax.eval_shape(lambda: jax.random.key(0)), one)
    for batch in (two, one):  # acting takes one
        returned = jax.eval_shape(made.apply, weights, batch)
        found = [(x.shape, x.dtype.name) for x in jax.tree.leaves(returned)]
        if found != [((batch.shape[0], *shape), "float32") for shape in results.values()]:
            described = [f"{name} float32 {('n', *shape)}".replace("'", "") for name, shape in results.items()]
            expected = f"the network must map observations to {' and '.join(described)}"
            raise ValueError(f"{expected}, got {found} for n = {batch.shape[0]}.")
    leaves = jax.tree.leaves(weights)
    if not leaves or not all(jnp.issubdtype(leaf.dtype, jnp.floating) for leaf in leaves):
        raise ValueError(f"the network must have weights, which are floats, so that it can learn, got {weights}.")
    return made


def permutations(key: jax.Array, num: int, size: int) -> jax.Array:
    """Returns `num` random orders of the numbers below `size`, int32 (num, size).

    `jax.random.permutation` takes eight times as long on a CPU, a quarter of an update of PPO. Up to 8,192 numbers are
    sorted by the random bits above them, 19 or more. Equal ones stay in order: of two neighbours in an order of 8,192,
    the first is the smaller in 50.1% of all cases. More numbers are sorted by 32 bits.
    """
    low, numbers = (size - 1).bit_length(), jax.lax.broadcasted_iota(jnp.uint32, (num, size), 1)
    words = random.bits(key, (num, size))
    if low > 13:
        order = jax.lax.sort((words, numbers), num_keys=1, is_stable=False)[1]
    else:
        order = jax.lax.sort(words << low | numbers, is_stable=False) & (1 << low) - 1
    return order.astype(jnp.int32)


def main(algorithm: Any, env_id: str, **settings: Any) -> None:
    """The program of a file: `python ppo.py [ID [TOTAL_STEPS]]` trains an agent, and prints about thirty mean returns.

    Args:
      algorithm: the class of learners in the file.
      env_id: the default of ID.
      **settings: that differ from the defaults.
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
    """`jax.vmap(fun)`; but for a single agent `fun` itself, which is traced and compiled in 0.8 of the time.

    Its arguments are pytrees of arrays, with a leading axis for agents.
    """

    def of_agents(*trees: Any) -> Any:
        if len(jax.tree.leaves(trees)[0]) > 1:
            return jax.vmap(fun)(*trees)
        return jax.tree.map(lambda x: jnp.asarray(x)[None], fun(*jax.tree.map(lambda x: x[0], trees)))

    return of_agents
