"""Soft actor-critic (Haarnoja et al. 2018, "Soft actor-critic algorithms and applications"), in one file.

To train an agent, run `python sac.py Pendulum-v1`. Read the file from top to bottom: settings, distribution of actions,
learner. The learner steps parallel environments, stores the steps in a replay buffer, and takes gradient steps on
batches from it. An update is a pure function, so a training is a `scan` of updates and many seeds are a `vmap`.

The policy is a normal distribution squashed by tanh to the action bounds. It maximizes the minimum of two critics plus
the weighted entropy. The weight, called temperature, is learned so that the entropy stays near a target. Critics learn
from one-step targets that slowly updated copies of the critics compute. The discount is 0 only where an episode
terminated. If a time limit ended it, the target includes the value of `final_obs`.

Two things differ from the paper. The exploration noise of successive actions may be correlated, which reaches more
states than independent noise (Eberhard et al. 2023, "Pink noise is all you need"). One Adam takes the gradients of all
losses together.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore import random, spaces
from envcore.environment import Environment
from envcore.wrappers import Batched, LogWrapper
from flax import linen as nn

from envcore_baselines.dqn import Network, Transition, add, empty, sample
from envcore_baselines.learner import RolloutLearner, as_floats, flat, flattened, main
from envcore_baselines.settings import Finite, Fraction, Positive


@dataclasses.dataclass(frozen=True)
class SACConfig:
    """Settings of `SAC`."""

    total_steps: Positive = 100_000  # minimum number of environment steps per agent
    num_envs: Positive = 16  # parallel environments per agent
    rollout_steps: Positive = 4  # steps of each environment per update
    gradient_steps: Positive = 16  # gradient steps per update
    replay_capacity: Positive = 131_072  # size of the replay buffer, a multiple of the steps per update
    batch_size: Positive = 256  # transitions per gradient step
    learning_rate: Fraction = 1e-3  # learning rate of Adam, for actor, critics and temperature
    discount: Fraction = 0.99  # discount factor of rewards
    target_rate: Fraction = 0.005  # step size of the target critics towards the critics per gradient step
    target_entropy: Finite = -1.0  # per action dimension, with actions scaled to -1 and 1
    noise_correlation: Fraction = 0.0  # between successive steps, near 1 for noise that changes slowly
    hidden: tuple[Positive, ...] = (64, 64)  # units of the hidden layers


def squashed(outputs: jax.Array, noise: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Actions of a normal distribution squashed by tanh, with their log densities.

    Args:
      outputs: means and log standard deviations, float32 (n, 2 * dimensions). The latter are clipped to [-20, 2].
      noise: standard normal noise, float32 (n, dimensions).

    Returns:
      Actions from -1 to 1, float32 (n, dimensions), and log densities, float32 (n,).
    """
    mean, log_std = jnp.split(outputs, 2, axis=-1)
    log_std = jnp.clip(log_std, -20, 2)
    number = mean + jnp.exp(log_std) * noise
    log_density = -0.5 * noise**2 - log_std - np.float32(0.5 * math.log(2 * math.pi))
    log_slope = 2 * (np.float32(math.log(2)) - number - jax.nn.softplus(-2 * number))  # of 1 - tanh(number)**2
    return jnp.tanh(number), (log_density - log_slope).sum(-1)


class Learned(NamedTuple):
    """The trained parameters of the actor and both critics (2, ...), and log(temperature), float32 ()."""

    actor: Any
    critics: Any
    log_temperature: Any


class Environments(NamedTuple):
    """The environments between two steps.

    Attributes:
      state, obs: states and observations, (num_envs, ...).
      noise: noise of the last actions, float32 (num_envs, dimensions).
      key: a random key.
    """

    state: Any
    obs: jax.Array
    noise: jax.Array
    key: jax.Array


class State(NamedTuple):
    """The training state, which one update maps to the next.

    Attributes:
      learned: the trained parameters.
      targets: the parameters of the target critics.
      optimizer: Adam's state.
      replay: the stored steps, `Transition` (replay_capacity, ...).
      updates: number of updates so far, int32 ().
      environments: the environments' state.
      key: a random key.
    """

    learned: Learned
    targets: Any
    optimizer: Any
    replay: Transition
    updates: jax.Array
    environments: Environments
    key: jax.Array

    @property
    def agent(self) -> Any:
        """The first argument of `act`."""
        return self.learned.actor


