"""DQN that counts what it has seen, recalls how the episode began, and learns from whole returns.

For the experiments of bsuite (Osband et al. 2020, "Behaviour suite for reinforcement learning"), one environment at a
time. What differs from `dqn`:

- Exploration by counts, where observations recur exactly. An action that was never taken is worth trying (Rashid et
  al. 2020, "Optimistic exploration even with a pessimistic initialisation"), and a second network learns how much is
  left to be seen: its rewards are inversely proportional to the number of times that an action was taken (Kolter & Ng
  2009, "Near-Bayesian exploration in polynomial time"). Where every observation is new, counts say nothing. It explores
  in most episodes as long as the others earn nothing, and later in a few.
- Mixed Monte Carlo targets (Bellemare et al. 2016, "Unifying count-based exploration and intrinsic motivation"): a
  target is in part the undiscounted return of the episode, so a reward is felt a hundred steps before. The part is
  larger the more episodes are stored.
- A memory without backpropagation through time: the network sees the observation, the first one of the episode, and
  whether they are the same step.
- It does not depend on the scale of what it sees. Inputs are shifted and scaled to mean 0 and variance 1, and rewards
  are divided by the root mean square of the returns.
- Less work in a step: a gradient step in every `period`-th step only, and many observations are projected at random to
  few numbers, which keeps their distances (Johnson & Lindenstrauss 1984).
- The learning rate of the values falls, because rewards with noise need an average over many episodes.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from envcore import random, spaces
from envcore.environment import Environment
from envcore.wrappers import RunningStatistics
from flax import linen as nn

from envcore_baselines.bsuite import visits as places
from envcore_baselines.bsuite.visits import Visits
from envcore_baselines.dqn import add, chosen, empty, gradient_step
from envcore_baselines.errors import ConfigError

_LARGEST = 10.0  # of an input, after normalization


Fraction = Annotated[float, (0, 1)]


@dataclasses.dataclass(frozen=True)
class CountingDQNConfig:
    """Settings of `CountingDQN`. Values are in units of the root mean square of the returns.

    Attributes:
      hidden: units of each of the two hidden layers.
      exploration: the fraction of episodes in which it explores by counts, as long as the others earn nothing.
      late_exploration: the fraction once they do.
      earning_episodes: latest ones over which what they earn is averaged.
      optimism: value of an action that was never taken in a place, beside what the network says; it falls with the
        square of the times that it was taken.
      bonus: reward of the exploration for taking an action for the first time; it falls inversely to the times.
      bonus_steps: mean length of episodes from which on the bonus of a step falls inversely to it.
      epsilon: the fraction of random actions at the start.
      epsilon_steps: steps after which half of them is left; it falls on, inversely to the steps.
      max_inputs: observations of more numbers are projected to so many.
      discount: of rewards in the targets of `bootstrap_steps` steps.
      bootstrap_steps: rewards in such a target.
      return_episodes: stored episodes with which the episode's return is half of a target; the more there are, the
        larger its share.
      replay_capacity: number of the latest steps that are stored.
      min_replay_size: steps that must be stored before the first gradient step.
      period: environment steps from a gradient step to the next one.
      batch_size: steps in a gradient step.
      target_period: gradient steps between copies of the network to the target network.
      learning_rate: of Adam, at the start.
      learning_rate_steps: gradient steps after which it is half; it falls on, inversely to the steps.
    """

    hidden: int = 64
    exploration: Fraction = 0.75
    late_exploration: Fraction = 0.1
    earning_episodes: int = 500
    optimism: float = 2.0
    bonus: float = 10.0
    bonus_steps: int = 50
    epsilon: Fraction = 0.2
    epsilon_steps: int = 5_000
    max_inputs: int = 128
    discount: Fraction = 0.99
    bootstrap_steps: int = 5
    return_episodes: int = 100
    replay_capacity: Annotated[int, (2, 2**31 - 1)] = 10_000
    min_replay_size: Annotated[int, (2, 2**31 - 1)] = 128
    period: int = 8
    batch_size: int = 64
    target_period: int = 4
    learning_rate: Fraction = 2e-3
    learning_rate_steps: int = 1_000


class Head(nn.Module):
    """A number for each action; all are 0 at the start.

    Attributes:
      hidden: units of each of the two hidden layers.
      actions: number of actions.
    """

    hidden: int
    actions: int

    @nn.compact
    def __call__(self, inputs: jax.Array) -> jax.Array:
        """Maps inputs, float32 (N, size), to float32 (N, actions)."""
        x = inputs
        for _ in range(2):
            x = nn.relu(nn.Dense(self.hidden)(x))
        return nn.Dense(self.actions, kernel_init=nn.initializers.zeros)(x)


class Stored(NamedTuple):
    """A step in the replay buffer; with a leading axis. The next row holds the step after it.

    Attributes:
      inputs: float32 (inputs,), before they are normalized.
      cell: where its observation's visits are counted, int32 (), -1 if they are not.
      action: int32 ().
      reward: float32 ().
      discount: float32 (), 0 if the episode terminated.
      is_cut: whether a time limit ended the episode without terminating it, bool ().
      episode: its number, int32 ().
      earlier: the sum of the episode's rewards before this one, float32 ().
    """

    inputs: Any
    cell: Any
    action: Any
    reward: Any
    discount: Any
    is_cut: Any
    episode: Any
    earlier: Any


class Batch(NamedTuple):
    """What a gradient step learns from; every field has a leading axis.

    Attributes:
      inputs, action: of a step, as in `Stored`.
      gain, bonus: discounted sums of the next `bootstrap_steps` rewards and bonuses, from this step on, float32 ().
      discount: of what comes after them, float32 (), 0 if the episode terminated before.
      is_whole: whether no time limit ended the episode before, bool ().
      last_inputs, last_cell: of the step after them.
      rest: the sum of the episode's rewards from this step on, float32 ().
      share: weight of `rest` in the target, float32 (), 0 if the episode has not terminated.
    """

    inputs: Any
    action: Any
    gain: Any
    bonus: Any
    discount: Any
    is_whole: Any
    last_inputs: Any
    last_cell: Any
    rest: Any
    share: Any


class Learned(NamedTuple):
    """What a gradient step changes.

    Attributes:
      network: the parameters of two `Head`s: `values` of actions, and `novelties`, what there is to see after them.
      target: those that the targets are computed with.
      optimizer: Adam's states.
      gradient_steps: int32 ().
    """

    network: Any
    target: Any
    optimizer: Any
    gradient_steps: jax.Array


class CountingDQNState(NamedTuple):
    """The state of an agent.

    Attributes:
      learned: `Learned`.
      replay: the stored steps, `Stored` (replay_capacity, ...).
      returns: of the latest episodes, at their number modulo `replay_capacity`, float32 (replay_capacity,).
      is_cut: whether a time limit ended each of them, bool (replay_capacity,).
      visits: `Visits` of the observations.
      statistics: `RunningStatistics` of the inputs.
      episodes: number of episodes that have ended, int32 ().
      square: mean square of the returns, over the episodes, float32 ().
      largest: the largest one that this was so far, float32 (); rewards are divided by its root.
      earned: mean return of the latest episodes in which it did not explore, float32 ().
      num_earning: number of these episodes, int32 ().
      explores: whether it explores in this episode, bool ().
      first: the first observation of the episode, float32 (size,).
      gain: the sum of its rewards so far, float32 ().
      is_new: whether no step of it was taken, bool ().
      inputs, cell: of the step that was chosen last, as in `Stored`.
    """

    learned: Learned
    replay: Any
    returns: jax.Array
    is_cut: jax.Array
    visits: Visits
    statistics: RunningStatistics
    episodes: jax.Array
    square: jax.Array
    largest: jax.Array
    earned: jax.Array
    num_earning: jax.Array
    explores: jax.Array
    first: jax.Array
    gain: jax.Array
    is_new: jax.Array
    inputs: jax.Array
    cell: jax.Array


class CountingDQN:
    """Learns in one environment. Its methods are the functions of `envcore_bsuite.agents.Agent`.

    Args:
      env: the environment, one that observes a `Box` and takes actions of a `Discrete`.
      params: its params.
      config: the settings.

    Raises:
      ConfigError: the environment has other spaces, or settings do not fit each other.
    """

    def __init__(self, env: Environment, params: Any, config: CountingDQNConfig):
        seen, space = env.observation_space(params), env.action_space(params)
        if not isinstance(seen, spaces.Box) or not isinstance(space, spaces.Discrete):
            raise ConfigError(f"CountingDQN observes a Box and takes actions of a Discrete, {env.name} has others.")
        if not config.bootstrap_steps < config.min_replay_size <= config.replay_capacity:
            limits = "more than bootstrap_steps and at most replay_capacity"
            raise ConfigError(f"min_replay_size must be {limits}, got {config.min_replay_size}.")
        self.config, self._actions = config, space.n
        size = int(np.prod(seen.shape))
        self._size, self._projection = min(size, config.max_inputs), None
        if size > config.max_inputs:
            self._projection = np.random.default_rng(0).normal(size=(size, self._size)).astype(np.float32)
        self._network = Head(config.hidden, self._actions)
        falling = optax.adam(lambda step: config.learning_rate / (1 + step / config.learning_rate_steps))
        constant = optax.adam(config.learning_rate)
        self._optimizer = optax.partition(
            {"values": falling, "novelties": constant}, {"values": "values", "novelties": "novelties"}
        )

    def init(self, key: jax.Array) -> CountingDQNState:
        """What an agent knows before its first step."""
        inputs, zero, none = jnp.zeros(2 * self._size + 1), jnp.int32(0), jnp.float32(0)
        keys = dict(zip(("values", "novelties"), random.split(key), strict=True))
        network = {name: self._network.init(each, inputs[None]) for name, each in keys.items()}
        row = Stored(inputs, zero, zero, none, none, jnp.bool_(False), zero, none)
        capacity = self.config.replay_capacity
        return CountingDQNState(
            learned=Learned(network, network, self._optimizer.init(network), zero),
            replay=empty(row, capacity),
            returns=jnp.zeros(capacity),
            is_cut=jnp.zeros(capacity, jnp.bool_),
            visits=places.empty(self._actions),
            statistics=jax.tree.map(jnp.asarray, RunningStatistics.empty(inputs.shape)),
            episodes=zero,
            square=none,
            largest=none,
            earned=none,
            num_earning=zero,
            explores=jnp.bool_(True),
            first=jnp.zeros(self._size),
            gain=none,
            is_new=jnp.bool_(True),
            inputs=inputs,
            cell=zero,
        )

    def act(self, agent_state: CountingDQNState, obs: Any, key: jax.Array) -> tuple[jax.Array, CountingDQNState]:
        """The action that promises most, by its value and by what there is to see; ties are broken at random."""
        numbers = obs.reshape(-1).astype(jnp.float32)
        visits, cell = places.visit(agent_state.visits, numbers)
        seen = self._projected(numbers)
        first = jnp.where(agent_state.is_new, seen, agent_state.first)
        inputs = jnp.concatenate([seen, first, agent_state.is_new.astype(jnp.float32)[None]])
        statistics = agent_state.statistics.update(inputs, jnp.bool_(True))
        agent_state = agent_state._replace(visits=visits, cell=cell, first=first, inputs=inputs, statistics=statistics)
        values, novelties = self._values(agent_state.learned.network, agent_state, inputs[None])
        novelty = visits.recurrence * self._unseen(agent_state, novelties, cell[None])
        values = (values + jnp.where(agent_state.explores, novelty, 0))[0]
        chance = random.uniform(key, (1 + self._actions,))
        epsilon = self.config.epsilon / (1 + visits.total / self.config.epsilon_steps)
        values = jnp.where(chance[0] < epsilon, 0, values)
        action = jnp.where(values == values.max(), chance[1:], -1).argmax().astype(jnp.int32)
        return action, agent_state

    def update(self, agent_state: CountingDQNState, step: Any, key: jax.Array) -> CountingDQNState:
        """Stores the step that was chosen last, and learns in every `period`-th one."""
        number, discount, episodes = step.info["step"], step.info["discount"], agent_state.episodes
        is_cut = step.done & (discount > 0)
        row = Stored(
            agent_state.inputs, agent_state.cell, step.action, step.reward, discount, is_cut, episodes, agent_state.gain
        )
        stored = add(agent_state.replay, jax.tree.map(lambda x: x[None], row), number)
        gain, place = agent_state.gain + step.reward, episodes % self.config.replay_capacity
        episodes = episodes + step.done.astype(jnp.int32)
        square = agent_state.square + step.done * (gain**2 - agent_state.square) / jnp.maximum(episodes, 1)
        key, key_explores = random.split(key)
        agent_state = self._with_next_mode(agent_state, step.done, gain, key_explores)._replace(
            replay=stored,
            returns=agent_state.returns.at[place].set(gain),
            is_cut=agent_state.is_cut.at[place].set(is_cut),
            visits=places.count(agent_state.visits, agent_state.cell, step.action),
            episodes=episodes,
            square=square,
            largest=jnp.maximum(agent_state.largest, square),
            gain=jnp.where(step.done, 0, gain),
            is_new=step.done,
        )
        count = number + jnp.int32(1)
        learns = (count >= self.config.min_replay_size) & (count % self.config.period == 0)
        learned = jax.lax.cond(
            learns, self._learn, lambda agent_state, *_: agent_state.learned, agent_state, count, key
        )
        return agent_state._replace(learned=learned)

    def _with_next_mode(
        self, agent_state: CountingDQNState, done: jax.Array, gain: jax.Array, key: jax.Array
    ) -> CountingDQNState:
        """Draws whether it explores in the next episode, where one has ended with the return `gain`."""
        earns = done & ~agent_state.explores
        num_earning = agent_state.num_earning + earns.astype(jnp.int32)
        rate = earns / jnp.clip(num_earning, 1, self.config.earning_episodes)
        earned = agent_state.earned + rate * (gain - agent_state.earned)
        share = jnp.where(earned > 0, self.config.late_exploration, self.config.exploration)
        explores = jnp.where(done, random.uniform(key) < share, agent_state.explores)
        return agent_state._replace(earned=earned, num_earning=num_earning, explores=explores)

    def _projected(self, numbers: jax.Array) -> jax.Array:
        """The observation, or its projection if it has more numbers than `max_inputs`, float32 (size,)."""
        if self._projection is None:
            return numbers
        seen = numbers @ self._projection
        return seen / jnp.sqrt((seen**2).mean() + 1e-12)

    def _learn(self, agent_state: CountingDQNState, count: jax.Array, key: jax.Array) -> Learned:
        learned, batch = agent_state.learned, self._sample(agent_state, count, key)
        gradients = jax.grad(self._loss)(learned.network, agent_state, batch)
        return gradient_step(learned, gradients, self._optimizer, self.config.target_period)

    def _sample(self, agent_state: CountingDQNState, count: jax.Array, key: jax.Array) -> Batch:
        """Draws steps after which `bootstrap_steps` more are stored; `count` steps were taken so far."""
        stored, capacity, ahead = agent_state.replay, self.config.replay_capacity, self.config.bootstrap_steps
        choices = jnp.minimum(count, capacity) - ahead
        drawn = (random.uniform(key, (self.config.batch_size,)) * choices).astype(jnp.int32)
        first = count - 1 - ahead - jnp.minimum(drawn, choices - 1)
        rows = (first[:, None] + np.arange(ahead)) % capacity
        taken = jnp.take_along_axis(
            places.counts(agent_state.visits, stored.cell[rows]), stored.action[rows][..., None], axis=-1
        )[..., 0]
        length = count / jnp.maximum(agent_state.episodes, 1)
        bonuses = self.config.bonus * jnp.minimum(1, self.config.bonus_steps / length) / (1 + taken)
        gain, bonus, discount = jnp.zeros(first.shape), jnp.zeros(first.shape), jnp.ones(first.shape)
        for reward, extra, going_on in zip(stored.reward[rows].T, bonuses.T, stored.discount[rows].T, strict=True):
            gain, bonus = gain + discount * reward, bonus + discount * extra
            discount = self.config.discount * discount * going_on
        start, last = first % capacity, (first + ahead) % capacity
        episode = stored.episode[start]
        place = episode % capacity
        has_ended = (episode < agent_state.episodes) & ~agent_state.is_cut[place]
        num_episodes = agent_state.episodes - stored.episode[jnp.maximum(count - capacity, 0) % capacity]
        return Batch(
            inputs=stored.inputs[start],
            action=stored.action[start],
            gain=gain,
            bonus=bonus,
            discount=discount,
            is_whole=~stored.is_cut[rows].any(-1),
            last_inputs=stored.inputs[last],
            last_cell=stored.cell[last],
            rest=agent_state.returns[place] - stored.earlier[start],
            share=jnp.where(has_ended, num_episodes / (num_episodes + self.config.return_episodes), 0),
        )

    def _loss(self, network: Any, agent_state: CountingDQNState, batch: Batch) -> jax.Array:
        """The mean squared error of both heads; the values' targets are those of episodes without exploration."""
        scale = jnp.where(agent_state.largest > 0, jax.lax.rsqrt(agent_state.largest), 1)
        last_values, last_novelties = self._values(agent_state.learned.target, agent_state, batch.last_inputs)
        unseen = self._unseen(agent_state, last_novelties, batch.last_cell)
        best = (last_values + agent_state.visits.recurrence * unseen).argmax(-1)
        target = scale * batch.gain + batch.discount * last_values.max(-1)
        target = (1 - batch.share) * target + batch.share * scale * batch.rest
        novelty_target = batch.bonus + batch.discount * chosen(unseen, best)
        values, novelties = self._values(network, agent_state, batch.inputs)
        errors = (chosen(values, batch.action) - target) ** 2
        novelty_errors = (chosen(novelties, batch.action) - novelty_target) ** 2
        return jnp.where(batch.is_whole, errors + novelty_errors, 0).mean()

    def _values(self, network: Any, agent_state: CountingDQNState, inputs: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The values of all actions, and how much there is to see after them, both float32 (N, actions)."""
        inputs = jnp.clip(agent_state.statistics.normalized(inputs), -_LARGEST, _LARGEST)
        values: Any = self._network.apply(network["values"], inputs)
        novelties: Any = self._network.apply(network["novelties"], inputs)
        return values, novelties

    def _unseen(self, agent_state: CountingDQNState, novelties: jax.Array, cells: jax.Array) -> jax.Array:
        """How much there is to see after each action, by the network and by the counts, float32 (N, actions)."""
        return novelties + self.config.optimism / (1 + places.counts(agent_state.visits, cells)) ** 2
