"""Proximal policy optimization (Schulman et al. 2017, "Proximal policy optimization algorithms").

To be read from top to bottom: settings, network, and the learner, whose `update` collects a rollout, estimates
advantages and takes epochs of minibatches. An update is a pure function, so a run is a `scan` of it and many seeds are
a `vmap`.

What is usual but not in the paper: a nearly uniform initial policy, advantages normalized in each minibatch, gradients
clipped by their global norm, a learning rate that falls to zero, running normalization of observations and rewards. An
episode that a time limit ends is not taken for a terminated one: its last reward includes the discounted value of
`final_obs` (Pardo et al. 2018, "Time limits in reinforcement learning").

With the setting `memory`, the network is recurrent: it remembers the episode so far, in a gated recurrent unit (Cho et
al. 2014). Gradients go back through all steps of a rollout, and a minibatch consists of whole rollouts of some of the
environments.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore.environment import NO_TIME_LIMIT, Environment
from envcore.wrappers import Batched, LogWrapper, NormalizeReward, RunningStatistics
from flax import linen as nn

from envcore_baselines.distributions import distribution
from envcore_baselines.errors import ConfigError
from envcore_baselines.learner import EpisodeTotals, as_floats, obs_struct, observed, split
from envcore_baselines.settings import at_least, between, one_of


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Settings of `PPO`.

    Attributes:
      total_steps: environment steps of one agent. They are rounded up to whole updates, and beyond 100 of them so that
        all points of the curve have equally many.
      num_envs: environments that one agent steps at the same time.
      rollout_steps: steps of each environment in an update.
      epochs: passes over the steps of an update.
      minibatches: gradient steps in an epoch; they divide num_envs * rollout_steps, or num_envs if there is a memory.
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
      activation: "tanh" or "relu", of the hidden layers.
      shared: whether policy and value share the hidden layers; always so with a convolution or a memory.
      memory: units of the recurrent layer, which follows the hidden ones; 0 for none.
    """

    total_steps: int = at_least(1, 500_000, 10**12)
    num_envs: int = at_least(1, 16, 10**7)
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
    activation: str = one_of("tanh", "relu")
    shared: bool = False
    memory: int = at_least(0, 0)


# Orthogonal weights, which are more usual, need a QR decomposition, which takes 10 s to compile and deadlocks under
# vmap on CPU.
_SMALL = nn.initializers.variance_scaling(1e-4, "fan_in", "truncated_normal")


class Convolution(nn.Module):
    """A convolution with 4 x 4 kernels at every second row and column; odd sizes are padded with one row of zeros.

    A row of the result is a product of four rows of the image and a banded matrix, because XLA's own convolution is
    slow on CPU, and slower still under `vmap` over networks. The four rows are cut out of flat images: with two axes
    fewer, XLA copies them ten times as fast, and PPO takes 0.5 to 0.75 of the time in MinAtar's games.
    """

    features: int

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """Maps images, (..., h, w, channels), to (..., h / 2 - 1, w / 2 - 1, features), rounded up."""
        odd = [(0, size % 2) for size in images.shape[-3:-1]]
        images = jnp.pad(images, [*[(0, 0)] * (images.ndim - 3), *odd, (0, 0)])
        *batch, height, width, channels = images.shape
        shape = (4, 4, channels, self.features)
        kernel = self.param("kernel", nn.initializers.lecun_normal(in_axis=(0, 1, 2)), shape)  # type: ignore[arg-type]
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        column, start = np.arange(width), np.arange(0, width - 2, 2)
        is_under = (column[:, None] - start == np.arange(4)[:, None, None]).astype(np.float32)
        band = jnp.einsum("kwo,rkcf->rwcof", is_under, kernel).reshape(4 * width * channels, -1)
        size = width * channels
        images = images.reshape(-1, height * size)
        rows = [images[:, row * size : (row + 4) * size] for row in range(0, height - 2, 2)]
        result = jnp.concatenate(rows, axis=1).reshape(-1, 4 * size) @ band
        return result.reshape(*batch, len(rows), len(start), -1) + bias


