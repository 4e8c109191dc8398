"""Proximal policy optimization (Schulman et al. 2017) with a recurrent network.

`python ppo_rnn.py MemoryChain-bsuite` trains an agent. It remembers the episode so far, in a gated recurrent unit (Cho
et al. 2014). Distributions of actions are those of `ppo.py`. What differs: the memory goes from step to step, gradients
go back through all steps of a rollout, and a minibatch consists of whole rollouts of some of the environments.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Annotated, Any, Literal, NamedTuple

import envcore
import jax
import jax.numpy as jnp
import optax
from envcore import random, spaces
from envcore.environment import Environment
from envcore.wrappers import (
    Batched,
    ClipAction,
    LogWrapper,
    NormalizeReward,
    RunningStatistics,
)
from flax import linen as nn
from jax.flatten_util import ravel_pytree

from envcore_baselines.learner import Fraction, RolloutLearner, flattened, print_returns, split_mask
from envcore_baselines.ppo import Agent, Categorical, Normal, Weight


@dataclasses.dataclass(frozen=True)
class RecurrentPPOConfig:
    """Settings of `RecurrentPPO`."""

    total_steps: Annotated[int, (1, 10**12)] = 500_000  # environment steps of one agent, at least
    num_envs: Annotated[int, (1, 10**7)] = 16  # that one agent steps at the same time
    rollout_steps: int = 128  # of each environment in an update
    epochs: int = 4  # passes over the steps of an update
    minibatches: int = 4  # gradient steps in an epoch; they divide num_envs
    learning_rate: Fraction = 2.5e-4  # of Adam, at the start
    anneal: bool = True  # whether the learning rate falls linearly to zero
    discount: Fraction = 0.99  # of rewards
    gae_lambda: Fraction = 0.95  # of generalized advantage estimation (Schulman et al. 2016)
    clip: Weight = 0.2  # probability ratios are clipped to 1 - clip and 1 + clip
    entropy_coefficient: Weight = 0.01  # weight of the policy's entropy in the loss, at the start
    anneal_entropy: bool = False  # whether that weight falls linearly to zero
    value_coefficient: Weight = 0.5  # weight of the value's squared error in the loss
    max_grad_norm: float = 0.5  # gradients with a larger global norm are scaled down to it
    normalize_observations: bool = False  # to mean 0 and variance 1
    normalize_rewards: bool = False  # to discounted returns of variance 1
    hidden: tuple[int, ...] = (64, 64)  # units of the layers before the memory
    activation: Literal["tanh", "relu"] = "tanh"  # of the hidden layers
    memory: int = 64  # units of the memory


# Orthogonal weights, which are more usual, need a QR decomposition, which takes 10 s to compile and deadlocks under
# vmap on CPU.
SMALL = nn.initializers.variance_scaling(1e-4, "fan_in", "truncated_normal")


class Network(nn.Module):
    """Policy and value, as functions of all observations so far.

    Attributes:
      config: the settings.
      num_outputs: numbers that the distribution of actions is computed from.
      num_constants: how many of them, the last ones, are the same for all observations.
    """

    config: RecurrentPPOConfig
    num_outputs: int
    num_constants: int

    @nn.compact
    def __call__(self, memory: jax.Array, obs: jax.Array, start: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Goes through T steps of n environments.

        Args:
          memory: before the first step, float32 (n, memory).
          obs: float32 (T, n, *shape).
          start: whether each is the first of its episode, where the memory is empty, bool (T, n).

        Returns:
          Outputs, (T, n, num_outputs), values, (T, n), and the memory after the last step.
        """
        activation = nn.relu if self.config.activation == "relu" else nn.tanh
        hidden = obs.reshape(*start.shape, -1)
        for units in self.config.hidden:
            hidden = activation(nn.Dense(units)(hidden))
        # Orthogonal weights, the default, take 10 s to compile.
        cell = nn.GRUCell(self.config.memory, recurrent_kernel_init=nn.initializers.lecun_normal(), parent=None)
        weights: Any = self.param("memory", lambda key: cell.init(key, memory, hidden[0]))

        def step(memory: jax.Array, step: tuple[jax.Array, jax.Array]) -> Any:
            inputs, start = step
            return cell.apply(weights, jnp.where(start[:, None], 0, memory), inputs)

        memory, hidden = jax.lax.scan(step, memory, (hidden, start))
        outputs = nn.Dense(self.num_outputs - self.num_constants, kernel_init=SMALL)(hidden)
        if self.num_constants:
            constants = self.param("constants", nn.initializers.zeros, (self.num_constants,))
            constants = jnp.broadcast_to(constants, (*start.shape, self.num_constants))
            outputs = jnp.concatenate([outputs, constants], -1)
        return outputs, nn.Dense(1)(hidden)[..., 0], memory


