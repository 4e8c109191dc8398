"""The programs that are timed: one builder a variant, each returning `run(key) -> float32 ()`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import envcore
import jax
import jax.numpy as jnp
from envcore.rollout import begin, random_policy, unroll
from envcore.spaces import batch_space
from envcore.wrappers import Batched
from peers import Pgx, has_gymnax, has_pgx, make_gymnax

Run = Callable[[jax.Array], jax.Array]

SUITES = {
    "classic-control": ("CartPole-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1"),
    "bsuite": (
        "Catch-bsuite",
        "DeepSea-bsuite",
        "DiscountingChain-bsuite",
        "MemoryChain-bsuite",
        "SimpleBandit-bsuite",
        "UmbrellaChain-bsuite",
    ),
    "misc": (
        "BernoulliBandit-misc",
        "FourRooms-misc",
        "FrozenLake-misc",
        "GaussianBandit-misc",
        "MetaMaze-misc",
        "PointRobot-misc",
        "Pong-misc",
        "Reacher-misc",
        "Swimmer-misc",
    ),
    "minatar": ("Asterix-MinAtar", "Breakout-MinAtar", "Freeway-MinAtar", "Seaquest-MinAtar", "SpaceInvaders-MinAtar"),
}
"""Environments that gymnax has too, by suite; without MNISTBandit-bsuite, for which both would download images."""


def gymnax_vmap(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Gymnax in the faster of the usual loops: keys from one split, all actions from one draw."""
    env, params = make_gymnax(env_id)
    act = _jax_random_actions(env.action_space(params), num_envs)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act)


