"""`--bridges`: compare bridged environments with the libraries' loops."""

from __future__ import annotations

import functools
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import envcore
import jax
import jax.numpy as jnp
import measure
from envcore.wrappers import Batched
from envcore_bridges.base import default_numerics
from envcore_bridges.libraries import is_installed
from workloads import as_read, seen

ENVIRONMENTS = (
    "brax/inverted_pendulum",
    "brax/ant",
    "jumanji/Snake-v1",
    "jumanji/Game2048-v1",
    "jumanji/Maze-v0",
    "pgx/2048",
    "pgx/minatar-breakout",
    "navix/Navix-Empty-8x8-v0",
    "navix/Navix-DoorKey-8x8-v0",
    "xminigrid/MiniGrid-Empty-8x8",
    "xminigrid/MiniGrid-DoorKey-8x8",
    "jaxtari/pong",
    "craftax/Craftax-Symbolic-v1",
    "gymnax/CartPole-v1",
    "gymnax/DiscountingChain-bsuite",
    "gymnax/SimpleBandit-bsuite",
    "playground/CartpoleBalance",
    "gymnasium/CartPole-v1",
    "gymnasium/InvertedPendulum-v5",
    "gymnasium/HalfCheetah-v5",
    "gymnasium/Ant-v5",
    "gymnasium/LunarLander-v3",
    "gymnasium/ALE/Pong-v5",
)


class Loop(NamedTuple):
    """The way a library steps a batch with auto-reset.

    Attributes:
      reset: `reset(keys) -> state`, for keys (num_envs, 2).
      step: `step(state, actions, keys) -> state`, with an action and a key for each environment.
      read: `read(state) -> (obs, reward)`, a pytree of observations (num_envs, ...) and float rewards (num_envs,).
    """

    reset: Callable[[jax.Array], Any]
    step: Callable[[Any, Any, jax.Array], Any]
    read: Callable[[Any], tuple[Any, jax.Array]]


def _brax(env: Any) -> Loop:
    from brax.envs import training

    wrapped: Any = training.wrap(env.library_env, episode_length=1000)
    return Loop(wrapped.reset, lambda state, action, keys: wrapped.step(state, action), lambda s: (s.obs, s.reward))


def _jumanji(env: Any) -> Loop:
    from jumanji.wrappers import VmapAutoResetWrapper

    wrapped: Any = VmapAutoResetWrapper(env.library_env)
    return Loop(
        wrapped.reset,
        lambda state, action, keys: wrapped.step(state[0], action),
        lambda state: (state[1].observation, state[1].reward),
    )


def _craftax(env: Any) -> Loop:
    from craftax.craftax_env import make_craftax_env_from_name  # pyright: ignore[reportMissingImports]

    return _with_gymnax_s_interface(make_craftax_env_from_name(env.name.partition("/")[2], auto_reset=True))


def _gymnax(env: Any) -> Loop:
    return _with_gymnax_s_interface(env.library_env)


def _with_gymnax_s_interface(theirs: Any) -> Loop:
    params = theirs.default_params
    step = jax.vmap(theirs.step, (0, 0, 0, None))
    return Loop(
        lambda keys: (*jax.vmap(theirs.reset, (0, None))(keys, params), jnp.zeros(len(keys))),
        lambda state, action, keys: step(keys, state[1], action, params)[:3],
        lambda state: (state[0], state[2]),
    )


def _jaxtari(env: Any) -> Loop:
    from jaxtari.wrappers import AtariWrapper, ObjectCentricWrapper

    # The observation wrapper adds auto-reset, and everything else that the wrappers do is off.
    frames = AtariWrapper(env.library_env, sticky_actions=0, episodic_life=False, first_fire=False, noop_max=0)
    wrapped: Any = ObjectCentricWrapper(frames, frame_stack_size=1, frame_skip=1, clip_reward=False)
    step = jax.vmap(wrapped.step)
    return Loop(
        lambda keys: (*jax.vmap(wrapped.reset)(keys), jnp.zeros(len(keys))),
        lambda state, action, keys: step(state[1], action)[:3],
        lambda state: (state[0], state[2]),
    )


def _pgx(env: Any) -> Loop:
    from pgx.experimental import auto_reset

    game = env.library_env
    step = jax.vmap(auto_reset(game.step, game.init))
    return Loop(jax.vmap(game.init), step, lambda s: (s.observation, s.rewards[:, 0]))


def _navix(env: Any) -> Loop:
    task = env.library_env
    step = jax.vmap(task.step)
    return Loop(
        jax.vmap(task.reset), lambda state, action, keys: step(state, action), lambda s: (s.observation, s.reward)
    )


def _playground(env: Any) -> Loop:
    from mujoco_playground import wrapper  # pyright: ignore[reportMissingImports]

    wrapped: Any = wrapper.wrap_for_brax_training(env.library_env, episode_length=env.time_limit)
    return Loop(wrapped.reset, lambda state, action, keys: wrapped.step(state, action), lambda s: (s.obs, s.reward))


