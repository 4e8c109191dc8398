"""Agents for bsuite's experiments; those of DQN and bootstrapped DQN have the settings of bsuite's own baselines.

envcore bsuite run envcore_baselines.bsuite:dqn --out results/dqn
envcore bsuite score results/dqn
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore import random
from envcore.environment import Environment
from envcore_bsuite.agents import Agent

from envcore_baselines import ppo as feedforward
from envcore_baselines import ppo_rnn as recurrent
from envcore_baselines.bootstrapped_dqn import BootstrappedDQN, BootstrappedDQNConfig
from envcore_baselines.bsuite.counting_dqn import CountingDQN, CountingDQNConfig
from envcore_baselines.dqn import DQN, DQNConfig, Transition

PPO_CONFIG = feedforward.PPOConfig(num_envs=1, learning_rate=1e-3, anneal=False)
RECURRENT_PPO_CONFIG = recurrent.RecurrentPPOConfig(num_envs=1, learning_rate=1e-3, anneal=False, minibatches=1)


def dqn(env: Environment) -> Agent:
    """Deep Q-learning."""
    return _q_learning(DQN(env, env.default_params, DQNConfig()))


def bootstrapped_dqn(env: Environment) -> Agent:
    """Bootstrapped DQN with randomized priors."""
    return _q_learning(BootstrappedDQN(env, env.default_params, BootstrappedDQNConfig()))


def ppo(env: Environment) -> Agent:
    """Proximal policy optimization."""
    learner = feedforward.PPO(env, env.default_params, PPO_CONFIG)

    def empty(obs: Any, action: Any, number: Any, flag: Any) -> feedforward.Steps:
        return feedforward.Steps(obs, action, number, number, number, obs, flag, flag)

    def record(rollout: Rollout, step: Any) -> feedforward.Steps:
        row = (step.obs, step.action, step.reward, step.next_obs, step.done, step.info["terminated"])
        obs, action, *rest = jax.tree.map(lambda x: x[None], row)
        return feedforward.Steps(obs, action, *learner.evaluate_actions(rollout.agent, obs, action), *rest)

    def learn(rollout: Rollout, step: Any, key: jax.Array) -> tuple[Any, Any]:
        return learner.learn(rollout.agent, rollout.optimizer, rollout.steps, step.next_obs[None], key)[:2]

    return _from_rollouts(learner, empty, record, learn)


def recurrent_ppo(env: Environment) -> Agent:
    """Proximal policy optimization with a memory."""
    learner = recurrent.RecurrentPPO(env, env.default_params, RECURRENT_PPO_CONFIG)

    def empty(obs: Any, action: Any, number: Any, flag: Any) -> recurrent.Steps:
        return recurrent.Steps(obs, ~flag, action, number, number, flag, flag)

    def record(rollout: Rollout, step: Any) -> recurrent.Steps:
        next_value = learner.value(rollout.agent, rollout.memory, step.next_obs[None])[0]
        is_first = step.state.time == 0
        row = (step.obs, is_first, step.action, step.reward, next_value, step.done, step.info["terminated"])
        return recurrent.Steps(*jax.tree.map(lambda x: x[None], row))

    def learn(rollout: Rollout, step: Any, key: jax.Array) -> tuple[Any, Any]:
        return learner.learn(rollout.agent, rollout.optimizer, rollout.steps, rollout.memory_before, key)[:2]

    return _from_rollouts(learner, empty, record, learn)


def counting_dqn(env: Environment) -> Agent:
    """Deep Q-learning that explores by counts, and learns in every eighth step."""
    learner = CountingDQN(env, env.default_params, CountingDQNConfig())
    return Agent(learner.init, learner.act, learner.update)


def _q_learning(learner: DQN) -> Agent:
    """The agent that a learner trains in the runner's environment; it learns after every step."""

    def act(agent_state: Any, obs: Any, key: jax.Array) -> tuple[jax.Array, Any]:
        return learner.explore(agent_state, obs[None], key)[0], agent_state

    def update(agent_state: Any, step: Any, key: jax.Array) -> Any:
        key_record, key_learn = random.split(key)
        transition = Transition(step.obs, step.action, step.reward, step.info["discount"], step.next_obs)
        transitions, done = jax.tree.map(lambda x: x[None], (transition, step.done))
        number = step.info["step"]
        agent_state = learner.record(agent_state, transitions, done, number, key_record)
        return learner.learn(agent_state, number + 1, key_learn)[0]

    return Agent(learner.start, act, update)


class Rollout(NamedTuple):
    """The state of an agent that learns from rollouts.

    Attributes:
      agent, optimizer: as those of the learner's state.
      memory: of the agent, after the last step.
      memory_before: the one before the rollout.
      steps: of the rollout so far, the learner's `Steps` (rollout_steps, 1, ...).
    """

    agent: Any
    optimizer: Any
    memory: Any
    memory_before: Any
    steps: Any


def _from_rollouts(
    learner: Any,
    empty: Callable[..., Any],
    record: Callable[[Rollout, Any], Any],
    learn: Callable[[Rollout, Any, jax.Array], tuple[Any, Any]],
) -> Agent:
    """The agent that a learner trains in the runner's environment; it learns after every `rollout_steps` steps.

    Args:
      learner: the algorithm.
      empty: `empty(obs, action, number, flag)` are the learner's steps, where each of those is an array (1, ...).
      record: the learner's step, (1, ...), from the runner's one.
      learn: the next agent and optimizer, from the rollout, the runner's last step and a key.
    """
    space, length = learner.env.observation_space(learner.env.default_params), learner.config.rollout_steps

    def init(key: jax.Array) -> Rollout:
        agent, optimizer = learner.start(key)
        memory = jax.tree.map(lambda x: x[None], learner.start_memory())
        step = empty(
            jnp.zeros((1, *space.shape), space.dtype), jnp.zeros(1, jnp.int32), jnp.zeros(1), jnp.zeros(1, bool)
        )
        steps = jax.tree.map(lambda x: jnp.zeros((length, *x.shape), x.dtype), step)
        return Rollout(agent, optimizer, memory, memory, steps)

    def act(rollout: Rollout, obs: Any, key: jax.Array) -> tuple[jax.Array, Rollout]:
        memory = jax.tree.map(lambda x: x[0], rollout.memory)
        action, memory = learner.act(rollout.agent, memory, obs, key)
        return action, rollout._replace(memory=jax.tree.map(lambda x: x[None], memory))

    def update(rollout: Rollout, step: Any, key: jax.Array) -> Rollout:
        row = step.info["step"] % length
        steps = jax.tree.map(lambda rows, new: rows.at[row].set(new), rollout.steps, record(rollout, step))
        # An episode starts with what the agent remembered at the start of all.
        after = jax.tree.map(lambda x, start: jnp.where(step.done, start, x), rollout.memory, learner.start_memory())
        rollout = rollout._replace(steps=steps, memory=after)

        def learned(rollout: Rollout) -> Rollout:
            agent, optimizer = learn(rollout, step, key)
            return rollout._replace(agent=agent, optimizer=optimizer, memory_before=rollout.memory)

        return jax.lax.cond(row == length - 1, learned, lambda rollout: rollout, rollout)

    return Agent(init, act, update)
