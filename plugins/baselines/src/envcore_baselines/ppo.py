"""Proximal policy optimization (Schulman et al. 2017, "Proximal policy optimization algorithms"), in one file.

To train an agent, run `python ppo.py CartPole-v1`. An update is a pure function with three phases: collect a rollout,
estimate advantages, and train on minibatches for several epochs. A training is a `scan` of updates, and many seeds are
a `vmap`.

As usual, some details go beyond the paper: a nearly uniform initial policy, advantages normalized per minibatch,
gradients clipped by global norm, a learning rate annealed to zero, and running normalization of observations and
rewards. When a time limit ends an episode, the target includes the value of the last observation (Pardo et al. 2018,
"Time limits in reinforcement learning").

The setting `memory` adds a gated recurrent unit (Cho et al. 2014), which remembers the episode so far. Gradients then
go back through all steps of a rollout, and a minibatch consists of the whole rollouts of some environments.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore import random, spaces
from envcore.environment import Environment
from envcore.rollout import RolloutState, Transition, run_rollout, start_rollout
from envcore.wrappers import Batched, ClipAction, LogWrapper, NormalizeReward, RunningStatistics
from flax import linen as nn
from flax import struct
from jax.flatten_util import ravel_pytree

from envcore_baselines.learner import (
    RolloutLearner,
    as_floats,
    check_images,
    checked_network,
    flat,
    flattened,
    main,
    masked,
    permutations,
    split_mask,
)
from envcore_baselines.settings import Fraction, Natural, Positive, Steps, Weight


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Settings of `PPO`."""

    total_steps: Steps = 500_000  # minimum number of environment steps per agent
    num_envs: Positive = 16  # parallel environments per agent
    rollout_steps: Positive = 128  # steps of each environment per update
    epochs: Positive = 4  # passes over the rollout per update
    minibatches: Positive = 4  # gradient steps per epoch, a divisor of the steps (with a memory, of num_envs)
    learning_rate: Fraction = 2.5e-4  # initial learning rate of Adam
    anneal: bool = True  # anneal the learning rate linearly to zero
    discount: Fraction = 0.99  # discount factor of rewards
    gae_lambda: Fraction = 0.95  # lambda of generalized advantage estimation (Schulman et al. 2016)
    clip: Weight = 0.2  # probability ratios are clipped to 1 - clip and 1 + clip
    entropy_coefficient: Weight = 0.01  # initial weight of the policy's entropy in the loss
    anneal_entropy: bool = False  # anneal this weight linearly to zero
    value_coefficient: Weight = 0.5  # weight of the value's squared error in the loss
    max_grad_norm: Weight = 0.5  # clip gradients to this global norm
    normalize_observations: bool = False  # normalize to mean 0 and variance 1
    normalize_rewards: bool = False  # scale so that discounted returns have variance 1
    torso: Literal["mlp", "conv"] = "mlp"  # "conv" for observations of shape (height, width, channels)
    hidden: tuple[Positive, ...] = (64, 64)  # units of the hidden layers, which follow the convolution if any
    activation: Literal["tanh", "relu"] = "tanh"  # activation of the hidden layers
    shared: bool = False  # share hidden layers of policy and value, always with a convolution or a memory
    memory: Natural = 0  # units of the memory after the hidden layers, 0 for no memory


class Categorical:
    """Distribution of discrete actions. `outputs` are logits, float32 (..., num_outputs)."""

    num_constants, bounds = 0, None

    def __init__(self, space: spaces.Discrete):
        self.num_outputs = space.n

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        # Like jax.random.categorical, with random bits that compile in half the time.
        uniform = random.uniform(key, outputs.shape, np.finfo(np.float32).tiny)
        return (outputs - jnp.log(-jnp.log(uniform))).argmax(-1).astype(jnp.int32)

    def mode(self, outputs: jax.Array) -> jax.Array:
        return outputs.argmax(-1).astype(jnp.int32)

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        # Indexing would have a scatter as its gradient.
        is_taken = np.arange(outputs.shape[-1]) == action[..., None]
        return jnp.where(is_taken, nn.log_softmax(outputs), 0).sum(-1)

    def entropy(self, outputs: jax.Array) -> jax.Array:
        log_probs = nn.log_softmax(outputs)
        return -(jnp.exp(log_probs) * log_probs).sum(-1)

    def masked(self, outputs: jax.Array, mask: jax.Array) -> jax.Array:
        """Masks the logits of illegal actions. Does nothing where the mask allows no action."""
        return masked(outputs, mask)


