"""Agents for bsuite's experiments, with the settings of bsuite's own baselines.

envcore bsuite run envcore_baselines.bsuite:dqn --out results/dqn
envcore bsuite score results/dqn
"""

from __future__ import annotations

from typing import Any

import jax
from envcore import random
from envcore.environment import Environment
from envcore_bsuite.agents import Agent

from envcore_baselines.bootstrapped_dqn import BootstrappedDQN, BootstrappedDQNConfig
from envcore_baselines.dqn import DQN, DQNConfig, Transition


def dqn(env: Environment[Any, Any]) -> Agent:
    """Deep Q-learning."""
    return _q_learning(DQN(env, env.default_params, DQNConfig()))


def bootstrapped_dqn(env: Environment[Any, Any]) -> Agent:
    """Bootstrapped DQN with randomized priors."""
    return _q_learning(BootstrappedDQN(env, env.default_params, BootstrappedDQNConfig()))


def _q_learning(learner: DQN) -> Agent:
    """The agent that a learner trains in the runner's environment; it learns after every step."""

    def act(knowledge: Any, obs: Any, key: jax.Array) -> tuple[jax.Array, Any]:
        return learner.explore(knowledge, obs[None], key)[0], knowledge

    def update(knowledge: Any, step: Any, key: jax.Array) -> Any:
        key_record, key_learn = random.split(key)
        transition = Transition(step.obs, step.action, step.reward, step.info["discount"], step.next_obs)
        transitions, done = jax.tree.map(lambda x: x[None], (transition, step.done))
        number = step.info["step"]
        knowledge = learner.record(knowledge, transitions, done, number, key_record)
        return learner.learn(knowledge, number + 1, key_learn)

    return Agent(learner.start, act, update)