class Network(nn.Module):
    """Policy and value, as functions of observations.

    Attributes:
      torso, hidden, activation, shared, memory: as in `PPOConfig`.
      num_outputs: numbers that the distribution of actions is computed from.
      num_constants: how many of them, the last ones, are the same for all observations.
    """

    torso: str
    hidden: tuple[int, ...]
    activation: str
    shared: bool
    memory: int
    num_outputs: int
    num_constants: int

    @nn.compact
    def __call__(self, memory: Any, obs: jax.Array, start: jax.Array) -> tuple[jax.Array, jax.Array, Any]:
        """Goes through T steps of N environments.

        Args:
          memory: before the first step, float32 (N, memory); () without a memory.
          obs: float32 (T, N, *shape).
          start: whether each is the first of its episode, bool (T, N).

        Returns:
          Outputs, (T, N, num_outputs), values, (T, N), and the memory after the last step.
        """
        activation = nn.relu if self.activation == "relu" else nn.tanh
        if self.torso == "conv":
            obs = nn.relu(Convolution(16)(obs))
        actor = critic = obs.reshape(*start.shape, -1)
        if self.torso == "conv" or self.memory or self.shared:
            for units in self.hidden:
                actor = activation(nn.Dense(units)(actor))
            if self.memory:
                memory, actor = self._remember(memory, actor, start)
            critic = actor
        else:
            for units in self.hidden:
                actor = activation(nn.Dense(units)(actor))
                critic = activation(nn.Dense(units)(critic))
        outputs = nn.Dense(self.num_outputs - self.num_constants, kernel_init=_SMALL)(actor)
        if self.num_constants:
            constants = self.param("constants", nn.initializers.zeros, (1, 1, self.num_constants))
            constants = jnp.broadcast_to(constants, (*start.shape, self.num_constants))
            outputs = jnp.concatenate([outputs, constants], axis=-1)
        return outputs, nn.Dense(1)(critic)[..., 0], memory

    def _remember(self, memory: jax.Array, inputs: jax.Array, start: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The memory after all steps, and after each; it forgets where an episode starts."""
        cell = nn.GRUCell(self.memory, recurrent_kernel_init=nn.initializers.lecun_normal(), parent=None)
        weights: Any = self.param("memory", lambda key: cell.init(key, memory, inputs[0]))

        def step(memory: jax.Array, step: tuple[jax.Array, jax.Array]) -> Any:
            inputs, start = step
            return cell.apply(weights, jnp.where(start[:, None], 0, memory), inputs)

        return jax.lax.scan(step, memory, (inputs, start))


class PPOAgent(NamedTuple):
    """What acting takes.

    Attributes:
      network: the parameters of `Network`.
      statistics: `RunningStatistics` of the observations; those of no observation if they are not normalized.
    """

    network: Any
    statistics: RunningStatistics


class PPOState(NamedTuple):
    """Everything that the next update depends on."""

    agent: PPOAgent
    optimizer: Any
    env_state: Any
    obs: Any
    start: jax.Array
    memory: Any
    key: jax.Array


class Step(NamedTuple):
    """A step of every environment; in a rollout, with a leading axis for time."""

    obs: Any
    start: jax.Array
    action: jax.Array
    log_prob: jax.Array
    value: jax.Array
    reward: jax.Array
    done: jax.Array


class PPO:
    """Learns in one environment.

    `init`, `update` and `act` serve training, where the algorithm steps its environments. Where something else steps
    them, as bsuite's runner does, call `start` once, then `choose` before and `complete` after every step, and `learn`
    after every `rollout_steps` steps.

    Args:
      env: the environment, one that observes a `Box`, `Discrete` or a collection of them, and takes actions of a
        `Discrete`, a `MultiDiscrete` or a float `Box`.
      params: its params.
      config: the settings.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes: flattened, unless it observes a `Box`, and with the masks of
        a `Discrete`'s actions, which then are legal.

    Raises:
      ConfigError: the settings do not fit each other or the environment.
    """

    Config = PPOConfig

    def __init__(self, env: Environment, params: Any, config: PPOConfig):
        self.env = observed(env, params)
        shape = obs_struct(self.env, params).shape
        if config.torso == "conv" and not (len(shape) == 3 and min(shape[:2]) > 2):
            raise ConfigError(
                "torso = 'conv' needs observations (height, width, channels) of at least 3 x 3, "
                f"{env.name} has {env.observation_space(params)}."
            )
        self._rows = config.num_envs if config.memory else config.num_envs * config.rollout_steps
        if self._rows % config.minibatches:
            product = "num_envs" if config.memory else "num_envs * rollout_steps"
            raise ConfigError(f"minibatches must divide {product} = {self._rows}, got {config.minibatches}.")
        self.config, self._params = config, params
        self._distribution = distribution("ppo", env, params)
        sizes = (self._distribution.num_outputs, self._distribution.num_constants)
        layers = (config.torso, config.hidden, config.activation, config.shared, config.memory)
        self._network = Network(*layers, *sizes)
        self._batch: Environment = LogWrapper(Batched(self.env, config.num_envs))
        if config.normalize_rewards:
            self._batch = NormalizeReward(self._batch, gamma=config.discount)
        has_limit = bool(np.any(np.asarray(params.max_steps_in_episode) != NO_TIME_LIMIT))
        self._truncates = has_limit or hasattr(env.unwrapped, "library_env")  # a bridge's: its library may
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
        return self.start(key, key_network, obs, env_state)

    def start(self, key: jax.Array, key_network: jax.Array, obs: Any, env_state: Any = None) -> PPOState:
        """The state before the first update, with the first observations of `num_envs` environments."""
        array, _ = split(obs)
        statistics = jax.tree.map(jnp.asarray, RunningStatistics.empty(array.shape[1:]))
        memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (len(array), *x.shape)), self.start_memory())
        start = jnp.ones(len(array), jnp.bool_)
        network = self._network.init(key_network, memory, as_floats(array[None]), start[None])
        return PPOState(
            PPOAgent(network, statistics), self._optimizer.init(network), env_state, obs, start, memory, key
        )

    def start_memory(self) -> Any:
        """What an agent remembers at the start of an episode: float32 (memory,), () if it has no memory."""
        return jnp.zeros(self.config.memory) if self.config.memory else ()

    def act(
        self, agent: PPOAgent, memory: Any, obs: Any, key: jax.Array, greedy: bool = False
    ) -> tuple[jax.Array, Any]:
        """The action for one observation of `env`, the most probable one if `greedy`; and the memory after it."""
        memory, obs = jax.tree.map(lambda x: x[None], (memory, obs))
        outputs, _, memory = self._apply_once(agent, memory, obs, jnp.zeros(1, jnp.bool_))
        raw = self._distribution.mode(outputs) if greedy else self._distribution.sample(outputs, key)
        return self._distribution.to_env(raw)[0], jax.tree.map(lambda x: x[0], memory)

    def update(self, state: PPOState) -> tuple[PPOState, EpisodeTotals]:
        """Collects a rollout and learns from it; returns the totals of the episodes that ended in it."""
        memory = state.memory
        state, (steps, totals) = jax.lax.scan(self._step, state, length=self.config.rollout_steps)
        return self.learn(state, memory, steps), jax.tree.map(lambda x: x.sum(0), totals)

    def choose(self, state: PPOState, key: jax.Array) -> tuple[jax.Array, Step, Any]:
        """What the agent does for `state.obs`.

        Returns:
          The actions for the environments; the steps, of which `complete` fills in the rest; the memory after them.
        """
        outputs, value, memory = self._apply_once(state.agent, state.memory, state.obs, state.start)
        action = self._distribution.sample(outputs, key)
        log_prob = self._distribution.log_prob(outputs, action)
        step = Step(state.obs, state.start, action, log_prob, value, jnp.zeros_like(value), state.start)
        return self._distribution.to_env(action), step, memory

    def complete(
        self, agent: PPOAgent, step: Step, memory: Any, reward: jax.Array, done: jax.Array, info: dict[str, Any]
    ) -> Step:
        """The steps with what the environments returned; `memory` is that after them."""
        if self._truncates:
            _, final_value, _ = self._apply_once(agent, memory, info["final_obs"], jnp.zeros_like(done))
            is_cut = info["truncated"] & ~info["terminated"]
            reward = reward + self.config.discount * jnp.where(is_cut, final_value, 0)
        return step._replace(reward=reward, done=done)

    def learn(self, state: PPOState, memory: Any, steps: Step) -> PPOState:
        """Learns from a rollout, (rollout_steps, num_envs), after which the state is `state`; before it, `memory`."""
        _, last_value, _ = self._apply_once(state.agent, state.memory, state.obs, state.start)
        advantages = self._advantages(steps, last_value)
        state = self._take_epochs(state, memory, (steps, advantages, advantages + steps.value))
        if self.config.normalize_observations:
            included = jnp.ones(steps.done.shape, jnp.bool_)
            statistics = state.agent.statistics.update(split(steps.obs)[0], included)
            state = state._replace(agent=state.agent._replace(statistics=statistics))
        return state

    def _step(self, state: PPOState, _: Any) -> tuple[PPOState, tuple[Step, EpisodeTotals]]:
        key, key_action, key_step = jax.random.split(state.key, 3)
        action, step, memory = self.choose(state, key_action)
        obs, env_state, reward, done, info = self._batch.step(key_step, state.env_state, action, self._params)
        step = self.complete(state.agent, step, memory, reward, done, info)
        state = state._replace(env_state=env_state, obs=obs, start=done, memory=memory, key=key)
        return state, (step, EpisodeTotals.of(info))

    def _advantages(self, steps: Step, last_value: jax.Array) -> jax.Array:
        """Generalized advantage estimates, (time, environment)."""

        def body(carry: tuple[jax.Array, jax.Array], step: Step) -> tuple[tuple[jax.Array, jax.Array], jax.Array]:
            advantage, next_value = carry
            discount = self.config.discount * (1 - step.done.astype(jnp.float32))
            error = step.reward + discount * next_value - step.value
            advantage = error + discount * self.config.gae_lambda * advantage
            return (advantage, step.value), advantage

        return jax.lax.scan(body, (jnp.zeros_like(last_value), last_value), steps, reverse=True)[1]

    def _take_epochs(self, state: PPOState, memory: Any, batch: Any) -> PPOState:
        """Takes the gradient steps of all epochs; `memory` is that before the rollout."""
        if not self.config.memory:  # steps do not depend on each other: each is a rollout of its own
            batch = jax.tree.map(lambda x: x.reshape(1, self._rows, *x.shape[2:]), batch)
        key, *keys = jax.random.split(state.key, 1 + self.config.epochs)
        orders = jnp.stack([jax.random.permutation(each, self._rows) for each in keys])

        def body(carry: tuple[Any, Any], rows: jax.Array) -> tuple[tuple[Any, Any], None]:
            network, optimizer = carry
            minibatch = jax.tree.map(lambda x: x[:, rows], batch)
            start = jax.tree.map(lambda x: x[rows], memory)
            gradients = jax.grad(self._loss)(network, state.agent.statistics, start, *minibatch)
            updates, optimizer = self._optimizer.update(gradients, optimizer, network)
            return (optax.apply_updates(network, updates), optimizer), None

        rows = orders.reshape(self.config.epochs * self.config.minibatches, -1)
        (network, optimizer), _ = jax.lax.scan(body, (state.agent.network, state.optimizer), rows)
        return state._replace(agent=state.agent._replace(network=network), optimizer=optimizer, key=key)

    def _loss(
        self,
        network: Any,
        statistics: RunningStatistics,
        memory: Any,
        steps: Step,
        advantage: jax.Array,
        target: jax.Array,
    ) -> jax.Array:
        outputs, value, _ = self._apply(PPOAgent(network, statistics), memory, steps.obs, steps.start)
        ratio = jnp.exp(self._distribution.log_prob(outputs, steps.action) - steps.log_prob)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        clipped = jnp.clip(ratio, 1 - self.config.clip, 1 + self.config.clip)
        policy_loss = -jnp.minimum(ratio * advantage, clipped * advantage).mean()
        value_loss = 0.5 * ((value - target) ** 2).mean()
        entropy = self._distribution.entropy(outputs).mean()
        return policy_loss + self.config.value_coefficient * value_loss - self.config.entropy_coefficient * entropy

    def _apply_once(self, agent: PPOAgent, memory: Any, obs: Any, start: jax.Array) -> tuple[jax.Array, jax.Array, Any]:
        """As `_apply`, for one step of N environments: no array has an axis for time."""
        obs, start = jax.tree.map(lambda x: x[None], (obs, start))
        outputs, values, memory = self._apply(agent, memory, obs, start)
        return outputs[0], values[0], memory

    def _apply(self, agent: PPOAgent, memory: Any, obs: Any, start: jax.Array) -> tuple[jax.Array, jax.Array, Any]:
        """Outputs, those of legal actions, values and memory; see `Network`."""
        obs, mask = split(obs)
        obs = as_floats(obs)
        if self.config.normalize_observations:
            obs = jnp.clip(agent.statistics.normalized(obs), -10, 10)
        applied: Any = self._network.apply(agent.network, memory, obs, start)
        outputs, values, memory = applied
        return self._distribution.masked(outputs, mask), values, memory

    def _learning_rate(self) -> Any:
        if not self.config.anneal:
            return self.config.learning_rate
        steps = self.num_updates * self.config.epochs * self.config.minibatches
        return optax.linear_schedule(self.config.learning_rate, 0.0, steps)
