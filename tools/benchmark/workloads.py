"""The programs to time. Each variant has a builder, which returns `run(key) -> float32 ()`."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable
from typing import Any

import envcore
import jax
import jax.numpy as jnp
from envcore.fusion import compute_once
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import Batched, LogWrapper

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
"""Environments by suite, without MNISTBandit-bsuite, which downloads images."""

ROLLOUT_STEPS = 128
"""Steps of each environment in a PPO update."""
_NATIVE = ", native"


def seen(obs: jax.Array, step: jax.Array) -> jax.Array:
    """Returns the sum of one column of observations as float32, a different column in each step.

    The loop carries the observations of a step to the next iteration, which reads this column, so that XLA has to store
    them all. Alternatives do not work. A sum over all observations is a scalar loop in XLA's CPU backend, which is
    slower than most steps. With a static slice or an optimization barrier, XLA computes only part of the observation.
    """
    flat = obs.reshape(obs.shape[0], -1)
    column = jax.lax.dynamic_index_in_dim(flat, step % flat.shape[1], axis=1, keepdims=False)
    return column.astype(jnp.float32).sum()


def memory_floor(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """A loop without an environment, which only writes and carries arrays of the observations' size."""
    env, params = envcore.make(env_id)
    space = env.observation_space(params)
    shape, dtype = (num_envs, math.prod(space.shape)), jnp.float32 if reading == "float32" else space.dtype

    def run(key: jax.Array) -> jax.Array:
        def body(carry: Any, step: jax.Array) -> tuple[Any, jax.Array]:
            numbers, obs = carry
            numbers, total = numbers + 1, seen(obs, step)
            return (numbers, jnp.broadcast_to((numbers & 1)[:, None] != 0, shape).astype(dtype)), total

        start = jnp.arange(num_envs, dtype=jnp.int32), jnp.zeros(shape, dtype)
        return jax.lax.scan(body, start, jnp.arange(num_steps, dtype=jnp.int32))[1].sum()

    return run


