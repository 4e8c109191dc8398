"""Returns of trained agents."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from envcore import random
from envcore.wrappers import Batched

from envcore_baselines.learner import Constants, Learner, each_agent

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
    agents, keys = jax.tree.map(lambda x: x[None], (agent, key))
    (returns,), (ended,) = _play(learner, params, agents, keys, num_episodes, greedy)
    return returns, ended


@dataclasses.dataclass(frozen=True)
class Evaluator:
    """Plays so many greedy episodes with agents and a random key for each, and returns their returns."""

    learner: Learner
    params: Constants
    num_episodes: int

    def __call__(self, agents: Any, keys: jax.Array) -> jax.Array:
        return _play(self.learner, self.params.tree, agents, keys, self.num_episodes, True)[0]


def _play(
    learner: Learner, params: Any, agents: Any, keys: jax.Array, num_episodes: int, greedy: bool
) -> tuple[jax.Array, jax.Array]:
    """As `episode_returns`, with several agents: what is of an agent has a leading axis for them."""
    batch = Batched(learner.env, num_episodes)
    act = jax.vmap(functools.partial(learner.act, greedy=greedy), (None, 0, 0, 0))

    def start(key: jax.Array) -> Any:
        key, key_reset = random.split(random.fold_in(key, _EVALUATION))
        obs, state = batch.reset(key_reset, params)
        memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (num_episodes, *jnp.shape(x))), learner.start_memory())
        return key, memory, obs, state, jnp.zeros(num_episodes, jnp.float32), jnp.zeros(num_episodes, jnp.bool_)

    def step(agent: Any, carry: Any) -> Any:
        key, memory, obs, state, returns, ended = carry
        key, key_act, key_step = random.split(key, 3)
        action, memory = act(agent, memory, obs, random.split(key_act, num_episodes))
        obs, state, reward, terminated, info = batch.step_env(key_step, state, action, params)
        returns = returns + jnp.where(ended, 0, reward)
        return key, memory, obs, state, returns, ended | terminated | info["truncated"]

    # One loop for all agents: that of each, mapped, would choose between old and new values of all that it carries.
    def is_running(carry: Any) -> jax.Array:
        (*_, ended), steps = carry
        return ~ended.all() & (steps < MAX_STEPS)

    def body(carry: Any) -> Any:
        of_agents, steps = carry
        return each_agent(step)(agents, of_agents), steps + 1

    (*_, returns, ended), _ = jax.lax.while_loop(is_running, body, (each_agent(start)(keys), jnp.int32(0)))
    return returns, ended