def gymnax_readme(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Gymnax as its README puts it: a key and a draw of its own for each action."""
    env, params = make_gymnax(env_id)
    sample = jax.vmap(env.action_space(params).sample)
    return _vmap_loop(
        env, params, num_envs, num_steps, jax.random.split, lambda key, obs: sample(jax.random.split(key, num_envs))
    )


def pgx_vmap(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Pgx in the same loop as gymnax."""
    env = Pgx(env_id)

    def act(key: jax.Array, obs: Any) -> jax.Array:
        return jax.random.randint(key, (num_envs,), 0, env.num_actions)

    return _vmap_loop(env, None, num_envs, num_steps, jax.random.split, act)


def envcore_same_loop(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Envcore in exactly gymnax's loop: only `reset` and `step` are ours."""
    env, params = envcore.make(env_id)
    act = _jax_random_actions(env.action_space(params), num_envs)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act)


def envcore_vmap(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Envcore's per-environment API under vmap, with its own split (the same numbers) and batched action space."""
    env, params = envcore.make(env_id)
    actions = batch_space(env.action_space(params), num_envs)

    def act(key: jax.Array, obs: Any) -> Any:
        return actions.sample(key)

    return _vmap_loop(env, params, num_envs, num_steps, envcore.random.split, act)


def envcore_rollout(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Envcore's own batched rollout."""
    env, params = envcore.make(env_id)
    return _rollout_loop(env, params, num_envs, num_steps, random_policy(Batched(env, num_envs), params))


def gymnax_mlp(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Gymnax with a 64x64 MLP in the loop."""
    env, params = make_gymnax(env_id)
    act = _mlp_actions(env.action_space(params), _obs_size(env_id))
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act)


def envcore_mlp(env_id: str, num_envs: int, num_steps: int) -> Run:
    """Envcore's own rollout with the same MLP."""
    env, params = envcore.make(env_id)
    act = _mlp_actions(env.action_space(params), _obs_size(env_id))
    return _rollout_loop(env, params, num_envs, num_steps, lambda policy_params, obs, key: act(key, obs))


def mlp_alone(env_id: str, num_envs: int, num_steps: int) -> Run:
    """The same MLP on observations that cost nothing: how fast the loop can be at all."""
    space, size = envcore.make(env_id)[0].action_space(), _obs_size(env_id)
    act = _mlp_actions(space, size)

    def run(key: jax.Array) -> jax.Array:
        def body(obs: Any, _: None) -> tuple[jax.Array, jax.Array]:
            action = act(key, obs).astype(jnp.float32).reshape(num_envs, -1)
            return obs * jnp.float32(0.5) + action[:, :1], obs.sum() + action.sum()

        return jax.lax.scan(body, jnp.zeros((num_envs, size), jnp.float32), None, num_steps)[1].sum()

    return run


VARIANTS: dict[str, Callable[[str, int, int], Run]] = {
    "gymnax": gymnax_vmap,
    "gymnax, README loop": gymnax_readme,
    "pgx": pgx_vmap,
    "envcore, same loop": envcore_same_loop,
    "envcore": envcore_vmap,
    "envcore rollout": envcore_rollout,
    "gymnax + MLP": gymnax_mlp,
    "envcore + MLP": envcore_mlp,
    "MLP alone": mlp_alone,
}

BASELINES = {"envcore + MLP": "gymnax + MLP", "MLP alone": "gymnax + MLP"}
"""What a variant's ratio is taken to, where it is not "gymnax"."""


def has(variant: str, env_id: str) -> bool:
    """Whether there is such a program of an environment: the peers lack some."""
    if variant == "pgx":
        return has_pgx(env_id)
    return has_gymnax(env_id) or not variant.startswith("gymnax")


def _vmap_loop(
    env: Any,
    params: Any,
    num_envs: int,
    num_steps: int,
    split: Callable[..., jax.Array],
    act: Callable[..., jax.Array],
) -> Run:
    reset = jax.vmap(env.reset, in_axes=(0, None))
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def run(key: jax.Array) -> jax.Array:
        key, key_reset = split(key, 2)
        obs, state = reset(split(key_reset, num_envs), params)

        def body(carry: Any, _: Any) -> tuple[Any, jax.Array]:
            key, obs, state = carry
            key, key_act, key_step = split(key, 3)
            action = act(key_act, obs)
            obs, state, reward = step(split(key_step, num_envs), state, action, params)[:3]
            return (key, obs, state), _consume(obs, reward)

        return jax.lax.scan(body, (key, obs, state), None, num_steps)[1].sum()

    return run


def _rollout_loop(env: Any, params: Any, num_envs: int, num_steps: int, policy: Any) -> Run:
    batch = Batched(env, num_envs)

    def run(key: jax.Array) -> jax.Array:
        start = begin(batch, key, params)
        return unroll(batch, policy, start, num_steps, params, collect=_consume_transition)[1].sum()

    return run


def _consume(obs: Any, reward: jax.Array) -> jax.Array:
    return sum((_sum(leaf) for leaf in jax.tree.leaves(obs)), start=reward.astype(jnp.float32).sum())


def _sum(leaf: jax.Array) -> jax.Array:
    """A number that XLA cannot compute without every element; for bools modulo 256 over the batch, which vectorises."""
    if leaf.dtype == jnp.bool_:
        leaf = leaf.reshape(leaf.shape[0], -1).sum(axis=0, dtype=jnp.uint8)
    return leaf.astype(jnp.float32).sum()


def _consume_transition(transition: Any) -> jax.Array:
    return _consume(transition.obs, transition.reward)


def _jax_random_actions(space: Any, num_envs: int) -> Callable[..., jax.Array]:
    if hasattr(space, "n"):
        return lambda key, obs: jax.random.randint(key, (num_envs,), 0, space.n)
    return lambda key, obs: jax.random.uniform(key, (num_envs, *space.shape), minval=space.low, maxval=space.high)


def _obs_size(env_id: str) -> int:
    return math.prod(envcore.make(env_id)[0].observation_space().shape)


def _mlp_actions(space: Any, obs_size: int) -> Callable[..., jax.Array]:
    sizes = (obs_size, 64, 64, space.n if hasattr(space, "n") else space.shape[0])
    keys = jax.random.split(jax.random.PRNGKey(7), 3)
    weights = [jax.random.normal(k, (a, b)) / a**0.5 for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=True)]

    def act(key: jax.Array, obs: jax.Array) -> jax.Array:
        hidden = obs.reshape(obs.shape[0], -1).astype(jnp.float32)
        for weight in weights[:-1]:
            hidden = jnp.tanh(hidden @ weight)
        out = hidden @ weights[-1]
        return out.argmax(-1).astype(jnp.int32) if hasattr(space, "n") else jnp.tanh(out)

    return act