def gymnax_vmap(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Gymnax in the fastest common loop, with keys from one split and all actions sampled at once."""
    env, params = make_gymnax(env_id)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, env.action_space(params), reading)


def pgx_vmap(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Pgx in the same loop as gymnax."""
    env = Pgx(env_id)
    return _vmap_loop(env, None, num_envs, num_steps, jax.random.split, envcore.spaces.Discrete(env.actions), reading)


def envcore_same_loop(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's `reset` and `step` in exactly the same loop as gymnax."""
    env, params = envcore.make(env_id)
    return _vmap_loop(env, params, num_envs, num_steps, jax.random.split, env.action_space(params), reading)


def envcore_vmap(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore under `vmap`, with envcore's `split` (the same keys) and batched action space."""
    env, params = envcore.make(env_id)
    return _vmap_loop(env, params, num_envs, num_steps, envcore.random.split, None, reading)


def envcore_batched(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's `Batched` in a loop."""
    env, params = envcore.make(env_id)
    batch = Batched(env, num_envs)
    actions = batch.action_space(params)
    return _loop(
        lambda key: batch.reset(key, params),
        lambda key, state, action: batch.step(key, state, action, params),
        actions.sample,
        num_steps,
        envcore.random.split,
        reading,
    )


def envcore_rollout(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
    """Envcore's `run_rollout`, which reads and stores the observations that the policy gets."""

    def collect(transition: Any) -> jax.Array:
        obs, step = as_read(transition.obs, reading), transition.state.time[0]
        return compute_once(seen, obs, step) + transition.reward.sum()

    collected = _rollout(env_id, num_envs, num_steps, collect, run_rollout)
    return lambda key: collected(key).sum()


def _stored(variant: str) -> Callable[[str, int, int, str], Any]:
    """A rollout that returns the stored steps, by envcore or, if the name ends in "native", by envcore-native."""
    name = variant.removesuffix(_NATIVE)

    def collect(step: Any) -> Any:
        return step.reward if name == "rewards only" else (step.obs, step.action, step.reward, step.done)

    def build(env_id: str, num_envs: int, num_steps: int, reading: str) -> Any:
        return _rollout(env_id, num_envs, num_steps, collect, _rollout_of(variant), "network" in variant)

    return build


def _ppo(variant: str) -> Callable[[str, int, int, str], Run]:
    """Training with PPO and two networks of 64 x 64 units. It returns a number that depends on all weights."""

    def build(env_id: str, num_envs: int, num_steps: int, reading: str) -> Run:
        length = min(ROLLOUT_STEPS, num_steps)
        train = _own_ppo if "its PPO" in variant else _purejaxrl
        run = train(variant, env_id, num_envs, length, num_steps)

        def total(key: jax.Array) -> jax.Array:
            return sum((jnp.sum(each, dtype=jnp.float32) for each in jax.tree.leaves(run(key))), jnp.float32(0))

        return total

    return build


FLOOR = "memory floor"
VARIANTS: dict[str, Callable[[str, int, int, str], Any]] = {
    FLOOR: memory_floor,
    "gymnax": gymnax_vmap,
    "pgx": pgx_vmap,
    "envcore, same loop": envcore_same_loop,
    "envcore": envcore_vmap,
    "envcore, Batched": envcore_batched,
    "envcore rollout": envcore_rollout,
    **{
        variant + end: _stored(variant + end)
        for end in ("", _NATIVE)
        for variant in ("rewards only", "transitions stored", "transitions stored, network")
    },
    **{
        variant: _ppo(variant)
        for variant in ("gymnax + PPO", "envcore + PPO", "envcore + its PPO", f"envcore + its PPO{_NATIVE}")
    },
}


def has(variant: str, env_id: str) -> bool:
    """Whether the variant exists for an environment, and its library is installed."""
    env, params = envcore.make(env_id)
    if variant in ("gymnax + PPO", "envcore + PPO") and not hasattr(env.action_space(params), "n"):
        return False  # PureJaxRL's PPO needs discrete actions
    if variant.endswith(_NATIVE):
        return importlib.util.find_spec("warp") is not None
    if variant == "pgx":
        return env_id.endswith("-MinAtar") and importlib.util.find_spec("pgx") is not None
    return not variant.startswith("gymnax") or has_gymnax(env_id)


def has_gymnax(env_id: str) -> bool:
    """Whether gymnax is installed and has the environment."""
    if importlib.util.find_spec("gymnax") is None:
        return False
    import gymnax  # pyright: ignore[reportMissingImports]

    return env_id in gymnax.registered_envs


def make_gymnax(env_id: str) -> tuple[Any, Any]:
    import gymnax  # pyright: ignore[reportMissingImports]

    return gymnax.make(env_id)


def logged(env: Any, library: str) -> Any:
    """Wraps an environment in a library's `LogWrapper`."""
    if library == "envcore":
        return LogWrapper(env)
    from gymnax.wrappers.purerl import LogWrapper as Theirs  # pyright: ignore[reportMissingImports]

    return Theirs(env)


class Pgx:
    """A pgx game with gymnax's `reset` and `step`."""

    def __init__(self, env_id: str):
        import pgx
        from pgx.experimental import auto_reset

        name = env_id.removesuffix("-MinAtar").replace("SpaceInvaders", "space_invaders").lower()
        self._env = pgx.make(f"minatar-{name}")  # pyright: ignore[reportArgumentType]
        self._step = auto_reset(self._env.step, self._env.init)
        self.actions = self._env.num_actions

    def reset(self, key: jax.Array, params: None) -> tuple[Any, Any]:
        state = self._env.init(key)
        return state.observation, state

    def step(self, key: jax.Array, state: Any, action: jax.Array, params: None) -> tuple[Any, Any, jax.Array]:
        state = self._step(state, action, key)
        return state.observation, state, state.rewards


def as_read(obs: jax.Array, reading: str) -> jax.Array:
    """Converts observations to float32, which networks read, or keeps their dtype."""
    return obs.astype(jnp.float32) if reading == "float32" else obs


def readings(variant: str, env_id: str) -> dict[str, str]:
    """Returns the ways in which a program reads observations, "own" and "float32", with their dtypes."""
    if (variant not in (FLOOR, "gymnax", "pgx") and not variant.startswith("envcore")) or "PPO" in variant:
        return {"float32": "float32"}
    make = {"gymnax": make_gymnax, "pgx": lambda env_id: (Pgx(env_id), None)}.get(variant, envcore.make)
    env, params = make(env_id)
    dtype = jax.eval_shape(env.reset, jax.random.PRNGKey(0), params)[0].dtype.name
    return {"float32": "float32"} if dtype == "float32" else {"own": dtype, "float32": "float32"}


def _vmap_loop(
    env: Any, params: Any, num_envs: int, num_steps: int, split: Callable[..., jax.Array], space: Any, reading: str
) -> Run:
    """The common loop over `vmap`. Samples actions of `space` with `jax.random`, or envcore's batched space if None."""
    reset, step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))
    act: Callable[[jax.Array], Any]
    if space is None:
        act = env.action_space(params).batch(num_envs).sample
    elif hasattr(space, "n"):
        act = lambda key: jax.random.randint(key, (num_envs,), 0, space.n)  # noqa: E731
    else:
        act = lambda key: jax.random.uniform(key, (num_envs, *space.shape), minval=space.low, maxval=space.high)  # noqa: E731
    return _loop(
        lambda key: reset(split(key, num_envs), params),
        lambda key, state, action: step(split(key, num_envs), state, action, params),
        act,
        num_steps,
        split,
        reading,
    )


def _loop(
    reset: Callable[[jax.Array], Any],
    step: Callable[[jax.Array, Any, Any], Any],
    act: Callable[[jax.Array], Any],
    num_steps: int,
    split: Callable[..., jax.Array],
    reading: str,
) -> Run:
    def run(key: jax.Array) -> jax.Array:
        key, key_reset = split(key, 2)
        obs, state = reset(key_reset)

        def body(carry: Any, number: jax.Array) -> tuple[Any, jax.Array]:
            key, obs, state = carry
            total = seen(obs, number)
            key, key_act, key_step = split(key, 3)
            obs, state, reward = step(key_step, state, act(key_act))[:3]
            return (key, as_read(obs, reading), state), total + reward.astype(jnp.float32).sum()

        start = (key, as_read(obs, reading), state)
        return jax.lax.scan(body, start, jnp.arange(num_steps, dtype=jnp.int32))[1].sum()

    return run


def _rollout(
    env_id: str, num_envs: int, num_steps: int, collect: Any, rollout: Any, with_network: bool = False
) -> Callable[[jax.Array], Any]:
    env, params = envcore.make(env_id)
    batch = Batched(env, num_envs)
    policy = _network(env, params) if with_network else random_policy(batch, params)

    def run(key: jax.Array) -> Any:
        return rollout(batch, policy, start_rollout(batch, key, params), num_steps, params, collect=collect)[1]

    return run


def _rollout_of(variant: str) -> Any:
    if not variant.endswith(_NATIVE):
        return run_rollout
    import envcore_native

    return envcore_native.run_rollout


def _network(env: Any, params: Any) -> Callable[..., Any]:
    """Returns a policy that evaluates a network of 64 x 64 units."""
    space = env.action_space(params)
    sizes = (math.prod(env.observation_space(params).shape), 64, 64, space.n if hasattr(space, "n") else space.shape[0])
    keys = jax.random.split(jax.random.PRNGKey(7), 3)
    weights = [jax.random.normal(k, (a, b)) / a**0.5 for k, a, b in zip(keys, sizes[:-1], sizes[1:], strict=True)]

    def policy(policy_params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
        hidden = obs.reshape(obs.shape[0], -1).astype(jnp.float32)
        for weight in weights[:-1]:
            hidden = jnp.tanh(hidden @ weight)
        out = hidden @ weights[-1]
        return out.argmax(-1).astype(jnp.int32) if hasattr(space, "n") else jnp.tanh(out)

    return policy


def _own_ppo(variant: str, env_id: str, num_envs: int, length: int, num_steps: int) -> Callable[[jax.Array], Any]:
    import purejaxrl
    from envcore_baselines.ppo import PPO, PPOConfig

    shape: dict[str, Any] = {"num_envs": num_envs, "rollout_steps": length, "total_steps": num_envs * num_steps}
    config = PPOConfig(**shape, minibatches=purejaxrl.MINIBATCHES)
    ppo = PPO(*envcore.make(env_id), config, rollout=_rollout_of(variant))

    def run(key: jax.Array) -> Any:
        state, totals = jax.lax.scan(lambda state, _: ppo.update(state), ppo.init(key), length=ppo.num_updates)
        return state.agent.network, totals

    return run


def _purejaxrl(variant: str, env_id: str, num_envs: int, length: int, num_steps: int) -> Callable[[jax.Array], Any]:
    import purejaxrl

    library = variant.partition(" ")[0]
    env, params = make_gymnax(env_id) if library == "gymnax" else envcore.make(env_id)
    num_updates = -(-num_steps // length)
    ppo = purejaxrl.make(logged(env, library), params, num_envs, length, num_updates)

    def run(key: jax.Array) -> Any:
        (weights, *_), info = jax.lax.scan(ppo.update, ppo.init(key), length=num_updates)
        return weights, info

    return run