class Normal:
    """Independent normal distributions of continuous actions.

    `outputs` are means and log standard deviations, float32 (..., num_outputs). The standard deviations are learned and
    do not depend on the observation. Outputs of -1 and 1 are the bounds of an action.
    """

    def __init__(self, space: spaces.Box):
        low, high = (np.asarray(bound, np.float32).reshape(-1) for bound in (space.low, space.high))
        self.num_constants, self.num_outputs = low.size, 2 * low.size
        self.bounds, self._shape = (space.low, space.high), space.shape
        is_bounded = np.isfinite(low) & np.isfinite(high) & (low < high)
        low, high = np.where(is_bounded, low, np.float32(-1)), np.where(is_bounded, high, np.float32(1))
        self._center, self._scale = low / 2 + high / 2, high / 2 - low / 2

    def sample(self, outputs: jax.Array, key: jax.Array) -> jax.Array:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        return self._action(mean + jnp.exp(log_std) * jax.random.normal(key, mean.shape))

    def mode(self, outputs: jax.Array) -> jax.Array:
        return self._action(jnp.split(outputs, 2, axis=-1)[0])

    def log_prob(self, outputs: jax.Array, action: jax.Array) -> jax.Array:
        mean, log_std = jnp.split(outputs, 2, axis=-1)
        number = (action.reshape(mean.shape) - self._center) / self._scale
        return jax.scipy.stats.norm.logpdf(number, mean, jnp.exp(log_std)).sum(-1)

    def entropy(self, outputs: jax.Array) -> jax.Array:
        _, log_std = jnp.split(outputs, 2, axis=-1)
        return (log_std + np.float32(0.5 * np.log(2 * np.pi * np.e))).sum(-1)

    def _action(self, number: jax.Array) -> jax.Array:
        return jnp.asarray(self._center + self._scale * number).reshape(*number.shape[:-1], *self._shape)


def distribution_of(env: Environment, params: Any, continuous: Any = Normal) -> Any:
    """The distribution for an environment's action space: `Categorical` for `Discrete`, `continuous` for a float `Box`.

    Raises:
      ValueError: the action space is neither.
    """
    space: Any = env.action_space(params)
    if isinstance(space, spaces.Box) and space.dtype.kind == "f":
        return continuous(space)
    if isinstance(space, spaces.Discrete):
        return Categorical(space)
    raise ValueError(f"the action space must be a Discrete or a float Box, but {env.name} has {space}.")


def deviation(scale: float = 1.0) -> Any:
    """Initializer that fills weights with their standard deviation, for `ActorCritic.init` to multiply by noise.

    The usual orthogonal initialization needs a QR decomposition, which takes 10 s to compile and deadlocks under vmap
    on CPU.
    """
    return lambda key, shape, dtype=jnp.float32: jnp.full(shape, scale / np.sqrt(np.prod(shape[:-1])), dtype)


class Convolution(nn.Module):
    """A convolution with 4 x 4 kernels and stride 2. Odd sizes are padded with one row or column of zeros.

    Each row of the result is four rows of the image times a banded matrix. XLA's convolution is slow on CPU, and slower
    still under `vmap` over networks. With the matrix, PPO takes 0.5 to 0.75 of the time in MinAtar's games. Initialize
    with `ActorCritic.init`, because the initializer alone makes the kernel constant.
    """

    features: int
    kernel_init: Any = deviation()

    @nn.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """Maps images, (n, h, w, channels), to (n, h / 2 - 1, w / 2 - 1, features), rounded up."""
        odd = [(0, size % 2) for size in images.shape[1:3]]
        images = jnp.pad(images, [(0, 0), *odd, (0, 0)])
        number, height, width, channels = images.shape
        shape = (4, 4, channels, self.features)
        kernel = self.param("kernel", self.kernel_init, shape)
        bias = self.param("bias", nn.initializers.zeros, (self.features,))
        column, start = np.arange(width), np.arange(0, width - 2, 2)
        is_under = (column[:, None] - start == np.arange(4)[:, None, None]).astype(np.float32)
        band = jnp.einsum("kwo,rkcf->rwcof", is_under, kernel).reshape(4 * width * channels, -1)
        size = width * channels
        flat = images.reshape(number, height * size)
        rows = [flat[:, row * size : (row + 4) * size] for row in range(0, height - 2, 2)]
        result = jnp.concatenate(rows, axis=1).reshape(-1, 4 * size) @ band
        return result.reshape(number, len(rows), len(start), -1) + bias


