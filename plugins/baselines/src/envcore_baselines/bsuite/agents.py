"""Agents for bsuite: the interface of an agent, and the agents that `envcore bsuite run` takes by name.

DQN and bootstrapped DQN use the settings of bsuite's baselines. The runner steps the environment, so agents that learn
from rollouts receive the steps that it has played.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore import rollout
from envcore.environment import Environment
from envcore.random import split
from envcore.typing import PyTree
from envcore.wrappers import Wrapper

from envcore_baselines.bootstrapped_dqn import BootstrappedDQN, BootstrappedDQNConfig
from envcore_baselines.dqn import DQN, DQNConfig, Transition, add, empty
from envcore_baselines.ppo import PPO, PPOConfig

PPO_CONFIG = PPOConfig(num_envs=1, learning_rate=1e-3, anneal=False)
RECURRENT_PPO_CONFIG = dataclasses.replace(PPO_CONFIG, minibatches=1, memory=64)


class Agent(NamedTuple):
    """An agent for one environment. Its state is any pytree of arrays, and its functions are pure.

    Attributes:
      init: `init(key) -> agent_state`, called before the first episode.
      act: `act(agent_state, obs, key) -> (action, agent_state)`.
      update: `update(agent_state, transition, key) -> agent_state`, called after every step. `transition` is an
        `envcore.rollout.Transition`. Its `next_obs` is the observation after the step, also at the end of an episode,
        and its `info["discount"]` is 0 if the episode terminated. `info["step"]`, int32, is the number of steps that
        the agent took before. If your agent has a memory of the episode, clear it where `transition.done` is True.

    The runner maps these functions over many settings with `vmap`, but `info["step"]` is not batched. If you compute
    the predicate of a `lax.cond` from it, only one branch runs, so an agent that learns after every 128th step pays
    for learning only then. With any other predicate, both branches run.
    """

    init: Callable[[jax.Array], PyTree]
    act: Callable[[PyTree, PyTree, jax.Array], tuple[PyTree, PyTree]]
    update: Callable[[PyTree, rollout.Transition, jax.Array], PyTree]


MakeAgent = Callable[[Environment], Agent]
"""A function that makes an agent for an environment, with networks that fit its spaces."""


def random_agent(env: Environment) -> Agent:
    """Takes random actions."""
    policy = rollout.random_policy(env)
    return Agent(
        init=lambda key: (),
        act=lambda state, obs, key: (policy(None, obs, key), state),
        update=lambda state, transition, key: state,
    )


def dqn(env: Environment) -> Agent:
    """Deep Q-learning."""
    return _q_learning(DQN(env, env.default_params, DQNConfig()))


def bootstrapped_dqn(env: Environment) -> Agent:
    """Bootstrapped DQN with randomized priors."""
    return _q_learning(BootstrappedDQN(env, env.default_params, BootstrappedDQNConfig()))


def ppo(env: Environment) -> Agent:
    """Proximal policy optimization."""
    return _ppo(env, PPO_CONFIG)


def recurrent_ppo(env: Environment) -> Agent:
    """Proximal policy optimization with a memory."""
    return _ppo(env, RECURRENT_PPO_CONFIG)


class PPOState(NamedTuple):
    """The state of an agent that learns from rollouts.

    Attributes:
      learner: the state of `PPO`, with the latest steps instead of a rollout's state.
      before, memory: the memory before and after the last action, for a batch of one environment.
    """

    learner: Any
    before: Any
    memory: Any


def _ppo(env: Environment, config: PPOConfig) -> Agent:
    """Makes a PPO agent for the runner's environment. It learns after every `rollout_steps` steps."""

    def replay(env: Any, policy: Any, steps: Any, length: int, params: Any, agent: Any, collect: Any) -> Any:
        return steps, jax.vmap(collect)(steps)

    def remembered(obs: Any, memory: Any) -> Any:
        return (obs, memory) if config.memory else obs

    learner = PPO(_Stepped(env), env.default_params, config, rollout=replay)

    def init(key: jax.Array) -> PPOState:
        space: Any = env.observation_space(env.default_params)
        obs, number = jnp.zeros((1, *space.shape), space.dtype), jnp.zeros(1, jnp.float32)
        action, flag = number.astype(jnp.int32), number.astype(jnp.bool_)
        info = {"terminated": flag, "returned_episode_returns": number}
        memory = jax.tree.map(lambda x: x[None], learner.start_memory())
        seen = remembered(obs, memory)
        steps = empty(rollout.Transition(None, seen, action, number, seen, flag, info), config.rollout_steps)
        return PPOState(learner.init(key)._replace(rollout=steps), memory, memory)

    def act(state: PPOState, obs: Any, key: jax.Array) -> tuple[jax.Array, PPOState]:
        memory = jax.tree.map(lambda x: x[0], state.memory)
        action, memory = learner.act(state.learner.agent, memory, obs, key)
        return action, PPOState(state.learner, state.memory, jax.tree.map(lambda x: x[None], memory))

    def update(state: PPOState, step: Any, key: jax.Array) -> PPOState:
        number = step.info["step"]
        info = {"terminated": step.info["terminated"], "returned_episode_returns": jnp.zeros_like(step.reward)}
        step = jax.tree.map(lambda x: x[None], step.replace(state=None, info=info))
        step = step.replace(obs=remembered(step.obs, state.before), next_obs=remembered(step.next_obs, state.memory))
        steps = add(state.learner.rollout, jax.tree.map(lambda x: x[None], step), number)
        is_over = (number + 1) % config.rollout_steps == 0
        learned = state.learner._replace(rollout=steps, key=key)
        learned = jax.lax.cond(is_over, lambda state: learner.update(state)[0], lambda state: state, learned)
        memory = jax.tree.map(lambda x: jnp.where(step.done[:, None], 0, x), state.memory)
        return PPOState(learned, memory, memory)

    return Agent(init, act, update)


class _Stepped(Wrapper):
    """An environment that the runner steps. Its episodes may be truncated."""

    def may_truncate(self, params: Any) -> bool:
        return True


def _q_learning(learner: DQN) -> Agent:
    """Makes a Q-learning agent for the runner's environment. It learns after every step."""

    def act(agent_state: Any, obs: Any, key: jax.Array) -> tuple[jax.Array, Any]:
        return learner.explore(agent_state, obs[None], key)[0], agent_state

    def update(agent_state: Any, step: Any, key: jax.Array) -> Any:
        key_record, key_learn = split(key)
        transition = Transition(step.obs, step.action, step.reward, step.info["discount"], step.next_obs)
        transitions, done = jax.tree.map(lambda x: x[None], (transition, step.done))
        number = step.info["step"]
        agent_state = learner.record(agent_state, transitions, done, number, key_record)
        return learner.learn(agent_state, number + 1, key_learn)[0]

    return Agent(learner.start, act, update)
