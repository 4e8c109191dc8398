"""Proximal policy optimization (Schulman et al. 2017, "Proximal policy optimization algorithms").

To be read from top to bottom: settings, network, distribution of actions, and the learner, whose `update` collects a
rollout, estimates advantages and takes epochs of minibatches. An update is a pure function, so a run is a `scan` of it
and many seeds are a `vmap`.

What is usual but not in the paper: a nearly uniform initial policy, advantages normalized in each minibatch, gradients
clipped by their global norm, a learning rate that falls to zero, running normalization of observations and rewards. An
episode that a time limit ends is not taken for a terminated one: its last reward includes the discounted value of
`final_obs` (Pardo et al. 2018, "Time limits in reinforcement learning").
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore import spaces
from envcore.environment import Environment
from envcore.time_limit import NO_TIME_LIMIT
from envcore.wrappers import Batched, FlattenObservation, LogWrapper, NormalizeReward, RunningStatistics
from flax import linen as nn

from envcore_baselines.errors import ConfigError
from envcore_baselines.learner import EpisodeTotals
from envcore_baselines.settings import at_least, between, one_of


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Settings of `PPO`.

    Attributes:
      total_steps: environment steps of one agent, rounded up to whole updates.
      num_envs: environments that one agent steps at the same time.
      rollout_steps: steps of each environment in an update.
      epochs: passes over the steps of an update.
      minibatches: gradient steps in an epoch; they divide num_envs * rollout_steps.
      learning_rate: of Adam, at the start.
      anneal: whether the learning rate falls linearly to zero.
      discount: of rewards.
      gae_lambda: the mixing factor of generalized advantage estimation (Schulman et al. 2016).
      clip: the range of probability ratios is 1 - clip to 1 + clip.
      entropy_coefficient: weight of the policy's entropy in the loss.
      value_coefficient: weight of the value's squared error in the loss.
      max_grad_norm: gradients with a larger global norm are scaled down to it.
      normalize_observations: whether observations are shifted and scaled to mean 0 and variance 1.
      normalize_rewards: whether rewards are scaled to discounted returns of variance 1.
      torso: "mlp" or, for observations of shape (height, width, channels), "conv".
      hidden: units of the hidden layers; after a convolution, those of the layers behind it.
    """

    total_steps: int = at_least(1, 500_000)
    num_envs: int = at_least(1, 16)
    rollout_steps: int = at_least(1, 128)
    epochs: int = at_least(1, 4)
    minibatches: int = at_least(1, 4)
    learning_rate: float = between(0, 1, 2.5e-4)
    anneal: bool = True
    discount: float = between(0, 1, 0.99)
    gae_lambda: float = between(0, 1, 0.95)
    clip: float = between(0, 10, 0.2)
    entropy_coefficient: float = between(0, 10, 0.01)
    value_coefficient: float = between(0, 10, 0.5)
    max_grad_norm: float = between(0, 1e6, 0.5)
    normalize_observations: bool = False
    normalize_rewards: bool = False
    torso: str = one_of("mlp", "conv")
    hidden: tuple[int, ...] = (64, 64)


# Orthogonal weights, which are more usual, need a QR decomposition, which takes 10 s to compile and deadlocks under
# vmap on CPU.
_SMALL = nn.initializers.variance_scaling(1e-4, "fan_in", "truncated_normal")