class ActorCritic(nn.Module):
    """Policy and value networks.

    Attributes:
      config: settings with the attributes `torso`, `hidden`, `activation`, `shared` and `memory`.
      num_outputs: number of outputs that parametrize the distribution of actions.
      num_constants: how many of the outputs, at the end, do not depend on the observation.
    """

    config: PPOConfig
    num_outputs: int
    num_constants: int

    @nn.compact
    def __call__(self, obs: jax.Array, memory: Any = None, start: Any = None) -> tuple[jax.Array, ...]:
        """Maps observations, (n, *shape), to outputs, float32 (n, num_outputs), and values, float32 (n,).

        With a memory, the n observations are consecutive steps of some environments, ordered by step.

        Args:
          obs: the observations.
          memory: memory before the first step, float32 (environments, memory).
          start: whether each observation is the first of its episode, where the memory is reset to zero, bool (steps,
            environments).

        Returns:
          Outputs, values, and with a memory also the memory after the last step.
        """
        activation = nn.relu if self.config.activation == "relu" else nn.tanh
        obs = as_floats(obs)
        if self.config.torso == "conv":
            obs = nn.relu(Convolution(16)(obs))
        actor = critic = obs.reshape(obs.shape[0], -1)
        is_shared = self.config.shared or self.config.torso == "conv" or self.config.memory > 0
        for units in self.config.hidden:
            actor = activation(nn.Dense(units, kernel_init=deviation())(actor))
            critic = actor if is_shared else activation(nn.Dense(units, kernel_init=deviation())(critic))
        if self.config.memory:
            actor, memory = self._remember(actor.reshape(*start.shape, -1), memory, start)
            critic = actor
        outputs = nn.Dense(self.num_outputs - self.num_constants, kernel_init=deviation(0.01))(actor)
        if self.num_constants:
            constants = self.param("constants", nn.initializers.zeros, (self.num_constants,))
            outputs = jnp.concatenate([outputs, jnp.broadcast_to(constants, (len(outputs), self.num_constants))], -1)
        values = nn.Dense(1, kernel_init=deviation())(critic)[..., 0]
        return (outputs, values, memory) if self.config.memory else (outputs, values)

    def _remember(self, inputs: jax.Array, memory: jax.Array, start: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Maps inputs (steps, environments, units) to rows of features. Also returns the memory after them."""
        init: Any = deviation()
        cell = nn.GRUCell(self.config.memory, kernel_init=init, recurrent_kernel_init=init, parent=None)
        weights: Any = self.param("memory", lambda key: cell.init(key, memory, inputs[0]))

        def step(memory: jax.Array, step: tuple[jax.Array, jax.Array]) -> Any:
            inputs, start = step
            return cell.apply(weights, jnp.where(start[:, None], 0, memory), inputs)

        memory, rows = jax.lax.scan(step, memory, (inputs, start))
        return rows.reshape(-1, self.config.memory), memory

    @nn.nowrap
    def init(self, key: jax.Array, *inputs: Any) -> Any:
        """Draws normal weights for all layers at once, because one draw per layer takes twice as long to compile."""
        deviations, unravel = ravel_pytree(super().init(key, *inputs))
        return unravel(deviations * random.normal(key, deviations.shape))


class Agent(NamedTuple):
    """The first argument of `act`.

    Attributes:
      network: the parameters of the network.
      statistics: mean and variance of the observations so far, used only if observations are normalized.
    """

    network: Any
    statistics: RunningStatistics


class State(NamedTuple):
    """The training state, which one update maps to the next."""

    agent: Agent
    optimizer: Any
    rollout: Any
    key: jax.Array


@struct.dataclass
class RememberingState(RolloutState):
    """The state of a rollout and the memory of each environment, float32 (num_envs, memory)."""

    memory: jax.Array


def run_remembering(
    env: Environment, policy: Any, start: RememberingState, num_steps: int, params: Any, agent: Any, collect: Any
) -> tuple[RememberingState, Any]:
    """Like `run_rollout`, for a policy (obs, memory) -> (action, memory). In steps, each obs is such a pair."""

    def body(now: RememberingState, _: None) -> tuple[RememberingState, Any]:
        key, key_action, key_step = random.split(now.key, 3)
        obs = env.observe(now.state, params), now.memory
        action, memory = policy(agent, obs, key_action)
        _, state, reward, done, info = env.step(key_step, now.state, action, params)
        step = Transition(now.state, obs, action, reward, (info["final_obs"], memory), done, info)
        return RememberingState(key, state, jnp.where(done[:, None], 0, memory)), collect(step)

    return jax.lax.scan(body, start, None, num_steps)


class PPO(RolloutLearner):
    """PPO for one environment. The methods are pure functions.

    Args:
      env: an environment with a `Discrete` or float `Box` action space.
      params: params of the environment.
      config: the settings.
      network: your network, by default `ActorCritic`. `init(key, obs)` returns weights, and `apply(weights, obs)` maps
        n observations to outputs, float32 (n, num_outputs), and values, float32 (n,). Outputs are logits, or for a
        `Box` means followed by log standard deviations. A class is called with num_outputs. Normalized observations
        are float32. The network cannot have a memory.
      distribution: distribution for other action spaces, with the attributes and methods of `Categorical`.
      rollout: function to call instead of `run_rollout` (with a memory, instead of `run_remembering`). For example,
        `envcore_native.run_rollout` plays the same steps in one kernel. It may also return steps that were played
        elsewhere. `update` reads the `state` of the returned rollout only if `env.may_truncate` is False.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes. It is the one that you passed if it observes a `Box` or is
        an `ActionMaskObservation`, with which the agent takes only legal actions. Otherwise it is flattened.

    Raises:
      ValueError: the settings or the network do not fit each other or the environment.
    """

    Config = PPOConfig

    def __init__(
        self,
        env: Environment,
        params: Any,
        config: PPOConfig | None = None,
        network: Any = None,
        distribution: Any = None,
        rollout: Any = None,
    ):
        self.config = config = PPOConfig() if config is None else config
        self.env, self._params = flattened(env, params), params
        size, product = self.steps_per_update, f"num_envs * rollout_steps = {self.steps_per_update}"
        if config.memory:
            size, product = config.num_envs, f"num_envs = {config.num_envs}"
        if size % config.minibatches:
            raise ValueError(f"minibatches must divide {product}, got {config.minibatches}.")
        if config.memory and network is not None:
            raise ValueError(f"your own network cannot have a memory: leave out memory = {config.memory}.")
        obs = jax.eval_shape(lambda key: split_mask(self.env.reset(key, params)[0])[0], jax.random.key(0))
        if config.torso == "conv" and network is None:
            check_images(env, params, obs)
        self._distribution: Any = distribution or distribution_of(env, params)
        self._rollout = rollout or (run_remembering if config.memory else run_rollout)
        self._obs = jax.ShapeDtypeStruct(obs.shape, jnp.float32) if config.normalize_observations else obs
        sizes = self._distribution.num_outputs, self._distribution.num_constants
        results = {"outputs": (sizes[0],), "values": ()}
        self._network: Any = ActorCritic(config, *sizes)
        if network is not None:
            self._network = checked_network(network, self._obs, results)
        batch = LogWrapper(Batched(ClipAction(self.env) if self._distribution.bounds else self.env, config.num_envs))
        self._batch = NormalizeReward(batch, gamma=config.discount) if config.normalize_rewards else batch
        self._may_truncate = env.may_truncate(params)
        steps = min(self.num_updates * config.epochs * config.minibatches, 2**31 - 1)  # Adam's count is int32
        self._gradient_steps = steps
        rate = optax.linear_schedule(config.learning_rate, 0.0, steps) if config.anneal else config.learning_rate
        adam = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(rate, eps=1e-5))
        self._optimizer = optax.flatten(adam)  # a flat vector needs fewer operations

    def init(self, key: jax.Array) -> State:
        """The state before the first update."""
        key, key_env, key_network = random.split(key, 3)
        rollout, remembered = start_rollout(self._batch, key_env, self._params), ()
        if self.config.memory:
            remembered = self.start_memory()[None], jnp.ones((1, 1), jnp.bool_)
            memory = jnp.zeros((self.config.num_envs, self.config.memory), jnp.float32)
            rollout = RememberingState(rollout.key, rollout.state, memory)
        network = self._network.init(key_network, jnp.zeros((1, *self._obs.shape), self._obs.dtype), *remembered)
        agent = Agent(network, jax.tree.map(jnp.asarray, RunningStatistics.empty(self._obs.shape)))
        return State(agent, self._optimizer.init(network), rollout, key)

    def start_memory(self) -> Any:
        """The memory at the start of an episode, float32 (memory,), or () without a memory."""
        return jnp.zeros(self.config.memory, jnp.float32) if self.config.memory else ()

    def act(self, agent: Agent, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        """Samples the action for one observation of `env`, or takes the mode if `greedy`. Returns action and memory."""
        outputs, _, memory = self._apply(agent, *jax.tree.map(lambda x: x[None], (obs, memory)))
        action = self._distribution.mode(outputs) if greedy else self._distribution.sample(outputs, key)
        bounds = self._distribution.bounds
        return jnp.clip(action[0], *bounds) if bounds else action[0], jax.tree.map(lambda x: x[0], memory)

    def update(self, state: State) -> tuple[State, dict[str, jax.Array]]:
        """Plays a rollout and learns from it.

        Returns:
          The next state, and metrics, float32 () except `episodes`, int32 (). `returns` is the sum over the episodes
          that ended, and `episodes` their number. `loss`, `entropy` of the policy, `kl` and `gradient_norm` are means
          over minibatches. `kl` estimates KL(policy that acted || policy that learns), and `gradient_norm` is measured
          before clipping. `explained_variance` is the fraction of the targets' variance that the old values explain.
        """
        config, agent = self.config, state.agent

        # Collect: a rollout with the network's outputs. Each leaf has the axes (rollout_steps, num_envs).
        def policy(agent: Agent, obs: Any, key: jax.Array) -> Any:
            outputs, _, memory = self._apply(agent, *self._remembered(obs))
            action = self._distribution.sample(outputs, key)
            return (action, memory) if config.memory else action

        def collect(step: Any) -> tuple[Any, ...]:
            # XLA computes the network only once, for the policy and for this.
            obs, memory = self._remembered(step.obs)
            outputs, value, _ = self._apply(agent, obs, memory)
            log_prob = self._distribution.log_prob(outputs, step.action)
            returns, next_obs = step.info["returned_episode_returns"], step.next_obs if self._may_truncate else None
            ends = step.done, step.info["terminated"]
            return obs, memory, step.action, log_prob, value, step.reward, *ends, returns, next_obs

        rollout, steps = self._rollout(
            self._batch, policy, state.rollout, config.rollout_steps, self._params, agent, collect
        )
        obs, memory, action, log_prob, value, reward, done, terminated, returns, next_obs = steps
        metrics = {"returns": jnp.where(done, returns, 0).sum(), "episodes": done.sum(dtype=jnp.int32)}

        # Advantages: generalized advantage estimation, backwards over the rollout.
        if self._may_truncate:
            next_value = self._apply(agent, *self._remembered(flat(next_obs)))[1].reshape(reward.shape)
        else:
            last_obs = self._batch.observe(rollout.state, self._params)
            last_value = self._apply(agent, last_obs, getattr(rollout, "memory", ()))[1]
            next_value = jnp.concatenate([value[1:], last_value[None]])

        def backwards(later: jax.Array, step: Any) -> tuple[jax.Array, jax.Array]:
            value, next_value, reward, done, terminated = step
            error = reward + config.discount * jnp.where(terminated, 0, next_value) - value
            advantage = error + config.discount * config.gae_lambda * jnp.where(done, 0, later)
            return advantage, advantage

        row = (value, next_value, reward, done, terminated)
        advantages = jax.lax.scan(backwards, jnp.zeros(reward.shape[1]), row, reverse=True)[1].reshape(-1)
        targets = advantages + value.reshape(-1)
        unexplained, variance = jnp.stack([advantages, targets]).var(-1)
        metrics["explained_variance"] = 1 - unexplained / (variance + 1e-8)

        # Update: epochs of minibatches.
        def loss(network: Any, entropy_coefficient: Any, minibatch: Any, remembered: Any) -> tuple[Any, Any]:
            obs, action, log_prob, advantage, target = minibatch
            outputs, value, _ = self._apply(agent._replace(network=network), obs, *remembered)
            log_ratio = self._distribution.log_prob(outputs, action) - log_prob
            ratio = jnp.exp(log_ratio)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = ratio * advantage
            # The minimum of the two. The clipped one is constant wherever it is smaller, so it needs no gradient.
            clipped = jax.lax.stop_gradient(jnp.clip(ratio, 1 - config.clip, 1 + config.clip)) * advantage
            policy_loss = -jnp.where(gain <= clipped, gain, clipped)
            value_loss, entropy = 0.5 * (value - target) ** 2, self._distribution.entropy(outputs)
            # One mean for all terms, because each mean alone would be three more kernels to compile.
            terms = jnp.stack([policy_loss, value_loss, entropy, ratio - 1 - log_ratio])
            policy_loss, value_loss, entropy, kl = terms.mean(-1)
            total = policy_loss + config.value_coefficient * value_loss - entropy_coefficient * entropy
            return total, (total, entropy, kl)

        def descend(carry: tuple[Any, Any], rows: jax.Array) -> tuple[tuple[Any, Any], Any]:
            network, optimizer = carry
            entropy_coefficient: Any = config.entropy_coefficient
            if config.anneal_entropy:  # by Adam's gradient step count
                entropy_coefficient *= jnp.maximum(1 - optimizer[1][0].count / self._gradient_steps, 0)
            remembered = ()
            if config.memory:  # rows are environments
                remembered = memory[0, rows], start[:, rows]
                rows = (np.arange(config.rollout_steps)[:, None] * config.num_envs + rows).reshape(-1)
            minibatch = jax.tree.map(lambda x: x[rows], batch)
            gradients, means = jax.grad(loss, has_aux=True)(network, entropy_coefficient, minibatch, remembered)
            updates, optimizer = self._optimizer.update(gradients, optimizer, network)
            norm = jnp.linalg.norm(ravel_pytree(gradients)[0])  # as the optimizer computes it
            return (optax.apply_updates(network, updates), optimizer), jnp.stack([*means, norm])

        batch = (*flat((obs, action, log_prob)), advantages, targets)
        start = jnp.concatenate([jnp.zeros_like(done[:1]), done[:-1]])  # the memory at the first step is already reset
        key, key_orders = random.split(state.key)
        orders = permutations(key_orders, config.epochs, config.num_envs if config.memory else self.steps_per_update)
        minibatches = orders.reshape(config.epochs * config.minibatches, -1)
        (network, optimizer), means = jax.lax.scan(descend, (agent.network, state.optimizer), minibatches)
        metrics |= dict(zip(("loss", "entropy", "kl", "gradient_norm"), means.mean(0), strict=True))
        statistics = agent.statistics
        if config.normalize_observations:
            statistics = statistics.update(split_mask(obs)[0], jnp.ones(reward.shape, jnp.bool_))
        return State(Agent(network, statistics), optimizer, rollout, key), metrics

    def _remembered(self, obs: Any) -> tuple[Any, Any]:
        """Splits observations of a rollout into observations and memories, () without a memory."""
        return obs if self.config.memory else (obs, ())

    def _apply(self, agent: Agent, obs: Any, memory: Any = (), start: Any = None) -> tuple[jax.Array, jax.Array, Any]:
        """Returns masked outputs, values and memory, by default for one step. See `ActorCritic`."""
        obs, mask = split_mask(obs)
        if self.config.normalize_observations:
            obs = jnp.clip(agent.statistics.normalized(obs), -10, 10)
        if self.config.memory:
            start = jnp.zeros((1, len(memory)), jnp.bool_) if start is None else start
            outputs, values, memory = self._network.apply(agent.network, obs, memory, start)
        else:
            outputs, values = self._network.apply(agent.network, obs)
        return outputs if mask is None else self._distribution.masked(outputs, mask), values, memory


if __name__ == "__main__":
    main(PPO, "CartPole-v1")
