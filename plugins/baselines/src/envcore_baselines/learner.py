"""What training asks of an algorithm."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

import envcore
import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces, trees
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
    `networks.checked_network` checks. It raises ValueError where settings, network or environment do not fit.
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
    """What learners share that play a rollout in each update, and remember nothing of an episode unless they say so."""

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
