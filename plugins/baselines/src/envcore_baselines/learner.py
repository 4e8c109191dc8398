"""What training asks of an algorithm."""

from __future__ import annotations

from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.engine import arguments
from envcore.environment import Environment
from envcore.wrappers import ActionMaskObservation, FlattenObservation

ILLEGAL = np.float32(-1e9)
"""The logit or value of an action that must not be chosen."""


Totals = dict[str, jax.Array]
"""Of the episodes that ended: the sum of their `returns`, float32, and the number of `episodes`, int32."""


def totals_of(info: dict[str, Any]) -> Totals:
    """The totals of one step of a batch, from the `info` of `LogWrapper`."""
    ended = info["returned_episode"]
    returns = jnp.where(ended, info["returned_episode_returns"], 0).sum(dtype=jnp.float32)
    return {"returns": returns, "episodes": ended.sum(dtype=jnp.int32)}


class Learner(Protocol):
    """An algorithm for one environment. Its methods are pure functions, to be jitted, scanned and mapped over seeds."""

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

    def init(self, key: jax.Array) -> Any:
        """The state before the first update; its attribute `agent` is what `act` takes."""
        ...

    def update(self, state: Any) -> tuple[Any, Totals]:
        """The next state, and the totals of the episodes that ended on the way."""
        ...

    def start_memory(self) -> Any:
        """What an agent remembers at the start of an episode, a pytree of arrays; () for one that remembers nothing."""
        ...

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[Any, Any]:
        """The action for one observation, without chance if `greedy`; and what the agent remembers after it."""
        ...


def observed(env: Environment, params: Any) -> Environment:
    """The environment as a learner observes it: flattened, unless it observes a `Box`, and with its action masks."""
    if isinstance(env, ActionMaskObservation):
        env = env.env  # which is flattened
    is_box = isinstance(env.observation_space(params), spaces.Box)
    return with_masks(env if is_box else FlattenObservation(env), params)


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


def split(obs: Any) -> tuple[Any, Any]:
    """An observation of an `observed` environment as an array and its action mask, None where it has none."""
    return (obs["observation"], obs["action_mask"]) if isinstance(obs, dict) else (obs, None)


def obs_struct(env: Environment, params: Any) -> Any:
    """Shape and dtype of the array that an `observed` environment observes, as `jax.ShapeDtypeStruct`."""
    return split(jax.eval_shape(env.observe, arguments.state_struct(env), params))[0]


def masked(outputs: jax.Array, mask: Any) -> jax.Array:
    """Logits or values of actions, (..., n), `ILLEGAL` where the mask is False; as they are where it allows none."""
    if mask is None:
        return outputs
    return jnp.where(mask | ~mask.any(-1, keepdims=True), outputs, ILLEGAL)


def as_floats(obs: jax.Array) -> jax.Array:
    """Observations as a network reads them, float32.

    XLA's CPU backend often converts pictures of bools in 1 to 3 ns a number, but chooses between two floats in 0.2.
    """
    return jnp.where(obs, np.float32(1), np.float32(0)) if obs.dtype == jnp.bool_ else obs.astype(jnp.float32)
