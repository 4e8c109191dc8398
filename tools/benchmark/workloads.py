"""The timed programs: one builder per variant, which returns `run(key) -> float32 ()`."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import envcore
import jax
import jax.numpy as jnp
from envcore.devices import all_devices, spread
from envcore.fusion import compute_once
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched
from peers import has_gymnax, has_pgx, make_gymnax, make_pgx
from training import training

Run = Callable[[jax.Array], jax.Array]

OWN, FLOAT32, NETWORK = "own", "float32", "network"
"""How observations are read: in their own dtype, as float32, or by the network in the loop."""

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
"""Environments that gymnax has too, by suite; without MNISTBandit-bsuite, because both would download images."""


def carried(obs: jax.Array, reading: str) -> jax.Array:
    """The observations as the next iteration of a loop gets them, in their own shape.

    There `seen` reads one column of them, which depends on the iteration, so that XLA has to store them all. A sum of
    float32 does not work: on XLA's CPU backend it is a scalar loop, slower than most steps. A static slice or an
    optimization barrier does not work either: XLA then computes only part of the observation.
    """
    return obs.astype(jnp.float32) if reading == FLOAT32 else obs


def seen(obs: jax.Array, step: jax.Array, reading: str) -> jax.Array:
    """The sum of one column of `carried` observations, a different one in each step."""
    if reading == NETWORK:
        return jnp.float32(0)
    flat = obs.reshape(obs.shape[0], -1)
    column = jax.lax.dynamic_index_in_dim(flat, step % flat.shape[1], axis=1, keepdims=False)
    return column.astype(jnp.float32).sum()


def memory_floor(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """A loop without an environment, which only writes and carries as many numbers as the observations have."""
    env, params = envcore.make(env_id)
    space = env.observation_space(params)
    shape, dtype = (num_envs, math.prod(space.shape)), jnp.float32 if reading == FLOAT32 else space.dtype

    def run(key: jax.Array) -> jax.Array:
        def body(carry: Any, step: jax.Array) -> tuple[Any, jax.Array]:
            numbers, obs = carry
            numbers, total = numbers + 1, seen(obs, step, reading)
            return (numbers, jnp.broadcast_to((numbers & 1)[:, None] != 0, shape).astype(dtype)), total

        start = jnp.arange(num_envs, dtype=jnp.int32), jnp.zeros(shape, dtype)
        return jax.lax.scan(body, start, jnp.arange(num_steps, dtype=jnp.int32))[1].sum()

    return run


def gymnax_vmap(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Gymnax in the faster of the usual loops: keys from one split, all actions sampled at once."""
    env, params = make_gymnax(env_id)
    act = _jax_random_actions(env.action_space(params), num_envs)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act, reading)


def gymnax_readme(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Gymnax in the loop of its README: a separate key and sample for each action."""
    env, params = make_gymnax(env_id)
    sample = jax.vmap(env.action_space(params).sample)

    def act(key: jax.Array, obs: Any) -> Any:
        return sample(jax.random.split(key, num_envs))

    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act, reading)


def pgx_vmap(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Pgx in the same loop as gymnax."""
    env, params = make_pgx(env_id)

    def act(key: jax.Array, obs: Any) -> jax.Array:
        return jax.random.randint(key, (num_envs,), 0, env.num_actions)

    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act, reading)