class Network(nn.Module):
    """Policy and value, as functions of observations.

    Attributes:
      torso, hidden: as in `PPOConfig`. A convolution is shared by policy and value.
      num_outputs: numbers that the distribution of actions is computed from.
      num_constants: how many of them, the last ones, are the same for all observations.
    """

    torso: str
    hidden: tuple[int, ...]
    num_outputs: int
    num_constants: int

    @nn.compact
    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Maps observations, float32 (N, *shape), to outputs, (N, num_outputs), and values, (N,)."""
        if self.torso == "conv":
            shared = nn.relu(nn.Conv(16, (3, 3), padding="VALID")(obs))
            shared = shared.reshape(shared.shape[0], -1)
            for units in self.hidden:
                shared = nn.relu(nn.Dense(units)(shared))
            actor = critic = shared
        else:
            actor = critic = obs.reshape(obs.shape[0], -1)
            for units in self.hidden:
                actor = nn.tanh(nn.Dense(units)(actor))
                critic = nn.tanh(nn.Dense(units)(critic))
        outputs = nn.Dense(self.num_outputs - self.num_constants, kernel_init=_SMALL)(actor)
        if self.num_constants:
            constants = self.param("constants", nn.initializers.zeros, (1, self.num_constants))
            constants = jnp.broadcast_to(constants, (obs.shape[0], self.num_constants))
            outputs = jnp.concatenate([outputs, constants], axis=-1)
        return outputs, nn.Dense(1)(critic)[:, 0]


class Categorical(NamedTuple):
    """Distribution of discrete actions, for logits of shape (N, actions)."""

    num_actions: int
    num_constants = 0

    @property
    def num_outputs(self) -> int:
        return self.num_actions

    def sample(self, logits: jax.Array, key: jax.Array) -> jax.Array:
        return jax.random.categorical(key, logits)

    def mode(self, logits: jax.Array) -> jax.Array:
        return logits.argmax(-1)

    def log_prob(self, logits: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.take_along_axis(nn.log_softmax(logits), action[:, None], axis=-1)[:, 0]

    def entropy(self, logits: jax.Array) -> jax.Array:
        return -(nn.softmax(logits) * nn.log_softmax(logits)).sum(-1)

    def to_env(self, action: jax.Array) -> jax.Array:
        return action.astype(jnp.int32)


class Gaussian(NamedTuple):
    """Independent normal distributions of continuous actions: outputs are means and logarithms of deviations.

    The deviations are learnt, but do not depend on the observation.
    Actions are clipped to [-1, 1] and mapped to the bounds of the environment, or used as they are without bounds.
    """

    low: np.ndarray
    high: np.ndarray

    @property
    def num_outputs(self) -> int:
        return 2 * self.low.size

    @property
    def num_constants(self) -> int:
        return self.low.size

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape)

    def mode(self, outputs: jax.Array) -> jax.Array:
        return jnp.split(outputs, 2, axis=-1)[0]

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return jax.scipy.stats.norm.logpdf(action, mean, jnp.exp(log_std)).sum(-1)

    def entropy(self, outputs: jax.Array) -> jax.Array:
        _, log_std = jnp.split(outputs, 2, axis=-1)
        return (log_std + 0.5 * np.log(2 * np.pi * np.e).astype(np.float32)).sum(-1)

    def to_env(self, action: jax.Array) -> jax.Array:
        action = action.reshape(-1, *self.low.shape)
        if not (np.isfinite(self.low) & np.isfinite(self.high)).all():
            return jnp.clip(action, self.low, self.high)
        share = (jnp.clip(action, -1, 1) + 1) / 2
        return jnp.asarray(self.low * (1 - share) + self.high * share)


class Agent(NamedTuple):
    """What acting takes.

    Attributes:
      network: the parameters of `Network`.
      statistics: `RunningStatistics` of the observations; those of no observation if they are not normalized.
    """

    network: Any
    statistics: RunningStatistics


class PPOState(NamedTuple):
    """Everything that the next update depends on."""

    agent: Agent
    optimizer: Any
    env_state: Any
    obs: jax.Array
    key: jax.Array


class Step(NamedTuple):
    """A step of every environment; in a rollout, with a leading axis for time."""

    obs: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


class PPO:
    """Learns in one environment.

    Args:
      env: the environment, one that observes a `Box`, `Discrete` or a collection of them, and takes actions of a
        `Discrete` or a float `Box`.
      params: its params.
      config: the settings.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes: flattened, unless it observes a `Box`.

    Raises:
      ConfigError: the settings do not fit each other or the environment.
    """

    Config = PPOConfig

    def __init__(self, env: Environment[Any, Any], params: Any, config: PPOConfig):
        space = env.observation_space(params)
        if config.torso == "conv" and not (isinstance(space, spaces.Box) and len(space.shape) == 3):
            raise ConfigError(f"torso = 'conv' needs observations (height, width, channels), {env.name} has {space}.")
        if (config.num_envs * config.rollout_steps) % config.minibatches:
            raise ConfigError(
                f"minibatches must divide num_envs * rollout_steps = {config.num_envs * config.rollout_steps}, "
                f"got {config.minibatches}."
            )
        self.config, self._params = config, params
        self.env = env if isinstance(space, spaces.Box) else FlattenObservation(env)
        self._distribution = _distribution(env, params)
        distribution = self._distribution
        self._network = Network(config.torso, config.hidden, distribution.num_outputs, distribution.num_constants)
        self._batch: Environment[Any, Any] = LogWrapper(Batched(self.env, config.num_envs))
        if config.normalize_rewards:
            self._batch = NormalizeReward(self._batch, gamma=config.discount)
        self._has_time_limit = bool(np.any(np.asarray(params.max_steps_in_episode) != NO_TIME_LIMIT))
        self._optimizer = optax.chain(
            optax.clip_by_global_norm(config.max_grad_norm), optax.adam(self._learning_rate(), eps=1e-5)
        )

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one update."""
        return self.config.num_envs * self.config.rollout_steps

    @property
    def num_updates(self) -> int:
        """Updates of a run."""
        return -(-self.config.total_steps // self.steps_per_update)

    def init(self, key: jax.Array) -> PPOState:
        """The state before the first update."""
        key, key_env, key_network = jax.random.split(key, 3)
        obs, env_state = self._batch.reset(key_env, self._params)
        statistics = jax.tree.map(jnp.asarray, RunningStatistics.empty(obs.shape[1:]))
        network = self._network.init(key_network, obs.astype(jnp.float32))
        return PPOState(Agent(network, statistics), self._optimizer.init(network), env_state, obs, key)

    def act(self, agent: Agent, obs: Any, key: jax.Array, greedy: bool = False) -> jax.Array:
        """The action for one observation of `env`; the most probable one if `greedy`."""
        outputs, _ = self._apply(agent, obs[None])
        raw = self._distribution.mode(outputs) if greedy else self._distribution.sample(outputs, key)
        return self._distribution.to_env(raw)[0]

    def update(self, state: PPOState) -> tuple[PPOState, EpisodeTotals]:
        """Collects a rollout and learns from it; returns the totals of the episodes that ended in it."""
        state, (steps, totals) = jax.lax.scan(self._step, state, length=self.config.rollout_steps)
        _, last_value = self._apply(state.agent, state.obs)
        advantages = self._advantages(steps, last_value)
        state = self._learn(state, (steps, advantages, advantages + steps.value))
        if self.config.normalize_observations:
            included = jnp.ones(steps.done.shape, jnp.bool_)
            statistics = state.agent.statistics.update(steps.obs, included)
            state = state._replace(agent=state.agent._replace(statistics=statistics))
        return state, jax.tree.map(lambda x: x.sum(0), totals)

    def _step(self, state: PPOState, _: Any) -> tuple[PPOState, tuple[Step, EpisodeTotals]]:
        key, key_action, key_step = jax.random.split(state.key, 3)
        outputs, value = self._apply(state.agent, state.obs)
        action = self._distribution.sample(outputs, key_action)
        log_prob = self._distribution.log_prob(outputs, action)
        to_env = self._distribution.to_env(action)
        obs, env_state, reward, done, info = self._batch.step(key_step, state.env_state, to_env, self._params)
        if self._has_time_limit:
            _, final_value = self._apply(state.agent, info["final_obs"])
            is_cut = info["truncated"] & ~info["terminated"]
            reward = reward + self.config.discount * jnp.where(is_cut, final_value, 0)
        step = Step(state.obs, action, log_prob, value, reward, done)
        return state._replace(env_state=env_state, obs=obs, key=key), (step, EpisodeTotals.of(info))

    def _advantages(self, steps: Step, last_value: jax.Array) -> jax.Array:
        """Generalized advantage estimates, (time, environment)."""

        def body(carry: tuple[jax.Array, jax.Array], step: Step) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            advantage, next_value = carry
            discount = self.config.discount * (1 - step.done.astype(jnp.float32))
            error = step.reward + discount * next_value - step.value
            advantage = error + discount * self.config.gae_lambda * advantage
            return (advantage, step.value), advantage

        return jax.lax.scan(body, (jnp.zeros_like(last_value), last_value), steps, reverse=True)[1]

    def _learn(self, state: PPOState, batch: Any) -> PPOState:
        """Takes the gradient steps of all epochs."""
        batch = jax.tree.map(lambda x: x.reshape(self.steps_per_update, *x.shape[2:]), batch)
        key, *keys = jax.random.split(state.key, 1 + self.config.epochs)
        orders = jnp.stack([jax.random.permutation(each, self.steps_per_update) for each in keys])

        def body(carry: tuple[Any, Any], rows: jax.Array) -> tuple[tuple[Any, Any], None]:
            network, optimizer = carry
            minibatch = jax.tree.map(lambda x: x[rows], batch)
            gradients = jax.grad(self._loss)(network, state.agent.statistics, *minibatch)
            updates, optimizer = self._optimizer.update(gradients, optimizer, network)
            return (optax.apply_updates(network, updates), optimizer), None

        rows = orders.reshape(self.config.epochs * self.config.minibatches, -1)
        (network, optimizer), _ = jax.lax.scan(body, (state.agent.network, state.optimizer), rows)
        return state._replace(agent=state.agent._replace(network=network), optimizer=optimizer, key=key)

    def _loss(
        self, network: Any, statistics: RunningStatistics, steps: Step, advantage: jax.Array, target: jax.Array
    ) -> jax.Array:
        outputs, value = self._apply(Agent(network, statistics), steps.obs)
        ratio = jnp.exp(self._distribution.log_prob(outputs, steps.action) - steps.log_prob)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - self.config.clip, 1 + self.config.clip)
        policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = 0.5 * ((value - target) ** 2).mean()
        entropy = self._distribution.entropy(outputs).mean()
        return policy_loss + self.config.value_coefficient * value_loss - self.config.entropy_coefficient * entropy

    def _apply(self, agent: Agent, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        obs = obs.astype(jnp.float32)
        if self.config.normalize_observations:
            obs = (obs - agent.statistics.mean[None]) / jnp.sqrt(agent.statistics.var[None] + 1e-8)
            obs = jnp.clip(obs, -10, 10)
        outputs: Any = self._network.apply(agent.network, obs)
        return outputs

    def _learning_rate(self) -> Any:
        if not self.config.anneal:
            return self.config.learning_rate
        steps = self.num_updates * self.config.epochs * self.config.minibatches
        return optax.linear_schedule(self.config.learning_rate, 0.0, steps)


def _distribution(env: Environment[Any, Any], params: Any) -> Categorical | Gaussian:
    space = env.action_space(params)
    if isinstance(space, spaces.Discrete):
        return Categorical(space.n)
    if isinstance(space, spaces.Box) and space.dtype.kind == "f":
        return Gaussian(np.asarray(space.low, np.float32), np.asarray(space.high, np.float32))
    raise ConfigError(f"ppo needs actions of a Discrete or a float Box, {env.name} has {space}.")