def _xminigrid(env: Any) -> Loop:
    from xminigrid.wrappers import GymAutoResetWrapper

    inner, params = env.library_env
    wrapped = GymAutoResetWrapper(inner)
    step = jax.vmap(wrapped.step, (None, 0, 0))
    return Loop(
        lambda keys: jax.vmap(wrapped.reset, (None, 0))(params, keys),
        lambda state, action, keys: step(params, state, action),
        lambda state: (state.observation, state.reward),
    )


LOOPS: dict[str, Callable[[Any], Loop]] = {
    "brax": _brax,
    "craftax": _craftax,
    "gymnax": _gymnax,
    "jaxtari": _jaxtari,
    "jumanji": _jumanji,
    "navix": _navix,
    "pgx": _pgx,
    "playground": _playground,
    "xminigrid": _xminigrid,
}
"""Functions that make the loop from the bridge's environment, by the library's name in ids."""


def measure_all(ids: Sequence[str], num_envs: int, num_steps: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Measures median million environment steps per second, in turns, and the ratio to the library's loop."""
    for env_id in ids:
        library = env_id.partition("/")[0]
        if library not in _PROGRAMS or not is_installed(library):
            print(f"{env_id} is left out: {library} is not installed or has no loop here.", file=sys.stderr)
            continue
        env, params = envcore.make(env_id)
        programs = {
            "envcore": jax.jit(_ours(env, params, num_envs, num_steps)),
            library: _PROGRAMS[library](env, num_envs, num_steps),
        }
        found = measure.alternate(programs, repeats)
        medians = {name: statistics.median(seconds) for name, seconds in found.items()}
        for name, seconds in medians.items():
            speed = num_envs * num_steps / seconds / 1e6
            row = {"id": env_id, "num_envs": num_envs, "variant": name, "speed": float(f"{speed:.3g}")}
            yield row | {"ratio": medians[library] / seconds}


def _ours(env: Any, params: Any, num_envs: int, num_steps: int) -> Callable[[jax.Array], jax.Array]:
    batch = Batched(env, num_envs)
    actions = batch.action_space(params)

    def run(key: jax.Array) -> jax.Array:
        def body(carry: Any, step: jax.Array) -> tuple[Any, jax.Array]:
            key, state, obs = carry
            key, key_act, key_step = envcore.random.split(key, 3)
            total = seen(obs, step)
            obs, state, reward, _, _ = batch.step(key_step, state, actions.sample(key_act), params)
            return (key, state, flat(obs)), total + reward.sum()

        obs, state = batch.reset(key, params)
        return jax.lax.scan(body, (key, state, flat(obs)), jnp.arange(num_steps))[1].sum()

    return run


def _compiled(loop_of: Callable[[Any], Loop], env: Any, num_envs: int, num_steps: int) -> Callable[..., Any]:
    loop = loop_of(env)
    actions = env.action_space(env.default_params).batch(num_envs)

    def run(key: jax.Array) -> jax.Array:
        def body(carry: Any, step: jax.Array) -> tuple[Any, jax.Array]:
            key, state, obs = carry
            key, key_act, key_step = jax.random.split(key, 3)
            total = seen(obs, step)
            with default_numerics():
                state = loop.step(state, actions.sample(key_act), jax.random.split(key_step, num_envs))
            now, reward = loop.read(state)
            return (key, state, flat(now)), total + reward.sum()

        state = _as_after_a_step(loop, loop.reset(jax.random.split(key, num_envs)), actions, num_envs)
        return jax.lax.scan(body, (key, state, flat(loop.read(state)[0])), jnp.arange(num_steps))[1].sum()

    return jax.jit(run)


def _gymnasium(env: Any, num_envs: int, num_steps: int) -> Callable[[jax.Array], float]:
    import gymnasium

    envs = gymnasium.make_vec(env.source, num_envs=num_envs, vectorization_mode="sync")

    def run(key: jax.Array) -> float:
        obs, _ = envs.reset(seed=int(key[-1]))
        total = 0.0
        for step in range(num_steps):
            numbers = obs.reshape(num_envs, -1)
            total += numbers[:, step % numbers.shape[1]].sum()
            obs, reward, *_ = envs.step(envs.action_space.sample())
            total += reward.sum()
        return total

    return run


def _as_after_a_step(loop: Loop, state: Any, actions: Any, num_envs: int) -> Any:
    """Converts the state to the dtypes that it has after a step, which a scan needs."""
    keys = jax.random.split(jax.random.PRNGKey(0), num_envs)
    after = jax.eval_shape(lambda state: loop.step(state, actions.sample(keys[0]), keys), state)
    return jax.tree.map(lambda x, like: jnp.asarray(x, like.dtype), state, after)


def flat(obs: Any) -> jax.Array:
    """Flattens a batch of observations to float32 (num_envs, size)."""
    leaves = [as_read(leaf.reshape(leaf.shape[0], -1), "float32") for leaf in jax.tree.leaves(obs)]
    return leaves[0] if len(leaves) == 1 else jnp.concatenate(leaves, axis=1)


_PROGRAMS: dict[str, Callable[[Any, int, int], Callable[[jax.Array], Any]]] = {
    **{library: functools.partial(_compiled, loop_of) for library, loop_of in LOOPS.items()},
    "gymnasium": _gymnasium,
}
"""Functions that make the program to time, by the library's name in ids: compiled, but for Gymnasium's."""
