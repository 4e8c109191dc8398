"""Agents for bsuite's experiments; those of DQN and bootstrapped DQN have the settings of bsuite's own baselines.

envcore bsuite run envcore_baselines.bsuite:dqn --out results/dqn
envcore bsuite score results/dqn
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore import random
from envcore.environment import Environment
from envcore_bsuite.agents import Agent

from envcore_baselines.bootstrapped_dqn import BootstrappedDQN, BootstrappedDQNConfig
from envcore_baselines.counting_dqn import CountingDQN, CountingDQNConfig
from envcore_baselines.dqn import DQN, DQNConfig, Transition
from envcore_baselines.ppo import PPO, PPOConfig, PPOState, Step

PPO_CONFIG = PPOConfig(num_envs=1, learning_rate=1e-3, anneal=False)
RECURRENT_PPO_CONFIG = dataclasses.replace(PPO_CONFIG, memory=64, minibatches=1)


def dqn(env: Environment) -> Agent:
    """Deep Q-learning."""
    return _q_learning(DQN(env, env.default_params, DQNConfig()))


def bootstrapped_dqn(env: Environment) -> Agent:
    """Bootstrapped DQN with randomized priors."""
    return _q_learning(BootstrappedDQN(env, env.default_params, BootstrappedDQNConfig()))


def ppo(env: Environment) -> Agent:
    """Proximal policy optimization."""
    return _policy_gradient(PPO(env, env.default_params, PPO_CONFIG))


def recurrent_ppo(env: Environment) -> Agent:
    """Proximal policy optimization with a memory."""
    return _policy_gradient(PPO(env, env.default_params, RECURRENT_PPO_CONFIG))


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
        return learner.learn(agent_state, number + 1, key_learn)

    return Agent(learner.start, act, update)


class Rollout(NamedTuple):
    """The state of an agent that learns from rollouts.

    Attributes:
      state: `PPOState` without an environment's state.
      step: the step that was chosen last, (1, ...).
      memory: after this step.
      memory_before: the one before the rollout.
      steps: of the rollout so far, (rollout_steps, 1, ...).
    """

    state: PPOState
    step: Step
    memory: Any
    memory_before: Any
    steps: Step


def _policy_gradient(learner: PPO) -> Agent:
    """The agent that a learner trains in the runner's environment; it learns after every `rollout_steps` steps."""
    space = learner.env.observation_space(learner.env.default_params)

    def init(key: jax.Array) -> Rollout:
        key, key_network, key_action = jax.random.split(key, 3)
        state = learner.start(key, key_network, jnp.zeros((1, *space.shape), space.dtype))
        _, step, memory = learner.choose(state, key_action)
        steps = jax.tree.map(lambda x: jnp.zeros((learner.config.rollout_steps, *x.shape), x.dtype), step)
        return Rollout(state, step, memory, state.memory, steps)

    def act(rollout: Rollout, obs: Any, key: jax.Array) -> tuple[jax.Array, Rollout]:
        state = rollout.state._replace(obs=obs[None])
        action, step, memory = learner.choose(state, key)
        return action[0], rollout._replace(state=state, step=step, memory=memory)

    def update(rollout: Rollout, step: Any, key: jax.Array) -> Rollout:
        outcome = (step.reward, step.done, {**step.info, "final_obs": step.next_obs})
        outcome = jax.tree.map(lambda x: x[None], outcome)
        completed = learner.complete(rollout.state.agent, rollout.step, rollout.memory, *outcome)
        row = step.info["step"] % learner.config.rollout_steps
        steps = jax.tree.map(lambda rows, new: rows.at[row].set(new), rollout.steps, completed)
        state = rollout.state._replace(obs=step.next_obs[None], start=step.done[None], memory=rollout.memory)

        def learn(state: PPOState) -> tuple[PPOState, Any]:
            return learner.learn(state, rollout.memory_before, steps), state.memory

        def go_on(state: PPOState) -> tuple[PPOState, Any]:
            return state, rollout.memory_before

        state, memory_before = jax.lax.cond(row == learner.config.rollout_steps - 1, learn, go_on, state)
        return Rollout(state, rollout.step, rollout.memory, memory_before, steps)

    return Agent(init, act, update)