def envcore_same_loop(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore in exactly gymnax's loop: only `reset` and `step` are envcore's."""
    env, params = envcore.make(env_id)
    act = _jax_random_actions(env.action_space(params), num_envs)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act, reading)


def envcore_vmap(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's per-environment API under vmap, with its own split (the same numbers) and batched action space."""
    env, params = envcore.make(env_id)
    actions = env.action_space(params).batch(num_envs)

    def act(key: jax.Array, obs: Any) -> Any:
        return actions.sample(key)

    return _vmap_loop(env, params, num_envs, num_steps, envcore.random.split, act, reading)


def envcore_rollout(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's own batched rollout."""
    return _rollout_loop(env_id, num_envs, num_steps, reading)


def gymnax_mlp(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Gymnax with a 64x64 MLP in the loop."""
    env, params = make_gymnax(env_id)
    size = _obs_size(env_id)
    act = _mlp_actions(env.action_space(params), size)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, act, reading)


def envcore_mlp(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's own rollout with the same MLP."""
    return _rollout_loop(env_id, num_envs, num_steps, reading)


def mlp_alone(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """The same MLP on observations that cost nothing: how fast the loop can be at all."""
    env, params = envcore.make(env_id)
    size = _obs_size(env_id)
    act = _mlp_actions(env.action_space(params), size)

    def run(key: jax.Array) -> jax.Array:
        def body(obs: Any, _: None) -> tuple[jax.Array, jax.Array]:
            action = act(key, obs).astype(jnp.float32).reshape(num_envs, -1)
            return obs * jnp.float32(0.5) + action[:, :1], action.sum()

        return jax.lax.scan(body, jnp.zeros((num_envs, size), jnp.float32), None, num_steps)[1].sum()

    return run


def gymnax_ppo(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """PureJaxRL's PPO on gymnax."""
    return training("gymnax", env_id, num_envs, num_steps)


def envcore_ppo(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """The same on envcore: only `reset` and `step` are exchanged."""
    return training("purejaxrl", env_id, num_envs, num_steps)


def envcore_own_ppo(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's PPO."""
    return training("envcore", env_id, num_envs, num_steps)


FLOOR = "memory floor"

VARIANTS: dict[str, Callable[[str, int, int, str], Run]] = {
    FLOOR: memory_floor,
    "gymnax": gymnax_vmap,
    "gymnax, README loop": gymnax_readme,
    "pgx": pgx_vmap,
    "envcore, same loop": envcore_same_loop,
    "envcore": envcore_vmap,
    "envcore rollout": envcore_rollout,
    "gymnax + MLP": gymnax_mlp,
    "envcore + MLP": envcore_mlp,
    "MLP alone": mlp_alone,
    "gymnax + PPO": gymnax_ppo,
    "envcore + PPO": envcore_ppo,
    "envcore + its PPO": envcore_own_ppo,
}

BASELINES = {
    "envcore + MLP": "gymnax + MLP",
    "MLP alone": "gymnax + MLP",
    "envcore + PPO": "gymnax + PPO",
    "envcore + its PPO": "gymnax + PPO",
}
"""The baselines of ratios, where they are not "gymnax"."""


def on_all_devices(variant: str, env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """A program of envcore's own rollout, with its environments split over all devices."""
    assert variant in SPREADABLE, variant
    sharding = all_devices()
    share = num_envs // sharding.mesh.size
    run = _rollout_loop(env_id, share, num_steps, reading, *sharding.mesh.axis_names)
    total = spread(lambda key: run(key)[None], sharding, (False,))
    return lambda key: total(key).sum()


SPREADABLE = ("envcore rollout", "envcore + MLP")
"""The variants that `on_all_devices` takes."""


def has(variant: str, env_id: str) -> bool:
    """Whether the variant exists for an environment: the peer libraries lack some."""
    if variant == "pgx":
        return has_pgx(env_id)
    if variant in ("gymnax + PPO", "envcore + PPO"):  # PureJaxRL's, which needs discrete actions
        env, params = envcore.make(env_id)
        if not hasattr(env.action_space(params), "n"):
            return False
    return not variant.startswith("gymnax") or has_gymnax(env_id)


def readings(variant: str, env_id: str) -> dict[str, str]:
    """The readings of a program, with the dtype that the table shows; float32 observations have only one reading."""
    if "MLP" in variant or "PPO" in variant:
        return {NETWORK: NETWORK}
    library = variant.partition(",")[0]
    make = {"gymnax": make_gymnax, "pgx": make_pgx}.get(library, envcore.make)
    env, params = make(env_id)
    dtype = jax.eval_shape(env.reset, jax.random.PRNGKey(0), params)[0].dtype.name
    return {FLOAT32: FLOAT32} if dtype == FLOAT32 else {OWN: dtype, FLOAT32: FLOAT32}


def _vmap_loop(
    env: Any,
    params: Any,
    num_envs: int,
    num_steps: int,
    split: Callable[..., jax.Array],
    act: Callable[..., jax.Array],
    reading: str,
) -> Run:
    reset = jax.vmap(env.reset, in_axes=(0, None))
    step = jax.vmap(env.step, in_axes=(0, 0, 0, None))

    def run(key: jax.Array) -> jax.Array:
        key, key_reset = split(key, 2)
        obs, state = reset(split(key_reset, num_envs), params)

        def body(carry: Any, number: jax.Array) -> tuple[Any, jax.Array]:
            key, obs, state = carry
            total = seen(obs, number, reading)
            key, key_act, key_step = split(key, 3)
            action = act(key_act, obs)
            obs, state, reward = step(split(key_step, num_envs), state, action, params)[:3]
            return (key, carried(obs, reading), state), total + reward.astype(jnp.float32).sum()

        start = (key, carried(obs, reading), state)
        return jax.lax.scan(body, start, jnp.arange(num_steps, dtype=jnp.int32))[1].sum()

    return run


def _rollout_loop(env_id: str, num_envs: int, num_steps: int, reading: str, axis_name: str | None = None) -> Run:
    """`run_rollout` carries no observation, so it is read and stored where the policy, such as a network, gets it."""
    env, params = envcore.make(env_id)
    batch = Batched(env, num_envs, axis_name)
    policy = random_policy(batch, params)
    if reading == NETWORK:
        policy = network_policy(env_id)

    def collect(transition: Any) -> jax.Array:
        obs, step = carried(transition.obs, reading), transition.state.time[0]
        return compute_once(lambda obs, step: seen(obs, step, reading), obs, step) + transition.reward.sum()

    def run(key: jax.Array) -> jax.Array:
        start = start_rollout(batch, key, params)
        return run_rollout(batch, policy, start, num_steps, params, collect=collect)[1].sum()

    return run


def network_policy(env_id: str) -> Callable[..., Any]:
    """The MLP as a policy of `run_rollout`."""
    env, params = envcore.make(env_id)
    return functools.partial(_without_params, _mlp_actions(env.action_space(params), _obs_size(env_id)))


def _without_params(act: Callable[..., Any], policy_params: Any, obs: Any, key: jax.Array) -> Any:
    return act(key, obs)


def _jax_random_actions(space: Any, num_envs: int) -> Callable[..., jax.Array]:
    if hasattr(space, "n"):
        return lambda key, obs: jax.random.randint(key, (num_envs,), 0, space.n)
    return lambda key, obs: jax.random.uniform(key, (num_envs, *space.shape), minval=space.low, maxval=space.high)


def _obs_size(env_id: str) -> int:
    env, params = envcore.make(env_id)
    return math.prod(env.observation_space(params).shape)


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
