"""PureJaxRL's PPO (Lu et al. 2022, github.com/luchris429/purejaxrl), written after its description.

It has two networks of 64 x 64 tanh units with orthogonal weights. Each step stores the value and the log-probability.
An epoch shuffles all steps with `jax.random.permutation`. The value loss is clipped too. Returns are read from the
`info` of every step. Time limits count as terminations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn

EPOCHS, MINIBATCHES = 4, 8
GAMMA, GAE_LAMBDA, CLIP, ENTROPY, VALUE, MAX_GRAD_NORM = 0.99, 0.95, 0.2, 0.01, 0.5, 0.5


class ActorCritic(nn.Module):
    """Network that returns the logits of `actions` actions and a value."""

    actions: int
    activation: Callable[[jax.Array], jax.Array] = nn.tanh

    @nn.compact
    def __call__(self, obs: jax.Array) -> tuple[jax.Array, jax.Array]:
        def layer(units: int, scale: float) -> nn.Dense:
            return nn.Dense(units, kernel_init=nn.initializers.orthogonal(scale))

        actor = critic = obs
        for _ in range(2):
            actor = self.activation(layer(64, np.sqrt(2))(actor))
            critic = self.activation(layer(64, np.sqrt(2))(critic))
        return layer(self.actions, 0.01)(actor), layer(1, 1.0)(critic)[..., 0]


class Transition(NamedTuple):
    """A step of all environments."""

    done: jax.Array
    action: jax.Array
    value: jax.Array
    reward: jax.Array
    log_prob: jax.Array
    obs: jax.Array
    info: Any


class Program(NamedTuple):
    """PPO for an environment.

    Attributes:
      init: `init(key) -> carry`, the initial carry. Weights come first.
      update: `update(carry, None) -> (carry, info)`, an update, with the `info` of every step.
      act: `act(weights, obs)`, the most probable actions for n observations.
    """

    init: Callable[[jax.Array], Any]
    update: Callable[[Any, None], tuple[Any, Any]]
    act: Callable[[Any, jax.Array], jax.Array]


def make(
    env: Any,
    params: Any,
    num_envs: int,
    num_steps: int,
    num_updates: int,
    learning_rate: float = 2.5e-4,
    activation: Callable[[jax.Array], jax.Array] = nn.tanh,
) -> Program:
    """Makes the program for an environment.

    Args:
      env: an environment with gymnax's `reset(key, params)`, `step(key, state, action, params)` and discrete actions.
      params: the environment's params.
      num_envs: number of environments, which `vmap` maps over.
      num_steps: steps of each environment in an update.
      num_updates: number of updates.
      learning_rate: the initial learning rate, which decays linearly to zero.
      activation: activation of the hidden layers.
    """
    network: Any = ActorCritic(env.action_space(params).n, activation)
    steps = num_updates * EPOCHS * MINIBATCHES
    rate = optax.linear_schedule(learning_rate, 0.0, steps)
    optimizer = optax.chain(optax.clip_by_global_norm(MAX_GRAD_NORM), optax.adam(rate, eps=1e-5))
    reset = jax.vmap(env.reset, in_axes=(0, None))
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def flat(obs: jax.Array) -> jax.Array:
        return obs.reshape(obs.shape[0], -1).astype(jnp.float32)

    def log_probs(logits: jax.Array, action: jax.Array) -> jax.Array:
        return jnp.take_along_axis(nn.log_softmax(logits), action[..., None], axis=-1)[..., 0]

    def init(key: jax.Array) -> Any:
        key, key_network, key_reset = jax.random.split(key, 3)
        obs, env_state = reset(jax.random.split(key_reset, num_envs), params)
        weights = network.init(key_network, flat(obs))
        return weights, optimizer.init(weights), env_state, obs, key

    def env_step(carry: Any, _: None) -> tuple[Any, Transition]:
        weights, env_state, obs, key = carry
        key, key_act, key_step = jax.random.split(key, 3)
        logits, value = network.apply(weights, flat(obs))
        action = jax.random.categorical(key_act, logits)
        log_prob = log_probs(logits, action)
        keys = jax.random.split(key_step, num_envs)
        next_obs, env_state, reward, done, info = five(step(keys, env_state, action, params))
        row = Transition(done, action, value, reward, log_prob, flat(obs), info)
        return (weights, env_state, next_obs, key), row

    def update(carry: Any, _: None) -> tuple[Any, Any]:
        weights, optimizer_state, env_state, obs, key = carry
        (_, env_state, obs, key), rows = jax.lax.scan(env_step, (weights, env_state, obs, key), None, num_steps)
        _, last_value = network.apply(weights, flat(obs))

        def advantage(carry: Any, row: Transition) -> tuple[Any, jax.Array]:
            gae, next_value = carry
            goes_on = 1 - row.done.astype(jnp.float32)
            error = row.reward + GAMMA * next_value * goes_on - row.value
            gae = error + GAMMA * GAE_LAMBDA * goes_on * gae
            return (gae, row.value), gae

        start = (jnp.zeros_like(last_value), last_value)
        _, advantages = jax.lax.scan(advantage, start, rows, reverse=True, unroll=16)

        def loss(weights: Any, row: Transition, gae: jax.Array, target: jax.Array) -> jax.Array:
            logits, value = network.apply(weights, row.obs)
            clipped = row.value + jnp.clip(value - row.value, -CLIP, CLIP)
            value_loss = 0.5 * jnp.maximum((value - target) ** 2, (clipped - target) ** 2).mean()
            ratio = jnp.exp(log_probs(logits, row.action) - row.log_prob)
            gae = (gae - gae.mean()) / (gae.std() + 1e-8)
            policy_loss = -jnp.minimum(ratio * gae, jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * gae).mean()
            entropy = -(nn.softmax(logits) * nn.log_softmax(logits)).sum(-1).mean()
            return policy_loss + VALUE * value_loss - ENTROPY * entropy

        def minibatch(carry: Any, batch: Any) -> tuple[Any, None]:
            weights, optimizer_state = carry
            gradients = jax.grad(loss)(weights, *batch)
            updates, optimizer_state = optimizer.update(gradients, optimizer_state, weights)
            return (optax.apply_updates(weights, updates), optimizer_state), None

        def epoch(carry: Any, _: None) -> tuple[Any, None]:
            weights, optimizer_state, key = carry
            key, key_shuffle = jax.random.split(key)
            order = jax.random.permutation(key_shuffle, num_envs * num_steps)
            batch = (rows._replace(info=None), advantages, advantages + rows.value)
            batch = jax.tree.map(lambda x: x.reshape(-1, *x.shape[2:])[order], batch)
            batches = jax.tree.map(lambda x: x.reshape(MINIBATCHES, -1, *x.shape[1:]), batch)
            (weights, optimizer_state), _ = jax.lax.scan(minibatch, (weights, optimizer_state), batches)
            return (weights, optimizer_state, key), None

        start = (weights, optimizer_state, key)
        (weights, optimizer_state, key), _ = jax.lax.scan(epoch, start, None, EPOCHS)
        return (weights, optimizer_state, env_state, obs, key), rows.info

    def act(weights: Any, obs: jax.Array) -> jax.Array:
        return network.apply(weights, flat(obs))[0].argmax(-1)

    return Program(init, update, act)


def five(step: tuple[Any, ...]) -> tuple[Any, ...]:
    """Converts the six values of gymnax 1's `step` to five."""
    if len(step) == 5:
        return step
    obs, state, reward, terminated, truncated, info = step
    return obs, state, reward, terminated | truncated, info
