"""The parallelised Q-network (Gallici et al. 2024, "Simplifying deep temporal difference learning"), in one file.

To train an agent, run `python pqn.py CartPole-v1`. An update is a pure function with three phases: collect a rollout
with epsilon-greedy actions, compute the targets of Q(lambda) backwards over it, and train on minibatches for several
epochs. A training is a `scan` of updates, and many seeds are a `vmap`.

Instead of a replay buffer and a target network, many parallel environments and layer normalization after each hidden
layer keep learning stable. Random actions do not cut the targets (Peng and Williams 1996). When a time limit ends an
episode, the target includes the value of the last observation.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import optax
from envcore import random, spaces
from envcore.environment import Environment
from envcore.rollout import RolloutState, run_rollout, start_rollout
from envcore.wrappers import Batched, LogWrapper
from flax import linen as nn

from envcore_baselines.learner import (
    RolloutLearner,
    as_floats,
    check_images,
    checked_network,
    chosen,
    epsilon_greedy,
    flat,
    flattened,
    main,
    masked,
    permutations,
    split_mask,
)
from envcore_baselines.ppo import Convolution
from envcore_baselines.settings import Fraction, Positive, Steps, Weight


@dataclasses.dataclass(frozen=True)
class PQNConfig:
    """Settings of `PQN`."""

    total_steps: Steps = 500_000  # minimum number of environment steps per agent
    num_envs: Positive = 32  # parallel environments per agent
    rollout_steps: Positive = 64  # steps of each environment per update
    epochs: Positive = 2  # passes over the rollout per update
    minibatches: Positive = 16  # gradient steps per epoch, a divisor of num_envs * rollout_steps
    learning_rate: Fraction = 2e-3  # initial learning rate of RAdam
    anneal: bool = True  # anneal the learning rate linearly to zero
    discount: Fraction = 0.99  # discount factor of rewards
    q_lambda: Fraction = 0.9  # lambda of the targets, 0 for one-step targets, 1 for full returns
    epsilon: Fraction = 0.01  # fraction of random actions after annealing from 1
    exploration_fraction: Fraction = 0.2  # fraction of the updates over which epsilon is annealed linearly
    max_grad_norm: Weight = 10.0  # clip gradients to this global norm
    torso: Literal["mlp", "conv"] = "mlp"  # "conv" for observations of shape (height, width, channels)
    hidden: tuple[Positive, ...] = (64, 64)  # units of the hidden layers, which follow the convolution if any


class Network(nn.Module):
    """The Q-network, which maps observations to action values."""

    config: PQNConfig
    num_actions: int

    @nn.compact
    def __call__(self, obs: jax.Array) -> jax.Array:
        """Maps observations, (n, *shape), to values, float32 (n, num_actions)."""
        x = as_floats(obs)
        if self.config.torso == "conv":
            x = Convolution(16, nn.initializers.lecun_normal(in_axis=(0, 1, 2)))(x)  # type: ignore[arg-type]
            x = nn.relu(nn.LayerNorm()(x.reshape(x.shape[0], -1)))
        x = x.reshape(x.shape[0], -1)
        for units in self.config.hidden:
            x = nn.relu(nn.LayerNorm()(nn.Dense(units)(x)))
        return nn.Dense(self.num_actions)(x)


class State(NamedTuple):
    """The training state, which one update maps to the next.

    Attributes:
      network: the parameters of `Network`.
      optimizer: the optimizer's state.
      rollout: the state of the rollout.
      updates: number of updates so far, int32 ().
      key: a random key.
    """

    network: Any
    optimizer: Any
    rollout: RolloutState
    updates: jax.Array
    key: jax.Array

    @property
    def agent(self) -> Any:
        """The first argument of `act`."""
        return self.network


class PQN(RolloutLearner):
    """PQN for one environment. The methods are pure functions.

    Args:
      env: an environment with a `Discrete` action space.
      params: params of the environment.
      config: the settings.
      network: your network, by default `Network`. `init(key, obs)` returns weights, and `apply(weights, obs)` maps n
        observations to action values, float32 (n, num_actions). A class is called with num_actions.
      rollout: function to call instead of `run_rollout`. For example, `envcore_native.run_rollout` plays the same steps
        in one kernel. It may also return steps that were played elsewhere.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes. It is the one that you passed if it observes a `Box` or is
        an `ActionMaskObservation`, with which the agent takes only legal actions. Otherwise it is flattened.

    Raises:
      ValueError: the settings or the network do not fit each other or the environment.
    """

    Config = PQNConfig

    def __init__(
        self,
        env: Environment,
        params: Any,
        config: PQNConfig | None = None,
        network: Any = None,
        rollout: Any = run_rollout,
    ):
        self.config = config = PQNConfig() if config is None else config
        self.env, self._params = flattened(env, params), params
        if self.steps_per_update % config.minibatches:
            product = f"num_envs * rollout_steps = {self.steps_per_update}"
            raise ValueError(f"minibatches must divide {product}, got {config.minibatches}.")
        space = env.action_space(params)
        if not isinstance(space, spaces.Discrete):
            raise ValueError(f"pqn needs a Discrete action space, but {env.name} has {space}.")
        self._obs = jax.eval_shape(lambda key: split_mask(self.env.reset(key, params)[0])[0], jax.random.key(0))
        if config.torso == "conv" and network is None:
            check_images(env, params, self._obs)
        own = Network(config, space.n)
        self._network: Any = own if network is None else checked_network(network, self._obs, {"values": (space.n,)})
        self._batch, self._rollout = LogWrapper(Batched(self.env, config.num_envs)), rollout
        steps = min(self.num_updates * config.epochs * config.minibatches, 2**31 - 1)  # RAdam's count is int32
        rate = optax.linear_schedule(config.learning_rate, 0.0, steps) if config.anneal else config.learning_rate
        radam = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.radam(rate))
        self._optimizer = optax.flatten(radam)  # a flat vector needs fewer operations

    def init(self, key: jax.Array) -> State:
        """The state before the first update."""
        key, key_env, key_network = random.split(key, 3)
        network = self._network.init(key_network, jnp.zeros((1, *self._obs.shape), self._obs.dtype))
        rollout = start_rollout(self._batch, key_env, self._params)
        return State(network, self._optimizer.init(network), rollout, jnp.int32(0), key)

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        """The epsilon-greedy action for one observation of `env`, or the greedy one, and the unchanged memory."""
        values = self._values(agent, jax.tree.map(lambda x: x[None], obs))
        action = values.argmax(-1).astype(jnp.int32) if greedy else epsilon_greedy(values, self.config.epsilon, key)
        return action[0], memory

    def update(self, state: State) -> tuple[State, dict[str, jax.Array]]:
        """Plays a rollout and learns from it.

        Returns:
          The next state and metrics. `returns` is the sum over the episodes that ended, and `episodes` their number.
          `loss`, `value` of the actions taken and `gradient_norm` are means over the gradient steps.
        """
        config = self.config

        # Collect: a rollout. Each leaf has the axes (rollout_steps, num_envs).
        def policy(agent: Any, obs: Any, key: jax.Array) -> jax.Array:
            network, epsilon = agent
            return epsilon_greedy(self._values(network, obs), epsilon, key)

        def collect(step: Any) -> tuple[Any, ...]:
            ends = step.done, step.info["terminated"]
            return step.obs, step.action, step.reward, step.next_obs, *ends, step.info["returned_episode_returns"]

        fall = jnp.maximum(config.exploration_fraction * self.num_updates, 1)
        epsilon = jnp.maximum(1 - (1 - config.epsilon) / fall * state.updates, config.epsilon)
        agent = state.network, epsilon.astype(jnp.float32)
        rollout, steps = self._rollout(
            self._batch, policy, state.rollout, config.rollout_steps, self._params, agent, collect
        )
        obs, action, reward, next_obs, done, terminated, returns = steps
        ended = {"returns": jnp.where(done, returns, 0).sum(), "episodes": done.sum(dtype=jnp.int32)}

        # Targets: Q(lambda), backwards over the rollout.
        next_value = self._values(state.network, flat(next_obs)).max(-1).reshape(reward.shape)

        def backwards(later: jax.Array, step: Any) -> tuple[jax.Array, jax.Array]:
            next_value, reward, done, terminated = step
            mixed = next_value + config.q_lambda * jnp.where(done, 0, later - next_value)
            target = reward + config.discount * jnp.where(terminated, 0, mixed)
            return target, target

        row = (next_value, reward, done, terminated)
        targets = jax.lax.scan(backwards, next_value[-1], row, reverse=True)[1]

        # Update: epochs of minibatches.
        def loss(network: Any, obs: Any, action: jax.Array, target: jax.Array) -> tuple[jax.Array, jax.Array]:
            values = self._values(network, obs)
            value = chosen(values, action)
            return 0.5 * ((value - target) ** 2).mean(), value.mean()

        def descend(carry: tuple[Any, Any], rows: jax.Array) -> tuple[tuple[Any, Any], dict[str, jax.Array]]:
            network, optimizer = carry
            minibatch = jax.tree.map(lambda x: x[rows], batch)
            (error, value), gradients = jax.value_and_grad(loss, has_aux=True)(network, *minibatch)
            updates, optimizer = self._optimizer.update(gradients, optimizer, network)
            metrics = {"loss": error, "value": value, "gradient_norm": optax.tree.norm(gradients)}
            return (optax.apply_updates(network, updates), optimizer), metrics

        batch = flat((obs, action, targets))
        key, key_orders = random.split(state.key)
        orders = permutations(key_orders, config.epochs, self.steps_per_update)
        minibatches = orders.reshape(config.epochs * config.minibatches, -1)
        (network, optimizer), metrics = jax.lax.scan(descend, (state.network, state.optimizer), minibatches)
        state = State(network, optimizer, rollout, state.updates + jnp.int32(1), key)
        return state, {**ended, **jax.tree.map(jnp.mean, metrics)}

    def _values(self, network: Any, obs: Any) -> jax.Array:
        """The action values for n observations, float32 (n, actions), `ILLEGAL` for illegal actions."""
        obs, mask = split_mask(obs)
        return masked(self._network.apply(network, obs), mask)


if __name__ == "__main__":
    main(PQN, "CartPole-v1")
