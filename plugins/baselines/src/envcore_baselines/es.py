"""OpenAI's evolution strategy, in one file.

Salimans et al. 2017, "Evolution strategies as a scalable alternative to reinforcement learning".

To train an agent, run `python es.py CartPole-v1`. Read the file from top to bottom: settings, policy, learner.

An update is one generation: sample a population from a normal distribution over the policy's parameters, play whole
episodes with every member, and update the distribution with the mean returns. evosax's `Open_ES` samples and updates.
Members come in pairs on either side of the mean, returns are replaced by their ranks, and Adam moves the mean.

All members of a generation play the same episodes, with the same initial states and random numbers at each step. So
differences between their returns come from the policies only.

The policy needs no gradients, so it is deterministic: the action with the highest output, or the outputs themselves
for continuous actions. With the setting `memory` it remembers the episode so far.

An update is a pure function, so a training is a `scan` of updates and many seeds are a `vmap`.
"""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any, NamedTuple

import jax
import jax.numpy as jnp
import msgspec
import numpy as np
import optax
from envcore import random, spaces, trees
from envcore.environment import NO_TIME_LIMIT, Environment
from envcore.wrappers import Batched, RunningStatistics
from evosax.algorithms import Open_ES
from evosax.core.fitness_shaping import centered_rank_fitness_shaping_fn
from flax import linen as nn

from envcore_baselines.learner import RolloutLearner, flattened, main, split_mask
from envcore_baselines.ppo import Normal, distribution_of
from envcore_baselines.settings import Fraction, Natural, Positive, Steps, Weight

_CHUNK = 20  # steps between checks whether all episodes have ended


@dataclasses.dataclass(frozen=True)
class ESConfig:
    """Settings of `ES`.

    Attributes:
      total_steps: minimum number of environment steps per agent. An episode that ends early counts as if it reached the
        limit.
      population_size: members per generation, an even number.
      episodes: episodes per member and generation. The mean return is the member's fitness.
      max_steps: maximum steps of an episode in training, or 0 for the environment's time limit.
      elite: fraction of members with the best returns that the mean moves towards, most towards the best one. Use it if
        most members have about the same return and success is rare. With 0, the mean moves towards all members with a
        good rank and away from members with a bad one.
      std: standard deviation of the parameters' distribution in the first generation.
      final_std: standard deviation in the last generation, with geometric decay in between.
      learning_rate: initial learning rate of Adam.
      anneal: whether to anneal the learning rate linearly to zero.
      normalize_observations: whether to normalize observations to mean 0 and variance 1.
      hidden: units of the hidden layers.
      memory: units of the recurrent layer after the hidden layers, 0 for no memory.
    """

    total_steps: Steps = 10_000_000
    population_size: Positive = 128
    episodes: Positive = 2
    max_steps: Natural = 0
    elite: Fraction = 0.0
    std: Annotated[float, msgspec.Meta(gt=0, le=10**6)] = 0.5
    final_std: Annotated[float, msgspec.Meta(gt=0, le=10**6)] = 0.05
    learning_rate: Weight = 0.05
    anneal: bool = True
    normalize_observations: bool = True
    hidden: tuple[Positive, ...] = (16, 16)
    memory: Natural = 0


class Policy(nn.Module):
    """Fully connected layers. With a memory, a gated recurrent unit (Cho et al. 2014) comes before the last one.

    Attributes:
      hidden, memory: as in `ESConfig`.
      num_outputs: units of the last layer.
    """

    hidden: tuple[int, ...]
    memory: int
    num_outputs: int

    @nn.compact
    def __call__(self, memory: Any, obs: jax.Array) -> tuple[jax.Array, Any]:
        """Takes a step of N episodes.

        Args:
          memory: float32 (N, memory), or () without a memory.
          obs: float32 (N, *shape).

        Returns:
          Outputs, (N, num_outputs), and the memory after the step.
        """
        outputs = obs.reshape(obs.shape[0], -1)
        for units in self.hidden:
            outputs = nn.tanh(nn.Dense(units)(outputs))
        if self.memory:
            # The default orthogonal weights take 10 s to compile.
            cell = nn.GRUCell(self.memory, recurrent_kernel_init=nn.initializers.lecun_normal())
            memory, outputs = cell(memory, outputs)
        return nn.Dense(self.num_outputs)(outputs), memory


