"""Bootstrapped DQN with randomized prior functions.

Osband et al. 2016, "Deep exploration via bootstrapped DQN". Osband et al. 2018, "Randomized prior functions for deep
reinforcement learning".

Unlike in `dqn.py`, the agent is an ensemble. The values of each member are the sum of a trained network and a fixed
random network, the prior. Each member trains on a random subset of the transitions. For every episode the agent draws
one member and acts greedily with its values. Members disagree where they have seen little, so the agent explores these
states, with a consistent plan for the whole episode.

The default settings match bsuite's JAX baseline (Osband et al. 2020, "Behaviour suite for reinforcement learning"):
every member trains on all transitions. The baseline's noise on rewards is left out, because it is 0 by default. Two
things differ. The baseline acts for a whole episode with the weights that its member had at the start, while here the
weights keep training. The baseline's target network has different initial weights until the first update.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from envcore import random
from envcore.environment import Environment

from envcore_baselines.dqn import DQN, DQNConfig, Transition, add, empty
from envcore_baselines.learner import epsilon_greedy, masked, split_mask
from envcore_baselines.settings import Fraction, Positive, Weight


@dataclasses.dataclass(frozen=True)
class BootstrappedDQNConfig(DQNConfig):
    """Settings of `BootstrappedDQN`. Some settings of `DQN` have other defaults.

    Attributes:
      members: number of networks in the ensemble.
      prior_scale: weight of the priors' values.
      mask_probability: probability that a member trains on a transition.
    """

    min_replay_size: Positive = 128
    batch_size: Positive = 128
    epsilon: Fraction = 0.0
    hidden: tuple[Positive, ...] = (50, 50)
    members: Positive = 20
    prior_scale: Weight = 5.0
    mask_probability: Fraction = 1.0


class Stored(NamedTuple):
    """A transition in the replay buffer. In the buffer and in batches, leaves have a leading axis.

    Attributes:
      transition: the transition.
      prior, next_prior: the priors' values of its two observations, float32 (members, actions). They never change.
      mask: whether each member trains on it, bool (members,).
    """

    transition: Any
    prior: Any
    next_prior: Any
    mask: Any


class EnsembleState(NamedTuple):
    """The trained parameters, the optimizer's state and the replay buffer.

    Attributes:
      network, target, optimizer: as in `dqn.AgentState`, for all members, (members, ...).
      gradient_steps: number of gradient steps so far, int32 ().
      replay: the stored transitions, `Stored` (replay_capacity, ...).
      prior: the parameters of the priors, (members, ...).
      active: the member that acts in each environment, int32 (num_envs,).
    """

    network: Any
    target: Any
    optimizer: Any
    gradient_steps: jax.Array
    replay: Any
    prior: Any
    active: jax.Array

    @property
    def agent(self) -> Any:
        """The first argument of `act`."""
        return self.network, self.prior


class BootstrappedDQN(DQN):
    """Bootstrapped DQN for one environment. Arguments, attributes and errors are as for `DQN`, without `network`."""

    Config = BootstrappedDQNConfig
    config: BootstrappedDQNConfig

    def __init__(self, env: Environment, params: Any, config: BootstrappedDQNConfig | None = None):
        super().__init__(env, params, config)

    def start_memory(self) -> jax.Array:
        """The member that acts in an episode, int32 (). -1 before it is drawn."""
        return jnp.int32(-1)

    def act(
        self, agent: Any, memory: jax.Array, obs: Any, key: jax.Array, greedy: bool = False
    ) -> tuple[jax.Array, jax.Array]:
        """Returns the action for one observation of `env`, by the members' mean if `greedy`, and the member."""
        values = self._values(agent, jax.tree.map(lambda x: x[None], obs))[:, 0]
        if greedy:
            return values.mean(0).argmax().astype(jnp.int32), memory
        key, key_member = random.split(key)
        drawn = random.integers(random.bits(key_member), self.config.members)
        member = jnp.where(memory < 0, drawn, memory)
        return epsilon_greedy(values[member][None], self.config.epsilon, key)[0], member

    def start(self, key: jax.Array) -> EnsembleState:
        networks, priors = (
            jax.vmap(self._init_network)(random.split(each, self.config.members)) for each in random.split(key)
        )
        values = jax.ShapeDtypeStruct((self.config.members, self._network.sizes[-1]), jnp.float32)
        mask = jax.ShapeDtypeStruct((self.config.members,), jnp.bool_)
        stored = empty(Stored(self._transition, values, values, mask), self.config.replay_capacity)
        active = jnp.zeros(self.config.num_envs, jnp.int32)
        optimizer = self._optimizer.init(networks)
        return EnsembleState(networks, networks, optimizer, jnp.int32(0), stored, priors, active)

    def explore(self, agent_state: EnsembleState, obs: Any, key: jax.Array) -> jax.Array:
        def values(obs: Any, active: jax.Array) -> jax.Array:
            member = jax.tree.map(lambda x: x[active][None], agent_state.agent)
            return self._values(member, jax.tree.map(lambda x: x[None], obs))[0, 0]

        return epsilon_greedy(jax.vmap(values)(obs, agent_state.active), self.config.epsilon, key)

    def record(
        self, agent_state: EnsembleState, transitions: Transition, done: jax.Array, steps: jax.Array, key: jax.Array
    ) -> EnsembleState:
        """Stores a step of each environment, and draws a new member where an episode ended."""
        key_mask, key_active = random.split(key)
        mask = random.uniform(key_mask, (done.size, self.config.members)) < self.config.mask_probability
        prior, next_prior = (
            self._prior_values(agent_state.prior, obs).swapaxes(0, 1) for obs in (transitions.obs, transitions.next_obs)
        )
        drawn = random.integers(random.bits(key_active, done.shape), self.config.members)
        rows = Stored(transitions, prior, next_prior, mask)
        stored = add(agent_state.replay, rows, steps * self.config.num_envs)
        return agent_state._replace(replay=stored, active=jnp.where(done, drawn, agent_state.active))

    def _loss(self, network: Any, agent_state: EnsembleState, batch: Stored) -> jax.Array:
        """The sum of the members' mean squared errors, so that members do not affect each other's gradients."""
        transition = batch.transition
        values = self._learned_values(network, transition.obs) + batch.prior.swapaxes(0, 1)
        next_values = self._learned_values(agent_state.target, transition.next_obs) + batch.next_prior.swapaxes(0, 1)
        next_values = masked(next_values, split_mask(transition.next_obs)[1])
        errors = jax.vmap(self._errors, (0, 0, None))(values, next_values, transition)
        return jnp.where(batch.mask.T, errors**2, 0).mean(1).sum()

    def _values(self, agent: Any, obs: Any) -> jax.Array:
        """The action values of all members for N observations, float32 (members, N, actions)."""
        networks, priors = agent
        return masked(self._learned_values(networks, obs) + self._prior_values(priors, obs), split_mask(obs)[1])

    def _learned_values(self, networks: Any, obs: Any) -> jax.Array:
        obs, _ = split_mask(obs)
        return jax.vmap(self._network.apply, (0, None))(networks, obs)

    def _prior_values(self, priors: Any, obs: Any) -> jax.Array:
        return self.config.prior_scale * self._learned_values(priors, obs)