class Now(NamedTuple):
    """Where n environments are: their state, what they show, whether an episode starts, and the memory before it."""

    env_state: Any
    obs: Any
    start: jax.Array
    memory: jax.Array


class State(NamedTuple):
    """Everything that the next update depends on."""

    agent: Agent
    optimizer: Any
    now: Now
    key: jax.Array


class Steps(NamedTuple):
    """What is learned from: steps of all environments, each leaf with the axes (rollout_steps, num_envs).

    Attributes:
      start: whether each is the first of its episode.
      next_value: the value of what came after it, also at the end of an episode.
      returns: of the episode, where it is done.
    """

    obs: Any
    start: jax.Array
    action: Any
    reward: jax.Array
    next_value: jax.Array
    done: jax.Array
    terminated: jax.Array
    returns: jax.Array


class RecurrentPPO(RolloutLearner):
    """Learns in one environment, by pure functions.

    Args:
      env: the environment, whose actions are those of a `Discrete` or a float `Box`.
      params: its params.
      config: the settings.
      distribution: of other actions than those, with the attributes and methods of `Categorical`.
      rollout: in place of `jax.lax.scan`, where something else steps the environments: it takes `collect`, the state's
        `now` and a key for each step, and returns the next `now` and the `Steps`.

    Attributes:
      config: the settings.
      env: the environment whose observations `act` takes: the given one if it observes a `Box` or, with
        `ActionMaskObservation`, which actions are legal, so that no others are taken; otherwise it is flattened.

    Raises:
      ValueError: the settings do not fit each other or the environment.
    """

    Config = RecurrentPPOConfig

    def __init__(
        self,
        env: Environment,
        params: Any,
        config: RecurrentPPOConfig | None = None,
        distribution: Any = None,
        rollout: Any = jax.lax.scan,
    ):
        self.config = config = RecurrentPPOConfig() if config is None else config
        self.env, self._params = flattened(env, params), params
        if config.num_envs % config.minibatches:
            raise ValueError(f"minibatches must divide num_envs = {config.num_envs}, got {config.minibatches}.")
        if not config.memory:
            raise ValueError("memory must be at least 1, got 0: ppo has none.")
        space: Any = env.action_space(params)
        is_box: bool = isinstance(space, spaces.Box) and space.dtype.kind == "f"
        if not (distribution or is_box or isinstance(space, spaces.Discrete)):
            raise ValueError(f"ppo_rnn needs actions of a Discrete or a float Box, {env.name} has {space}.")
        kind: Any = Normal if is_box else Categorical
        self._distribution: Any = distribution or kind(space)
        self._rollout = rollout
        self._network: Any = Network(config, self._distribution.num_outputs, self._distribution.num_constants)
        self._obs = jax.eval_shape(lambda key: split_mask(self.env.reset(key, params)[0])[0], jax.random.key(0))
        batch = LogWrapper(Batched(ClipAction(self.env) if is_box else self.env, config.num_envs))
        self._batch = NormalizeReward(batch, gamma=config.discount) if config.normalize_rewards else batch
        steps = min(self.num_updates * config.epochs * config.minibatches, 2**31 - 1)  # as far as Adam counts
        self._gradient_steps = steps
        rate = optax.linear_schedule(config.learning_rate, 0.0, steps) if config.anneal else config.learning_rate
        adam = optax.chain(optax.clip_by_global_norm(config.max_grad_norm), optax.adam(rate, eps=1e-5))
        self._optimizer = optax.flatten(adam)  # one long vector takes fewer operations

    def init(self, key: jax.Array) -> State:
        """The state before the first update."""
        key, key_env, key_network = random.split(key, 3)
        obs, start = jnp.zeros((1, 1, *self._obs.shape)), jnp.ones((1, 1), jnp.bool_)
        network = self._network.init(key_network, self.start_memory()[None], obs, start)
        agent = Agent(network, jax.tree.map(jnp.asarray, RunningStatistics.empty(self._obs.shape)))
        obs, env_state = self._batch.reset(key_env, self._params)
        start = jnp.ones(self.config.num_envs, jnp.bool_)
        memory = jnp.zeros((self.config.num_envs, self.config.memory))
        return State(agent, self._optimizer.init(network), Now(env_state, obs, start, memory), key)

    def start_memory(self) -> jax.Array:
        """What an agent remembers at the start of an episode: float32 (memory,)."""
        return jnp.zeros(self.config.memory)

    def act(self, agent: Agent, memory: Any, obs: Any, key: jax.Array, greedy: bool = False) -> tuple[jax.Array, Any]:
        """The action for one observation of `env`, the most probable one if `greedy`; and the memory after it."""
        memory, obs = jax.tree.map(lambda x: x[None], (memory, obs))
        outputs, _, memory = self._step(agent, memory, obs, jnp.zeros(1, jnp.bool_))
        action = self._distribution.mode(outputs) if greedy else self._distribution.sample(outputs, key)
        bounds = self._distribution.bounds
        return jnp.clip(action[0], *bounds) if bounds else action[0], memory[0]

    def value(self, agent: Agent, memory: jax.Array, obs: Any) -> jax.Array:
        """The values of n observations of `env`, float32 (n,), before which the memory, (n, memory), was this."""
        return self._step(agent, memory, obs, jnp.zeros(len(memory), jnp.bool_))[1]

    def update(self, state: State) -> tuple[State, dict[str, jax.Array]]:
        """Plays a rollout and learns from it.

        Returns:
          The next state, and metrics, float32 () but for an int32 number. Of the episodes that ended, the sum of their
          `returns` and the number of `episodes`. Means over minibatches of the `loss`, the policy's `entropy`, the
          estimated `kl`, KL(policy that acted || policy that learns), and the `gradient_norm` before it is clipped.
          And the `explained_variance`, the share of the targets' variance that the values before explain.
        """
        config, agent, memory = self.config, state.agent, state.now.memory

        # Collect: a rollout.
        def collect(now: Now, key: jax.Array) -> tuple[Now, Steps]:
            key_action, key_step = random.split(key)
            outputs, _, memory = self._step(agent, now.memory, now.obs, now.start)
            action = self._distribution.sample(outputs, key_action)
            obs, env_state, reward, done, info = self._batch.step(key_step, now.env_state, action, self._params)
            next_value, returns = self.value(agent, memory, info["final_obs"]), info["returned_episode_returns"]
            steps = Steps(now.obs, now.start, action, reward, next_value, done, info["terminated"], returns)
            return Now(env_state, obs, done, memory), steps

        key, key_collect, key_orders = random.split(state.key, 3)
        now, steps = self._rollout(collect, state.now, random.split(key_collect, config.rollout_steps))
        returns = jnp.where(steps.done, steps.returns, 0).sum(-1).sum()
        ended = {"returns": returns, "episodes": steps.done.sum(dtype=jnp.int32)}

        # Advantages: what each step earned beyond the value of where it was.
        outputs, values, _ = self._apply(agent, memory, steps.obs, steps.start)

        def backwards(later: jax.Array, step: Any) -> tuple[jax.Array, jax.Array]:
            value, step = step
            error = step.reward + config.discount * jnp.where(step.terminated, 0, step.next_value) - value
            advantage = error + config.discount * config.gae_lambda * jnp.where(step.done, 0, later)
            return advantage, advantage

        _, advantages = jax.lax.scan(backwards, jnp.zeros_like(values[0]), (values, steps), reverse=True)
        targets = advantages + values

        # Update: epochs of minibatches.
        def loss(network: Any, entropy_coefficient: Any, memory: Any, minibatch: Any) -> tuple[Any, Any]:
            obs, start, action, log_prob, advantage, target = minibatch
            outputs, value, _ = self._apply(agent._replace(network=network), memory, obs, start)
            log_ratio = self._distribution.log_prob(outputs, action) - log_prob
            ratio = jnp.exp(log_ratio)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = ratio * advantage
            # The smaller of two, of which the second has no gradient: where it is the smaller one, it is constant.
            clipped = jax.lax.stop_gradient(jnp.clip(ratio, 1 - config.clip, 1 + config.clip)) * advantage
            policy_loss = -jnp.where(gain <= clipped, gain, clipped).mean()
            value_loss = 0.5 * ((value - target) ** 2).mean()
            entropy = self._distribution.entropy(outputs).mean()
            total = policy_loss + config.value_coefficient * value_loss - entropy_coefficient * entropy
            return total, {"loss": total, "entropy": entropy, "kl": (ratio - 1 - log_ratio).mean()}

        def descend(carry: tuple[Any, Any], rows: jax.Array) -> tuple[tuple[Any, Any], Any]:
            network, optimizer = carry
            entropy_coefficient: Any = config.entropy_coefficient
            if config.anneal_entropy:  # by Adam's count of gradient steps
                entropy_coefficient *= jnp.maximum(1 - optimizer[1][0].count / self._gradient_steps, 0)
            minibatch = jax.tree.map(lambda x: x[:, rows], batch)
            gradients, metrics = jax.grad(loss, has_aux=True)(network, entropy_coefficient, memory[rows], minibatch)
            updates, optimizer = self._optimizer.update(gradients, optimizer, network)
            metrics["gradient_norm"] = jnp.linalg.norm(ravel_pytree(gradients)[0])  # as the optimizer computes it
            return (optax.apply_updates(network, updates), optimizer), metrics

        log_prob = self._distribution.log_prob(outputs, steps.action)
        batch = (steps.obs, steps.start, steps.action, log_prob, advantages, targets)
        orders = [jax.random.permutation(each, config.num_envs) for each in random.split(key_orders, config.epochs)]
        minibatches = jnp.stack(orders).reshape(config.epochs * config.minibatches, -1)
        (network, optimizer), metrics = jax.lax.scan(descend, (agent.network, state.optimizer), minibatches)
        metrics = {**ended, **jax.tree.map(jnp.mean, metrics)}
        metrics["explained_variance"] = 1 - advantages.var() / (targets.var() + 1e-8)
        statistics = agent.statistics
        if config.normalize_observations:
            statistics = statistics.update(split_mask(steps.obs)[0], jnp.ones(values.shape, jnp.bool_))
        return State(Agent(network, statistics), optimizer, now, key), metrics

    def _step(self, agent: Agent, memory: Any, obs: Any, start: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """As `_apply`, for one step of n environments: no array has an axis for time."""
        outputs, values, memory = self._apply(agent, memory, *jax.tree.map(lambda x: x[None], (obs, start)))
        return outputs[0], values[0], memory

    def _apply(self, agent: Agent, memory: Any, obs: Any, start: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        """Outputs, those of legal actions, values and memory; see `Network`."""
        obs, mask = split_mask(obs)
        if self.config.normalize_observations:
            obs = jnp.clip(agent.statistics.normalized(obs), -10, 10)
        applied: Any = self._network.apply(agent.network, memory, obs.astype(jnp.float32), start)
        outputs, values, memory = applied
        return outputs if mask is None else self._distribution.masked(outputs, mask), values, memory


def main(env_id: str = "MemoryChain-bsuite", total_steps: str = "500_000") -> None:
    """Trains an agent, and prints the returns of its episodes."""
    print_returns(RecurrentPPO(*envcore.make(env_id), RecurrentPPOConfig(total_steps=int(total_steps))))


if __name__ == "__main__":
    main(*sys.argv[1:])