class SAC(RolloutLearner):
    """SAC for one environment. The methods are pure functions.

    Args:
      env: an environment whose action space is a bounded float `Box`.
      params: params of the environment.
      config: the settings.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes, flattened unless it observes a `Box`.

    Raises:
      ValueError: the settings do not fit each other or the environment.
    """

    Config = SACConfig

    def __init__(self, env: Environment, params: Any, config: SACConfig | None = None):
        self.config = config = SACConfig() if config is None else config
        self._params = params
        self.env = flattened(env, params)
        space: Any = env.action_space(params)
        is_float = isinstance(space, spaces.Box) and space.dtype.kind == "f"
        largest = np.finfo(np.float32).max / 2  # float32 must hold the distance between two bounds
        if not is_float or (np.abs([space.low, space.high]) > largest).any():
            raise ValueError(f"sac needs actions in a float Box with bounds up to 1.7e38, but {env.name} has {space}.")
        if config.replay_capacity % self.steps_per_update:
            product = f"num_envs * rollout_steps = {self.steps_per_update}"
            raise ValueError(f"{product} must divide replay_capacity, got {config.replay_capacity}.")
        self._low, self._high = np.asarray(space.low, np.float32), np.asarray(space.high, np.float32)
        self._numbers = self._low.size
        sizes, initializer = config.hidden, nn.initializers.lecun_normal()
        self._actor = Network((*sizes, 2 * self._numbers), initializer)
        self._critic = Network((*sizes, 1), initializer)
        self._batch = LogWrapper(Batched(self.env, config.num_envs))
        self._optimizer = optax.flatten(optax.adam(config.learning_rate))  # a flat vector needs fewer operations
        obs = jax.eval_shape(lambda key: self.env.reset(key, params)[0], jax.random.key(0))
        number = jax.ShapeDtypeStruct((), np.float32)
        self._transition = Transition(obs, jax.ShapeDtypeStruct((self._numbers,), np.float32), number, number, obs)

    def init(self, key: jax.Array) -> State:
        """The state before the first update."""
        key, key_reset, key_env, key_noise, key_actor, *key_critics = random.split(key, 7)
        capacity, numbers, size = self.config.replay_capacity, self._numbers, self._transition.obs.size
        actor = self._actor.init(key_actor, jnp.zeros((1, size)))
        critics = jax.vmap(lambda key: self._critic.init(key, jnp.zeros((1, size + numbers))))(jnp.stack(key_critics))
        learned = Learned(actor, critics, jnp.float32(0))
        replay = empty(self._transition, capacity)
        obs, env_state = self._batch.reset(key_reset, self._params)
        noise = random.normal(key_noise, (self.config.num_envs, numbers))
        environments = Environments(env_state, obs, noise, key_env)
        return State(learned, critics, self._optimizer.init(learned), replay, jnp.int32(0), environments, key)

    def act(self, agent: Any, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        """Samples the action for one observation of `env`, or takes the mean if `greedy`. Also returns `memory`."""
        shape = (1, self._numbers)
        noise = jnp.zeros(shape, jnp.float32) if greedy else random.normal(key, shape)
        action, _ = self._sample(agent, obs[None], noise)
        return self._scaled(action)[0], memory

    def update(self, state: State) -> tuple[State, dict[str, jax.Array]]:
        """Takes `rollout_steps` steps, then `gradient_steps`.

        Returns:
          The next state and metrics. `returns` is the sum over the episodes that ended, and `episodes` their number.
          `critic_loss`, `actor_loss`, `entropy`, `temperature` and `gradient_norm` are means over the gradient steps.
        """

        def step(environments: Environments, _: None) -> tuple[Environments, Any]:
            return self._step(state.learned.actor, environments)

        def descend(carry: tuple[Any, Any, Any], key: jax.Array) -> tuple[tuple[Any, Any, Any], dict[str, jax.Array]]:
            learned, targets, optimizer = carry
            key, key_batch = random.split(key)
            batch = sample(replay, count + self.steps_per_update, self.config.batch_size, key_batch)
            gradients, metrics = jax.grad(self._loss, has_aux=True)(learned, targets, batch, key)
            metrics["gradient_norm"] = optax.tree.norm(gradients)
            updates, optimizer = self._optimizer.update(gradients, optimizer, learned)
            learned: Any = optax.apply_updates(learned, updates)
            targets = optax.incremental_update(learned.critics, targets, self.config.target_rate)
            return (learned, targets, optimizer), metrics

        environments, (steps, totals) = jax.lax.scan(step, state.environments, length=self.config.rollout_steps)
        count = state.updates * self.steps_per_update
        replay = add(state.replay, flat(steps), count)
        key, key_learn = random.split(state.key)
        keys = random.split(key_learn, self.config.gradient_steps)
        learned, metrics = jax.lax.scan(descend, (state.learned, state.targets, state.optimizer), keys)
        totals = jax.tree.map(lambda x: x.sum(dtype=x.dtype), totals)
        metrics = {**totals, **jax.tree.map(jnp.mean, metrics)}
        return State(*learned, replay, state.updates + jnp.int32(1), environments, key), metrics

    def _step(self, actor: Any, environments: Environments) -> tuple[Environments, Any]:
        """Steps each environment. Returns the environments, and the transitions with the totals of episodes."""
        env_state, obs, noise, key = environments
        key, key_noise, key_step = random.split(key, 3)
        correlation = self.config.noise_correlation
        fresh = random.normal(key_noise, noise.shape)
        noise = correlation * noise + jnp.sqrt(1 - correlation**2) * fresh
        action, _ = self._sample(actor, obs, noise)
        next_obs, env_state, reward, _, info = self._batch.step(key_step, env_state, self._scaled(action), self._params)
        ended, returns = info["returned_episode"], info["returned_episode_returns"]
        totals = {"returns": jnp.where(ended, returns, 0), "episodes": ended.astype(jnp.int32)}
        steps = Transition(obs, action, reward, info["discount"], info["final_obs"])
        return Environments(env_state, next_obs, noise, key), (steps, totals)

    def _loss(self, learned: Learned, targets: Any, batch: Transition, key: jax.Array) -> tuple[jax.Array, Any]:
        """The sum of the critic, actor and temperature losses. Each changes only its part of the parameters."""
        fixed: Learned = jax.lax.stop_gradient(learned)
        temperature = jnp.exp(fixed.log_temperature)
        noise = random.normal(key, (2, *batch.action.shape))
        wanted = self._targets(fixed, targets, batch, noise[0])
        critic_loss = 0.5 * ((self._values(learned.critics, batch.obs, batch.action) - wanted) ** 2).sum(0).mean()

        action, log_density = self._sample(learned.actor, batch.obs, noise[1])
        values = self._values(fixed.critics, batch.obs, action).min(0)
        actor_loss = (temperature * log_density - values).mean()

        entropy = -jax.lax.stop_gradient(log_density).mean()
        temperature_loss = learned.log_temperature * (entropy - self.config.target_entropy * self._numbers)
        metrics = {"critic_loss": critic_loss, "actor_loss": actor_loss, "entropy": entropy, "temperature": temperature}
        return critic_loss + actor_loss + temperature_loss, metrics

    def _targets(self, learned: Learned, targets: Any, batch: Transition, noise: jax.Array) -> jax.Array:
        """One-step targets for the critics, float32 (n,)."""
        next_action, log_density = self._sample(learned.actor, batch.next_obs, noise)
        next_values = self._values(targets, batch.next_obs, next_action).min(0)
        soft = next_values - jnp.exp(learned.log_temperature) * log_density
        return batch.reward + self.config.discount * batch.discount * soft

    def _sample(self, actor: Any, obs: jax.Array, noise: jax.Array) -> tuple[jax.Array, jax.Array]:
        outputs: Any = self._actor.apply(actor, obs)
        return squashed(outputs, noise)

    def _values(self, critics: Any, obs: jax.Array, action: jax.Array) -> jax.Array:
        """The values of n actions from both critics, float32 (2, n)."""
        inputs = jnp.concatenate([as_floats(obs.reshape(obs.shape[0], -1)), action], axis=-1)
        values: Any = jax.vmap(lambda critic: self._critic.apply(critic, inputs))(critics)
        return values[..., 0]

    def _scaled(self, action: jax.Array) -> jax.Array:
        """Scales n actions from [-1, 1] to the bounds of the environment."""
        action = action.reshape(-1, *self._low.shape)
        scaled = self._low + (self._high - self._low) * (0.5 * action + 0.5)
        return jnp.clip(scaled, self._low, self._high)  # rounding may exceed the bounds


if __name__ == "__main__":
    main(SAC, "Pendulum-v1", rollout_steps=64, gradient_steps=256)
