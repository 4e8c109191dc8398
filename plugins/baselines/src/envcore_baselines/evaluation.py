"""Returns of trained agents."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from envcore.wrappers import Batched

from envcore_baselines.learner import Learner

MAX_STEPS = 100_000
"""Steps after which an episode counts as it stands, in environments without a time limit."""

_EVALUATION = 0x6576616C
"""Folded into keys: training splits those of its seeds, into few enough keys that this is none of their numbers."""


@functools.partial(jax.jit, static_argnums=(0, 4, 5))
def episode_returns(
    learner: Learner, params: Any, agent: Any, key: jax.Array, num_episodes: int, greedy: bool
) -> tuple[jax.Array, jax.Array]:
    """Plays episodes with one agent, side by side.

    Args:
      learner: of the agent.
      params: of the environment.
      agent: what `learner.act` takes.
      key: a random key; training with the same one draws other numbers.
      num_episodes: number of episodes.
      greedy: whether to take the most probable actions.

    Returns:
      The returns, float32 (num_episodes,), and whether each episode ended within `MAX_STEPS`, bool (num_episodes,).
    """
    batch = Batched(learner.env, num_episodes)
    key, key_reset = jax.random.split(jax.random.fold_in(key, _EVALUATION))
    obs, state = batch.reset(key_reset, params)
    memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_episodes, *jnp.shape(x))), learner.start_memory())
    act = jax.vmap(functools.partial(learner.act, greedy=greedy), (None, 0, 0, 0))

    def is_running(carry: Any) -> jax.Array:
        *_, ended, steps = carry
        return ~ended.all() & (steps < MAX_STEPS)

    def body(carry: Any) -> Any:
        key, memory, obs, state, returns, ended, steps = carry
        key, key_act, key_step = jax.random.split(key, 3)
        action, memory = act(agent, memory, obs, jax.random.split(key_act, num_episodes))
        obs, state, reward, done, _ = batch.step(key_step, state, action, params)
        returns = returns + jnp.where(ended, 0, reward)
        return key, memory, obs, state, returns, ended | done, steps + 1

    zeros = jnp.zeros(num_episodes, jnp.float32)
    start = (key, memory, obs, state, zeros, jnp.zeros(num_episodes, jnp.bool_), jnp.int32(0))
    *_, returns, ended, _ = jax.lax.while_loop(is_running, body, start)
    return returns, ended


def evaluator(learner: Learner, params: Any, num_episodes: int) -> Callable[[Any, jax.Array], jax.Array]:
    """What plays so many greedy episodes with an agent and a random key, and returns their returns; see above."""
    return lambda agent, key: episode_returns(learner, params, agent, key, num_episodes, True)[0]
