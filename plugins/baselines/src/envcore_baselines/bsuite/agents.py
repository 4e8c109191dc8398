"""Agents for bsuite's experiments: what an agent is, and those that `envcore bsuite run` knows by name.

DQN and bootstrapped DQN have the settings of bsuite's own baselines. The runner steps the environment, so agents that
learn from rollouts get the steps that it has played.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore import rollout, spaces
from envcore.environment import Environment
from envcore.random import split
from envcore.typing import PyTree
from envcore.wrappers import Wrapper

from envcore_baselines import ppo as feedforward
from envcore_baselines import ppo_rnn as recurrent
from envcore_baselines.bootstrapped_dqn import BootstrappedDQN, BootstrappedDQNConfig
from envcore_baselines.dqn import DQN, DQNConfig, Transition, add, empty

PPO_CONFIG = feedforward.PPOConfig(num_envs=1, learning_rate=1e-3, anneal=False)
RECURRENT_PPO_CONFIG = recurrent.RecurrentPPOConfig(num_envs=1, learning_rate=1e-3, anneal=False, minibatches=1)


class Agent(NamedTuple):
    """An agent for one environment. Its state is any pytree of arrays, and its functions are pure.

    Attributes:
      init: `init(key) -> agent_state`, before the first episode.
      act: `act(agent_state, obs, key) -> (action, agent_state)`.
      update: `update(agent_state, transition, key) -> agent_state`, after every step. `transition` is an
        `envcore.rollout.Transition`: its `next_obs` is the observation after the step, also at the end of an episode,
        and its `info["discount"]` is 0 if the episode terminated. An agent that remembers the episode must clear its
        memory where `transition.done`. `info["step"]`, int32, is the number of steps that the agent took before.

    The runner maps these functions over many settings by `vmap`, but `info["step"]` is not batched. With a predicate
    computed from it, `lax.cond` executes only one of its branches, so an agent that learns after every 128th step pays
    for it only then. With another predicate, both branches are computed.
    """

    init: Callable[[jax.Array], PyTree]
    act: Callable[[PyTree, PyTree, jax.Array], tuple[PyTree, PyTree]]
    update: Callable[[PyTree, rollout.Transition, jax.Array], PyTree]


MakeAgent = Callable[[Environment], Agent]
"""Makes an agent for an environment, whose spaces give the shapes of its networks."""


def random_agent(env: Environment) -> Agent:
    """Random actions."""
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
    """Proximal policy optimization. Its state is the learner's, with the latest steps in place of a rollout's state."""

    def replay(env: Any, policy: Any, steps: Any, length: int, params: Any, agent: Any, collect: Any) -> Any:
        return steps, jax.vmap(collect)(steps)

    learner = feedforward.PPO(_Stepped(env), env.default_params, PPO_CONFIG, rollout=replay)
    length = PPO_CONFIG.rollout_steps

    def init(key: jax.Array) -> feedforward.State:
        obs, action, number, flag = _types(env)
        info = {"terminated": flag, "returned_episode_returns": number}
        steps = empty(rollout.Transition(None, obs, action, number, obs, flag, info), length)
        return learner.init(key)._replace(rollout=steps)

    def act(state: feedforward.State, obs: Any, key: jax.Array) -> tuple[jax.Array, feedforward.State]:
        return learner.act(state.agent, (), obs, key)[0], state

    def update(state: feedforward.State, step: Any, key: jax.Array) -> feedforward.State:
        info = {"terminated": step.info["terminated"], "returned_episode_returns": jnp.zeros_like(step.reward)}
        steps = _with(state.rollout, step.replace(state=None, info=info), step.info["step"])
        return _at_the_end(length, step, lambda state: learner.update(state)[0], state._replace(rollout=steps, key=key))

    return Agent(init, act, update)


class Played(NamedTuple):
    """Steps that the runner has played, and the memory before the first of them."""

    steps: recurrent.Steps
    memory: jax.Array


class Remembering(NamedTuple):
    """The state of a learner with a memory, whose `now` is `Played`, and the memory now, float32 (1, memory)."""

    learned: recurrent.State
    memory: jax.Array


def recurrent_ppo(env: Environment) -> Agent:
    """Proximal policy optimization with a memory."""

    def replay(collect: Any, played: Played, keys: jax.Array) -> tuple[Played, recurrent.Steps]:
        return played, played.steps

    learner = recurrent.RecurrentPPO(env, env.default_params, RECURRENT_PPO_CONFIG, rollout=replay)
    length = RECURRENT_PPO_CONFIG.rollout_steps

    def init(key: jax.Array) -> Remembering:
        obs, action, number, flag = _types(env)
        steps = empty(recurrent.Steps(obs, flag, action, number, number, flag, flag, number), length)
        state = learner.init(key)
        return Remembering(state._replace(now=Played(steps, state.now.memory)), state.now.memory)

    def act(state: Remembering, obs: Any, key: jax.Array) -> tuple[jax.Array, Remembering]:
        action, memory = learner.act(state.learned.agent, state.memory[0], obs, key)
        return action, state._replace(memory=memory[None])

    def update(state: Remembering, step: Any, key: jax.Array) -> Remembering:
        learned, memory = state
        played: Any = learned.now
        next_value = learner.value(learned.agent, memory, step.next_obs[None])[0]
        ends = step.done, step.info["terminated"], jnp.zeros_like(step.reward)
        row = recurrent.Steps(step.obs, step.state.time == 0, step.action, step.reward, next_value, *ends)
        played = played._replace(steps=_with(played.steps, row, step.info["step"]))
        # An episode starts with what the agent remembered at the start of all.
        memory = jnp.where(step.done, learner.start_memory(), memory)

        def learn(state: recurrent.State) -> recurrent.State:
            state, _ = learner.update(state)
            return state._replace(now=state.now._replace(memory=memory))

        return Remembering(_at_the_end(length, step, learn, learned._replace(now=played, key=key)), memory)

    return Agent(init, act, update)


class _Stepped(Wrapper):
    """An environment that something else steps: how its episodes end is not known."""

    def may_truncate(self, params: Any) -> bool:
        return True


def _types(env: Environment) -> tuple[Any, ...]:
    """Of an observation, an action, a number and a flag of a batch of one environment."""
    space: Any = env.observation_space(env.default_params)
    assert isinstance(space, spaces.Box)
    numbers = (jax.ShapeDtypeStruct((1,), dtype) for dtype in (jnp.int32, jnp.float32, jnp.bool_))
    return jax.ShapeDtypeStruct((1, *space.shape), space.dtype), *numbers


def _with(steps: Any, step: Any, number: jax.Array) -> Any:
    """The latest steps of a batch of one environment, the `number`-th of which is this one."""
    return add(steps, jax.tree.map(lambda x: x[None, None], step), number)


def _at_the_end(length: int, step: Any, learn: Callable[[Any], Any], state: Any) -> Any:
    """What is learned from a state after the last step of a rollout, else the state."""
    return jax.lax.cond((step.info["step"] + 1) % length == 0, learn, lambda state: state, state)


def _q_learning(learner: DQN) -> Agent:
    """The agent that a learner trains in the runner's environment; it learns after every step."""

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
