"""Bootstrapped DQN that recalls how the episode began, with little work in a step.

Osband et al. 2018, "Randomized prior functions for deep reinforcement learning"; Osband et al. 2020, "Behaviour suite
for reinforcement learning".

What differs from `bootstrapped_dqn.py`:

- A memory without backpropagation through time: a network's input is the observation and the first observation of the
  episode.
- Exploration fades: the priors lose their weight, and in more and more episodes the mean of all members acts.
- It does not depend on the scale of what it sees. Inputs are shifted and scaled to mean 0 and variance 1, and rewards
  are divided by the root mean square of the discounted returns.
- Less work in a step: small networks, a gradient step in every `period`-th step only, and many observations are
  projected at random to few numbers, which keeps their distances (Johnson and Lindenstrauss 1984).
- Targets are returns of `bootstrap_steps` steps.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore import random, spaces, trees
from envcore.environment import Environment
from envcore.wrappers import RunningStatistics

from envcore_baselines import ensemble, replay
from envcore_baselines.errors import ConfigError
from envcore_baselines.settings import at_least, between

_LARGEST = 10.0  # of an input, after normalization


@dataclasses.dataclass(frozen=True)
class RecallingDQNConfig:
    """Settings of `RecallingDQN`.

    Attributes:
      members: networks in the ensemble.
      hidden: units of each of the two hidden layers of a network, and of the one of a prior.
      prior_scale: weight of the priors' values at the start.
      exploration_steps: steps after which half of the exploration is left: of the priors' weight, and of the episodes
        in which one member acts and not the mean of all. It falls on, inversely to the steps.
      max_inputs: observations of more numbers are projected to so many.
      discount: of rewards.
      bootstrap_steps: rewards in a target.
      replay_capacity: number of the latest steps that are stored.
      min_replay_size: steps that must be stored before the first gradient step.
      period: environment steps from a gradient step to the next one.
      batch_size: steps that all members learn from in a gradient step.
      target_period: gradient steps between copies of the networks to the target networks.
      learning_rate: of Adam.
    """

    members: int = at_least(1, 8)
    hidden: int = at_least(1, 32)
    prior_scale: float = between(0, 1e6, 2.0)
    exploration_steps: int = at_least(1, 5_000)
    max_inputs: int = at_least(1, 128)
    discount: float = between(0, 1, 0.99)
    bootstrap_steps: int = at_least(1, 5)
    replay_capacity: int = at_least(2, 10_000)
    min_replay_size: int = at_least(2, 128)
    period: int = at_least(1, 8)
    batch_size: int = at_least(1, 64)
    target_period: int = at_least(1, 4)
    learning_rate: float = between(0, 1, 2e-3)


class Stored(NamedTuple):
    """A step in the replay buffer; with a leading axis. The next row holds the step after it.

    Attributes:
      inputs: float32 (inputs,), before they are normalized.
      prior: the priors' values, float32 (members, actions).
      action: int32 ().
      reward: float32 ().
      discount: float32 (), 0 if the episode terminated.
      is_cut: whether a time limit ended the episode without terminating it, bool ().
    """

    inputs: Any
    prior: Any
    action: Any
    reward: Any
    discount: Any
    is_cut: Any


class Batch(NamedTuple):
    """What a gradient step learns from; every field has a leading axis.

    Attributes:
      inputs, prior, action: of a step, as in `Stored`.
      gain: discounted sum of its reward and the next ones, `bootstrap_steps` in all, float32 ().
      discount: of what comes after them, float32 (), 0 if the episode terminated before.
      is_whole: whether no time limit ended the episode before, bool ().
      last_inputs, last_prior: of the step after them.
    """

    inputs: Any
    prior: Any
    action: Any
    gain: Any
    discount: Any
    is_whole: Any
    last_inputs: Any
    last_prior: Any


class Knowledge(NamedTuple):
    """The state of an agent.

    Attributes:
      networks, targets, priors: parameters of all members.
      optimizer: Adam's state.
      gradient_steps: int32 ().
      replay: the stored steps, `Stored` (replay_capacity, ...).
      statistics: `RunningStatistics` of the inputs.
      episodes: number of episodes so far, int32 ().
      square: mean square of the discounted returns, over the episodes, float32 ().
      largest: the largest one that this was so far, float32 (); rewards are divided by its root.
      active: the member that acts in this episode, -1 for the mean of all, int32 ().
      first: the first observation of the episode, float32 (size,).
      gain: the discounted sum of its rewards so far, float32 ().
      is_new: whether no step of it was taken, bool ().
      inputs, prior: of the step that was chosen last, as in `Stored`.
    """

    networks: Any
    targets: Any
    priors: Any
    optimizer: Any
    gradient_steps: jax.Array
    replay: Any
    statistics: RunningStatistics
    episodes: jax.Array
    square: jax.Array
    largest: jax.Array
    active: jax.Array
    first: jax.Array
    gain: jax.Array
    is_new: jax.Array
    inputs: jax.Array
    prior: jax.Array


class RecallingDQN:
    """Learns in one environment. Its methods are the functions of `envcore_bsuite.agents.Agent`.

    Args:
      env: the environment, one that observes a `Box` and takes actions of a `Discrete`.
      params: its params.
      config: the settings.

    Raises:
      ConfigError: the environment has other spaces, or settings do not fit each other.
    """

    def __init__(self, env: Environment[Any, Any], params: Any, config: RecallingDQNConfig):
        seen, space = env.observation_space(params), env.action_space(params)
        if not isinstance(seen, spaces.Box) or not isinstance(space, spaces.Discrete):
            raise ConfigError(f"RecallingDQN observes a Box and takes actions of a Discrete, {env.name} has others.")
        if not config.bootstrap_steps < config.min_replay_size <= config.replay_capacity:
            limits = "more than bootstrap_steps and at most replay_capacity"
            raise ConfigError(f"min_replay_size must be {limits}, got {config.min_replay_size}.")
        self.config, self._actions = config, space.n
        size = int(np.prod(seen.shape))
        self._size = min(size, config.max_inputs)
        matrix = np.random.default_rng(0).normal(size=(size, self._size)).astype(np.float32)
        self._projection = matrix if size > config.max_inputs else None
        self._optimizer = optax.adam(config.learning_rate)

    def init(self, key: jax.Array) -> Knowledge:
        """What an agent knows before its first step."""
        key_network, key_prior = random.split(key)
        hidden, members, inputs = self.config.hidden, self.config.members, jnp.zeros(2 * self._size)
        networks = ensemble.init(key_network, members, (inputs.size, hidden, hidden, self._actions))
        priors = ensemble.init(key_prior, members, (inputs.size, hidden, self._actions))
        prior = jnp.zeros((members, self._actions))
        struct = Stored(inputs, prior, jnp.int32(0), jnp.float32(0), jnp.float32(0), jnp.bool_(False))
        zero, none = jnp.int32(0), jnp.float32(0)
        return Knowledge(
            networks=networks,
            targets=networks,
            priors=priors,
            optimizer=self._optimizer.init(networks),
            gradient_steps=zero,
            replay=replay.empty(struct, self.config.replay_capacity),
            statistics=jax.tree.map(jnp.asarray, RunningStatistics.empty(inputs.shape)),
            episodes=zero,
            square=none,
            largest=none,
            active=zero,
            first=jnp.zeros(self._size),
            gain=none,
            is_new=jnp.bool_(True),
            inputs=inputs,
            prior=prior,
        )

    def act(self, knowledge: Knowledge, obs: Any, key: jax.Array) -> tuple[jax.Array, Knowledge]:
        """The best action by what acts in this episode; ties are broken at random."""
        seen = self._seen(obs)
        first = jnp.where(knowledge.is_new, seen, knowledge.first)
        inputs = jnp.concatenate([seen, first])
        statistics = knowledge.statistics.update(inputs, jnp.bool_(True))
        knowledge = knowledge._replace(first=first, statistics=statistics, inputs=inputs)
        prior = ensemble.outputs(knowledge.priors, _normalized(statistics, inputs[None]))[0]
        members = self._member_values(knowledge.networks, knowledge, inputs[None], prior[None])[0]
        values = jnp.where(knowledge.active < 0, members.mean(0), members[knowledge.active])
        chance = random.uniform(key, values.shape)
        action = jnp.where(values == values.max(), chance, -1).argmax().astype(jnp.int32)
        return action, knowledge._replace(prior=prior)

    def update(self, knowledge: Knowledge, step: Any, key: jax.Array) -> Knowledge:
        """Stores the step that was chosen last, and learns in every `period`-th one."""
        key_mode, key_member, key_learn = random.split(key, 3)
        number, discount = step.info["step"], step.info["discount"]
        row = Stored(knowledge.inputs, knowledge.prior, step.action, step.reward, discount, step.done & (discount > 0))
        stored = replay.add(knowledge.replay, jax.tree.map(lambda x: x[None], row), number)
        gain = knowledge.gain * self.config.discount + step.reward
        episodes = knowledge.episodes + step.done.astype(jnp.int32)
        square = knowledge.square + step.done * (gain**2 - knowledge.square) / jnp.maximum(episodes, 1)
        drawn = random.below(random.bits(key_member), self.config.members)
        drawn = jnp.where(random.uniform(key_mode) < self._exploration(knowledge), drawn, -1)
        knowledge = knowledge._replace(
            replay=stored,
            episodes=episodes,
            square=square,
            largest=jnp.maximum(knowledge.largest, square),
            active=jnp.where(step.done, drawn, knowledge.active),
            gain=jnp.where(step.done, 0, gain),
            is_new=step.done,
        )
        count = number + jnp.int32(1)
        learns = (count >= self.config.min_replay_size) & (count % self.config.period == 0)
        return jax.lax.cond(learns, self._learn, lambda knowledge, *_: knowledge, knowledge, count, key_learn)

    def _seen(self, obs: Any) -> jax.Array:
        """The observation as float32 (size,)."""
        seen = obs.reshape(-1).astype(jnp.float32)
        if self._projection is None:
            return seen
        seen = seen @ self._projection
        return seen / jnp.sqrt((seen**2).mean() + 1e-12)

    def _exploration(self, knowledge: Knowledge) -> jax.Array:
        """The share of the exploration that is left, float32 ()."""
        return 1 / (1 + knowledge.statistics.count / self.config.exploration_steps)

    def _learn(self, knowledge: Knowledge, count: jax.Array, key: jax.Array) -> Knowledge:
        batch = self._sample(knowledge.replay, count, key)
        gradients = jax.grad(self._loss)(knowledge.networks, knowledge, batch)
        updates, optimizer = self._optimizer.update(gradients, knowledge.optimizer)
        networks = optax.apply_updates(knowledge.networks, updates)
        number = knowledge.gradient_steps + jnp.int32(1)
        targets = trees.where(number % self.config.target_period == 0, networks, knowledge.targets)
        return knowledge._replace(networks=networks, targets=targets, optimizer=optimizer, gradient_steps=number)

    def _sample(self, stored: Stored, count: jax.Array, key: jax.Array) -> Batch:
        """Draws steps after which `bootstrap_steps` more are stored; `count` steps were taken so far."""
        capacity, ahead = self.config.replay_capacity, self.config.bootstrap_steps
        choices = jnp.minimum(count, capacity) - ahead
        drawn = (random.uniform(key, (self.config.batch_size,)) * choices).astype(jnp.int32)
        first = count - 1 - ahead - jnp.minimum(drawn, choices - 1)
        rows = (first[:, None] + np.arange(ahead)) % capacity
        gain, discount = jnp.zeros(first.shape), jnp.ones(first.shape)
        for reward, going_on in zip(stored.reward[rows].T, stored.discount[rows].T, strict=True):
            gain, discount = gain + discount * reward, self.config.discount * discount * going_on
        start, last = first % capacity, (first + ahead) % capacity
        is_whole = ~stored.is_cut[rows].any(-1)
        steps = [(stored.inputs[row], stored.prior[row]) for row in (start, last)]
        return Batch(*steps[0], stored.action[start], gain, discount, is_whole, *steps[1])

    def _loss(self, networks: Any, knowledge: Knowledge, batch: Batch) -> jax.Array:
        """The sum of the members' mean squared errors, so that none of them affects another one's gradient."""
        values = self._member_values(networks, knowledge, batch.inputs, batch.prior)
        last_values = self._member_values(knowledge.targets, knowledge, batch.last_inputs, batch.last_prior)
        scale = jnp.where(knowledge.largest > 0, jax.lax.rsqrt(knowledge.largest), 1)
        target = (scale * batch.gain)[:, None] + batch.discount[:, None] * last_values.max(-1)
        is_taken = jnp.arange(self._actions) == batch.action[:, None, None]
        errors = jnp.where(is_taken, values, 0).sum(-1) - target
        return jnp.where(batch.is_whole[:, None], errors**2, 0).mean(0).sum()

    def _member_values(
        self, layers: ensemble.Layers, knowledge: Knowledge, inputs: jax.Array, prior: jax.Array
    ) -> jax.Array:
        """The values of all members, learned ones and priors, float32 (N, members, actions)."""
        scale = self.config.prior_scale * self._exploration(knowledge)
        return ensemble.outputs(layers, _normalized(knowledge.statistics, inputs)) + scale * prior


def _normalized(statistics: RunningStatistics, inputs: jax.Array) -> jax.Array:
    return jnp.clip(statistics.normalized(inputs), -_LARGEST, _LARGEST)