class Outputs(Normal):
    """Deterministic continuous actions. Outputs, float32 (..., num_outputs), of -1 and 1 are the action bounds."""

    def __init__(self, space: spaces.Box):
        super().__init__(space)
        self.num_outputs = self.num_constants

    def mode(self, outputs: jax.Array) -> jax.Array:
        return jnp.clip(self._action(outputs), *self.bounds)


class ESAgent(NamedTuple):
    """The first argument of `act`.

    Attributes:
      policy: the parameters of `Policy`, which are the mean of the distribution.
      statistics: mean and variance of the observations so far, used only if observations are normalized.
    """

    policy: Any
    statistics: RunningStatistics


class ESState(NamedTuple):
    """The training state, which one generation maps to the next."""

    agent: ESAgent
    strategy: Any
    key: jax.Array


class ES(RolloutLearner):
    """Evolution strategy for one environment.

    Args:
      env: an environment that observes a `Box`, a `Discrete` or a collection of them. The action space is a `Discrete`
        or a float `Box`.
      params: params of the environment.
      config: the settings.
      distribution: distribution for other action spaces, with `num_outputs`, `mode(outputs)` and, for action masks,
        `masked(outputs, mask)`.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes. It is the one that you passed if it observes a `Box` or is
        an `ActionMaskObservation`, with which the agent takes only legal actions. Otherwise it is flattened.

    Raises:
      ValueError: the settings do not fit each other or the environment.
    """

    Config = ESConfig

    def __init__(self, env: Environment, params: Any, config: ESConfig | None = None, distribution: Any = None):
        config = ESConfig() if config is None else config
        if config.population_size % 2:
            raise ValueError(f"population_size must be even, got {config.population_size}.")
        self.config, self._params = config, params
        self.env = flattened(env, params)
        self._obs = jax.eval_shape(lambda key: split_mask(self.env.reset(key, params)[0])[0], jax.random.key(0))
        self._episodes = Batched(self.env, config.episodes)
        self._max_steps = _max_steps(env, params, config)
        self._distribution: Any = distribution or distribution_of(env, params, Outputs)
        self._policy = Policy(config.hidden, config.memory, self._distribution.num_outputs)
        struct = jax.eval_shape(self._initial_policy, jax.random.key(0))
        rate = optax.linear_schedule(config.learning_rate, 0.0, self.num_updates)
        self._strategy = Open_ES(
            config.population_size,
            jax.tree.map(lambda x: np.zeros(x.shape, x.dtype), struct),
            optimizer=optax.adam(rate if config.anneal else config.learning_rate),
            std_schedule=self._std,
            fitness_shaping_fn=self._shaped if config.elite else centered_rank_fitness_shaping_fn,
        )

    @property
    def steps_per_update(self) -> int:
        """Environment steps per generation if no episode ends early."""
        return self.config.population_size * self.config.episodes * self._max_steps

    def init(self, key: jax.Array) -> ESState:
        """The state before the first generation."""
        key, key_policy, key_strategy = random.split(key, 3)
        policy = self._initial_policy(key_policy)
        strategy = self._strategy.init(key_strategy, policy, self._strategy.default_params)
        statistics = jax.tree.map(jnp.asarray, RunningStatistics.empty(self._obs.shape))
        # evosax starts with Python numbers. Without the same types throughout, every program would compile twice.
        return trees.narrow(ESState(ESAgent(policy, statistics), strategy, key))

    def start_memory(self) -> Any:
        """The memory at the start of an episode, float32 (memory,), or () without a memory."""
        return jnp.zeros(self.config.memory) if self.config.memory else ()

    def act(self, agent: ESAgent, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        """Returns the deterministic action for one observation of `env`, and the next memory."""
        action, memory = self._actions(agent, *jax.tree.map(lambda x: x[None], (memory, obs)))
        return action[0], jax.tree.map(lambda x: x[0], memory)

    def update(self, state: ESState) -> tuple[ESState, dict[str, jax.Array]]:
        """Evaluates a generation and learns from it.

        Returns:
          The next state, and metrics, float32 () except `episodes`, int32 (). `returns` is the sum over all episodes,
          and `episodes` their number. `best_member` and `spread` are the maximum and the standard deviation of the
          members' mean returns.
        """
        key, key_ask, key_play, key_tell = random.split(state.key, 4)
        params = self._strategy.default_params
        population, strategy = self._strategy.ask(key_ask, state.strategy, params)
        returns, statistics = self._play(population, state.agent.statistics, key_play)
        fitness = returns.mean(1)
        strategy, _ = self._strategy.tell(key_tell, population, -fitness, strategy, params)  # evosax minimizes
        agent = ESAgent(self._strategy.get_mean(strategy), statistics)
        totals = {"returns": returns.sum(dtype=jnp.float32), "episodes": jnp.int32(returns.size)}
        members = {"best_member": fitness.max(), "spread": fitness.std()}
        return trees.narrow(ESState(agent, strategy, key)), totals | members

    def _play(
        self, population: Any, statistics: RunningStatistics, key: jax.Array
    ) -> tuple[jax.Array, RunningStatistics]:
        """Plays all members. Returns the returns (members, episodes), and the updated statistics of observations."""
        reset = jax.vmap(self._episodes.reset, (None, None), axis_size=self.config.population_size)
        step = jax.vmap(self._episodes.step_env, (None, 0, 0, None))
        act = jax.vmap(lambda policy, memory, obs: self._actions(ESAgent(policy, statistics), memory, obs))

        def body(carry: Any, _: Any) -> tuple[Any, None]:
            key, memory, obs, env_state, returns, running, seen, time = carry
            key, key_step = random.split(key)
            if self.config.normalize_observations:
                # Observations after an episode may be infinite, and infinity times zero is NaN.
                array, _ = split_mask(obs)
                is_seen = running.reshape(*running.shape, *[1] * (array.ndim - 2))
                seen = seen.update(jnp.where(is_seen, array, 0), running)
            action, memory = act(population, memory, obs)
            obs, env_state, reward, terminated, info = step(key_step, env_state, action, self._params)
            returns = returns + jnp.where(running, reward, 0)
            running = running & ~(terminated | info["truncated"]) & (time + 1 < self._max_steps)
            return (key, memory, obs, env_state, returns, running, seen, time + 1), None

        key, key_reset = random.split(key)
        obs, env_state = reset(key_reset, self._params)
        zeros = jnp.zeros((self.config.population_size, self.config.episodes), jnp.float32)
        memory = jax.tree.map(lambda x: jnp.broadcast_to(x, (*zeros.shape, *x.shape)), self.start_memory())
        start = (key, memory, obs, env_state, zeros, jnp.ones_like(zeros, jnp.bool_), statistics, jnp.int32(0))
        carry = jax.lax.while_loop(
            lambda carry: carry[5].any(), lambda carry: jax.lax.scan(body, carry, length=_CHUNK)[0], start
        )
        return carry[4], carry[6]

    def _actions(self, agent: ESAgent, memory: Any, obs: Any) -> tuple[jax.Array, Any]:
        """The actions for a batch of observations, and the next memory."""
        obs, mask = split_mask(obs)
        obs = obs.astype(jnp.float32)
        if self.config.normalize_observations:
            obs = jnp.clip(agent.statistics.normalized(obs), -10, 10)
        outputs, memory = self._policy.apply(agent.policy, memory, obs)  # type: ignore[misc]
        if mask is not None:
            outputs = self._distribution.masked(outputs, mask)
        return self._distribution.mode(outputs), memory

    def _shaped(self, population: Any, fitness: jax.Array, state: Any, params: Any) -> jax.Array:
        """Weights of members, (members,), lower for better ones, by log ranks of the elite (Hansen 2016)."""
        size = max(1, round(self.config.elite * fitness.size))
        rank = jnp.argsort(jnp.argsort(fitness)).astype(jnp.float32)  # 0 is the best: `fitness` is minus the return
        weight = jnp.maximum(np.log(size + 0.5) - jnp.log(rank + 1), 0)
        return weight.mean() - weight

    def _initial_policy(self, key: jax.Array) -> Any:
        memory = jax.tree.map(lambda x: x[None], self.start_memory())
        return self._policy.init(key, memory, jnp.zeros((1, *self._obs.shape), jnp.float32))

    def _std(self, generation: Any) -> jax.Array:
        """The standard deviation after a generation."""
        share = jnp.asarray(generation, jnp.float32) / max(self.num_updates - 1, 1)
        return self.config.std * (self.config.final_std / self.config.std) ** share


def _max_steps(env: Environment, params: Any, config: ESConfig) -> int:
    limit = np.max(np.asarray(params.max_steps_in_episode))
    if limit >= NO_TIME_LIMIT and not config.max_steps:
        raise ValueError(f"es plays whole episodes, but {env.name} has no time limit: pass the setting max_steps.")
    return int(min(limit, config.max_steps or limit))


if __name__ == "__main__":
    main(ES, "CartPole-v1")
