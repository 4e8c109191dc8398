"""Deep Q-learning, DQN (Mnih et al. 2015, "Human-level control through deep reinforcement learning"), in one file.

To train an agent, run `python dqn.py Catch-bsuite`. Read the file from top to bottom: settings, network, replay buffer,
learner. The learner acts epsilon-greedily, stores every step in the buffer, and takes gradient steps on the squared
errors of one-step targets. An update is a pure function, so a training is a `scan` of updates and many seeds are a
`vmap`.

The default settings match bsuite's baseline (Osband et al. 2020, "Behaviour suite for reinforcement learning"): one
environment, and a gradient step after every step. The discount is 0 only where an episode terminated. If a time limit
ended it, the target includes the value of `final_obs`.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore import random, spaces, trees
from envcore.environment import Environment
from envcore.wrappers import Batched, LogWrapper
from flax import linen as nn

from envcore_baselines.learner import (
    RolloutLearner,
    as_floats,
    checked_network,
    chosen,
    epsilon_greedy,
    flattened,
    main,
    masked,
    split_mask,
)
from envcore_baselines.settings import Fraction, Positive

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class DQNConfig:
    """Settings of `DQN`.

    Attributes:
      total_steps: minimum number of environment steps per agent.
      num_envs: parallel environments per agent, a divisor of replay_capacity.
      rollout_steps: steps of each environment per update.
      gradient_steps: gradient steps per update.
      replay_capacity: size of the replay buffer in transitions.
      min_replay_size: transitions to store before the first gradient step.
      batch_size: transitions per gradient step.
      target_period: gradient steps between updates of the target network.
      learning_rate: learning rate of Adam.
      discount: discount factor of rewards.
      epsilon: fraction of random actions.
      hidden: units of the hidden layers.
    """

    total_steps: Positive = 100_000
    num_envs: Positive = 1
    rollout_steps: Positive = 1
    gradient_steps: Positive = 1
    replay_capacity: Positive = 10_000
    min_replay_size: Positive = 100
    batch_size: Positive = 32
    target_period: Positive = 4
    learning_rate: Fraction = 1e-3
    discount: Fraction = 0.99
    epsilon: Fraction = 0.05
    hidden: tuple[Positive, ...] = (64, 64)


# As in bsuite's baselines: a normal distribution with variance 1 / inputs, truncated at two standard deviations, which
# leaves 0.774 of the variance.
_INITIALIZER = nn.initializers.variance_scaling(0.774, "fan_in", "truncated_normal")


class Network(nn.Module):
    """A multilayer perceptron, for example for action values.

    Attributes:
      sizes: units of the hidden layers, then the number of outputs.
      initializer: initializer of the weights.
    """

    sizes: tuple[int, ...]
    initializer: Any = _INITIALIZER

    @nn.compact
    def __call__(self, obs: jax.Array) -> jax.Array:
        """Maps observations, (N, *shape), to outputs, float32 (N, outputs)."""
        x = as_floats(obs.reshape(obs.shape[0], -1))
        for units in self.sizes[:-1]:
            x = nn.relu(nn.Dense(units, kernel_init=self.initializer)(x))
        return nn.Dense(self.sizes[-1], kernel_init=self.initializer)(x)


class Transition(NamedTuple):
    """A step of an environment. In the replay buffer and in batches, leaves have a leading axis.

    Attributes:
      obs: the observation before the step.
      action: int32 ().
      reward: float32 ().
      discount: float32 (), 0 if the episode terminated.
      next_obs: the observation after the step, also at the end of an episode.
    """

    obs: Any
    action: Any
    reward: Any
    discount: Any
    next_obs: Any


def empty(struct: T, capacity: int) -> T:
    """Makes an empty replay buffer, zeros (capacity, *shape), for transitions with these shapes and dtypes."""
    return jax.tree.map(lambda x: jnp.zeros((capacity, *x.shape), x.dtype), struct)


def add(replay: T, transitions: T, count: jax.Array) -> T:
    """Adds a batch of transitions to the replay buffer, in place of the oldest ones.

    Args:
      replay: the buffer.
      transitions: the new transitions, (N, *shape). N must divide the capacity.
      count: number of transitions added before, a multiple of N.
    """

    def write(rows: jax.Array, new: jax.Array) -> jax.Array:
        start = count % rows.shape[0]
        return jax.lax.dynamic_update_slice_in_dim(rows, new.astype(rows.dtype), start, axis=0)

    return jax.tree.map(write, replay, transitions)


def sample(replay: T, count: jax.Array, size: int, key: jax.Array) -> T:
    """Samples `size` stored transitions uniformly with replacement, after `count` (at least 1) were added."""
    capacity = jax.tree.leaves(replay)[0].shape[0]
    stored = jnp.minimum(count, capacity)
    rows = (random.uniform(key, (size,)) * stored).astype(jnp.int32)
    return jax.tree.map(lambda x: x[jnp.minimum(rows, stored - 1)], replay)


class AgentState(NamedTuple):
    """The trained parameters, the optimizer's state and the replay buffer.

    Attributes:
      network: the parameters of `Network`.
      target: the parameters of the target network.
      optimizer: Adam's state.
      gradient_steps: number of gradient steps so far, int32 ().
      replay: the stored transitions, `Transition` (replay_capacity, ...).
    """

    network: Any
    target: Any
    optimizer: Any
    gradient_steps: jax.Array
    replay: Any

    @property
    def agent(self) -> Any:
        """The first argument of `act`."""
        return self.network


class DQNState(NamedTuple):
    """The training state, which one update maps to the next.

    Attributes:
      agent_state: `AgentState`.
      steps: steps that each environment has taken, int32 ().
      env_state, obs: states and observations of the environments, (num_envs, ...).
      key: a random key.
    """

    agent_state: Any
    steps: jax.Array
    env_state: Any
    obs: Any
    key: jax.Array

    @property
    def agent(self) -> Any:
        """The first argument of `act`."""
        return self.agent_state.agent


class DQN(RolloutLearner):
    """DQN for one environment.

    For training, call `init`, `update` and `act`, which step the environments. If something else steps the environment,
    such as bsuite's runner, call `start` once, `explore` before and `record` after every step, and `learn` after every
    `rollout_steps` steps.

    Args:
      env: an environment that observes a `Box`, a `Discrete` or a collection of them, with a `Discrete` action space.
      params: params of the environment.
      config: the settings.
      network: your network, by default `Network`. `init(key, obs)` returns weights, and `apply(weights, obs)` maps n
        observations to action values, float32 (n, num_actions). A class is called with num_actions.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes. It is the one that you passed if it observes a `Box` or is
        an `ActionMaskObservation`, with which the agent takes only legal actions. Otherwise it is flattened.

    Raises:
      ValueError: the settings or the network do not fit each other or the environment.
    """

    Config = DQNConfig

    def __init__(self, env: Environment, params: Any, config: DQNConfig | None = None, network: Any = None):
        self.config = config = self.Config() if config is None else config
        space = env.action_space(params)
        if not isinstance(space, spaces.Discrete):
            raise ValueError(f"dqn needs a Discrete action space, but {env.name} has {space}.")
        if config.replay_capacity % config.num_envs:
            raise ValueError(f"num_envs must divide replay_capacity = {config.replay_capacity}, got {config.num_envs}.")
        if config.min_replay_size > config.replay_capacity:
            raise ValueError(
                f"min_replay_size must be at most replay_capacity = {config.replay_capacity}, "
                f"got {config.min_replay_size}."
            )
        self._params = params
        self.env = flattened(env, params)
        self._batch = LogWrapper(Batched(self.env, config.num_envs))
        self._optimizer = optax.adam(config.learning_rate)
        obs = jax.eval_shape(lambda key: self.env.reset(key, params)[0], jax.random.key(0))
        int_, float_ = (jax.ShapeDtypeStruct((), dtype) for dtype in (jnp.int32, jnp.float32))
        self._transition = Transition(obs, int_, float_, float_, obs)
        self._network: Any = Network((*config.hidden, space.n))
        if network is not None:
            self._network = checked_network(network, split_mask(obs)[0], {"values": (space.n,)})

    def init(self, key: jax.Array) -> DQNState:
        """The state before the first update."""
        key, key_env, key_agent = random.split(key, 3)
        obs, env_state = self._batch.reset(key_env, self._params)
        return DQNState(self.start(key_agent), jnp.int32(0), env_state, obs, key)

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        """The epsilon-greedy action for one observation of `env`, or the greedy one, and the unchanged memory."""
        values = self._values(agent, jax.tree.map(lambda x: x[None], obs))
        action = values.argmax(-1).astype(jnp.int32) if greedy else epsilon_greedy(values, self.config.epsilon, key)
        return action[0], memory

    def update(self, state: DQNState) -> tuple[DQNState, dict[str, jax.Array]]:
        """Takes `rollout_steps` steps, then `gradient_steps`.

        Returns:
          The next state, and metrics, float32 () except `episodes`, int32 (). `returns` is the sum over the episodes
          that ended, and `episodes` their number. The others are the metrics of `learn`.
        """
        state, totals = jax.lax.scan(self._step, state, length=self.config.rollout_steps)
        key, key_learn = random.split(state.key)
        agent_state, metrics = self.learn(state.agent_state, state.steps, key_learn)
        return state._replace(agent_state=agent_state, key=key), {**jax.tree.map(lambda x: x.sum(0), totals), **metrics}

    def start(self, key: jax.Array) -> Any:
        """The agent's state before its first step."""
        network = self._init_network(key)
        stored = empty(self._transition, self.config.replay_capacity)
        return AgentState(network, network, self._optimizer.init(network), jnp.int32(0), stored)

    def explore(self, agent_state: Any, obs: Any, key: jax.Array) -> jax.Array:
        """Epsilon-greedy actions for the observations of `num_envs` environments, int32 (num_envs,)."""
        return epsilon_greedy(self._values(agent_state.network, obs), self.config.epsilon, key)

    def record(
        self, agent_state: Any, transitions: Transition, done: jax.Array, steps: jax.Array, key: jax.Array
    ) -> Any:
        """Stores a step of each environment.

        Args:
          agent_state: the agent's state.
          transitions: the steps, (num_envs, ...).
          done: whether the steps ended an episode, bool (num_envs,). For subclasses.
          steps: steps that each environment took before, int32 ().
          key: a random key. For subclasses.
        """
        stored = add(agent_state.replay, transitions, steps * self.config.num_envs)
        return agent_state._replace(replay=stored)

    def learn(self, agent_state: Any, steps: jax.Array, key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
        """Takes `gradient_steps` gradient steps, once the replay buffer holds `min_replay_size` transitions.

        `steps` is the number of steps that each environment has taken, int32 ().

        Returns:
          The agent's next state, and the mean `loss` and `gradient_norm`, NaN without gradient steps.
        """
        count = steps * self.config.num_envs
        is_enough = count >= self.config.min_replay_size

        def wait(agent_state: Any, *_: Any) -> tuple[Any, dict[str, jax.Array]]:
            return agent_state, {"loss": jnp.float32(np.nan), "gradient_norm": jnp.float32(np.nan)}

        return jax.lax.cond(is_enough, self._learn, wait, agent_state, count, key)

    def _step(self, state: DQNState, _: Any) -> tuple[DQNState, dict[str, jax.Array]]:
        key, key_action, key_step, key_record = random.split(state.key, 4)
        action = self.explore(state.agent_state, state.obs, key_action)
        obs, env_state, reward, done, info = self._batch.step(key_step, state.env_state, action, self._params)
        transitions = Transition(state.obs, action, reward, info["discount"], info["final_obs"])
        agent_state = self.record(state.agent_state, transitions, done, state.steps, key_record)
        returns = jnp.where(info["returned_episode"], info["returned_episode_returns"], 0)
        totals = {"returns": returns.sum(), "episodes": info["returned_episode"].sum(dtype=jnp.int32)}
        return DQNState(agent_state, state.steps + jnp.int32(1), env_state, obs, key), totals

    def _learn(self, agent_state: Any, count: jax.Array, key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
        def step(agent_state: Any, key: jax.Array) -> tuple[Any, dict[str, jax.Array]]:
            batch = sample(agent_state.replay, count, self.config.batch_size, key)
            loss, gradients = jax.value_and_grad(self._loss)(agent_state.network, agent_state, batch)
            metrics = {"loss": loss, "gradient_norm": optax.tree.norm(gradients)}
            updates, optimizer = self._optimizer.update(gradients, agent_state.optimizer)
            network = optax.apply_updates(agent_state.network, updates)
            number = agent_state.gradient_steps + jnp.int32(1)
            target = trees.where(number % self.config.target_period == 0, network, agent_state.target)
            learned = {"network": network, "target": target, "optimizer": optimizer, "gradient_steps": number}
            return agent_state._replace(**learned), metrics

        agent_state, metrics = jax.lax.scan(step, agent_state, random.split(key, self.config.gradient_steps))
        return agent_state, jax.tree.map(jnp.mean, metrics)

    def _loss(self, network: Any, agent_state: Any, batch: Any) -> jax.Array:
        """The mean squared temporal difference error of a batch."""
        values, next_values = self._values(network, batch.obs), self._values(agent_state.target, batch.next_obs)
        return (self._errors(values, next_values, batch) ** 2).mean()

    def _errors(self, values: jax.Array, next_values: jax.Array, batch: Transition) -> jax.Array:
        """The temporal difference errors of a batch, float32 (N,), from values (N, actions)."""
        return chosen(values, batch.action) - (
            batch.reward + self.config.discount * batch.discount * next_values.max(-1)
        )

    def _values(self, agent: Any, obs: Any) -> jax.Array:
        """The action values for N observations, float32 (N, actions), `ILLEGAL` for illegal actions."""
        obs, mask = split_mask(obs)
        return masked(self._network.apply(agent, obs), mask)

    def _init_network(self, key: jax.Array) -> Any:
        obs, _ = split_mask(self._transition.obs)
        return self._network.init(key, jnp.zeros((1, *obs.shape), obs.dtype))


if __name__ == "__main__":
    main(DQN, "Catch-bsuite", rollout_steps=100, gradient_steps=100)
