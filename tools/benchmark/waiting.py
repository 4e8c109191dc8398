"""Startup time: CPU seconds from `make` to a first result, for imports, tracing and compilation.

Each program runs in a separate process on one core, first without and then with JAX's compilation cache. The time to
import JAX and start its backend, about a second, is not included. `python waiting.py SIDE PROGRAM ID FOLDER [--cached]`
measures one program.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import measure
from workloads import has_gymnax

NUM_ENVS, NUM_STEPS = 64, 128  # of rollouts and PPO updates

Program = Callable[[str, str], Any]
"""A function that computes a result, given a side, "envcore" or "gymnax", and an environment id."""


def _make(side: str, env_id: str) -> tuple[Any, Any]:
    if side == "envcore":
        import envcore

        return envcore.make(env_id)
    from workloads import make_gymnax

    return make_gymnax(env_id)


def _step(side: str, env_id: str) -> Any:
    """Resets and steps one environment, each with `jit`."""
    import jax

    env, params = _make(side, env_id)
    key = jax.random.key(0) if side == "envcore" else jax.random.PRNGKey(0)
    _, state = jax.jit(env.reset)(key, params)
    action = jax.jit(env.action_space(params).sample)(key)
    return jax.jit(env.step)(key, state, action, params)


def _rollout(side: str, env_id: str) -> Any:
    """Rolls out random actions in a batch of environments."""
    import jax

    env, params = _make(side, env_id)
    if side == "envcore":
        from envcore.rollout import run_rollout, start_rollout
        from envcore.wrappers import Batched

        batch = Batched(env, NUM_ENVS)

        def play(key: jax.Array) -> Any:
            space = env.action_space(params)
            policy: Any = lambda _, obs, key: jax.vmap(space.sample)(jax.random.split(key, NUM_ENVS))  # noqa: E731
            return run_rollout(batch, policy, start_rollout(batch, key, params), NUM_STEPS, params)

        return jax.jit(play)(jax.random.key(0))

    reset, step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))
    sample = jax.vmap(env.action_space(params).sample)

    def body(carry: Any, _: None) -> tuple[Any, Any]:
        key, state = carry
        key, key_act, key_step = jax.random.split(key, 3)
        action = sample(jax.random.split(key_act, NUM_ENVS))
        obs, state, reward, *ended, info = step(jax.random.split(key_step, NUM_ENVS), state, action, params)
        return (key, state), (obs, action, reward, ended, info)

    def play_gymnax(key: jax.Array) -> Any:
        _, state = reset(jax.random.split(key, NUM_ENVS), params)
        return jax.lax.scan(body, (key, state), length=NUM_STEPS)

    return jax.jit(play_gymnax)(jax.random.PRNGKey(0))


def _update(side: str, env_id: str) -> Any:
    """Computes the first update of PPO, with envcore's PPO or, on gymnax's environments, PureJaxRL's."""
    import jax

    env, params = _make(side, env_id)
    if side == "envcore":
        from envcore_baselines.ppo import PPO, PPOConfig

        ppo = PPO(env, params, PPOConfig(num_envs=NUM_ENVS, rollout_steps=NUM_STEPS))
        return jax.jit(ppo.update)(jax.jit(ppo.init)(jax.random.key(0)))

    import purejaxrl
    from workloads import logged

    found = purejaxrl.make(logged(env, "gymnax"), params, NUM_ENVS, NUM_STEPS, 1000)
    return jax.jit(found.update)(jax.jit(found.init)(jax.random.PRNGKey(0)), None)


PROGRAMS: dict[str, Program] = {"step": _step, "rollout": _rollout, "update": _update}


def measure_all(ids: Iterable[str], runs: int) -> Iterator[dict[str, Any]]:
    """Yields a row for each environment and side, with the seconds of each program without and with the cache.

    The fastest of several runs counts, because other load makes a process up to 50% slower, but never faster.
    """
    for env_id in ids:
        for side in ("envcore", "gymnax")[: 1 + has_gymnax(env_id)]:
            row: dict[str, Any] = {"id": env_id, "variant": side, "num_envs": NUM_ENVS}
            for program in PROGRAMS:
                found: list[list[float]] = []
                for _ in range(runs):
                    with tempfile.TemporaryDirectory() as folder:
                        arguments = __file__, side, program, env_id, folder
                        found.append([measure.in_process(*arguments, *more) for more in ([], ["--cached"])])
                row[program] = [None if None in each else round(min(each), 2) for each in zip(*found, strict=True)]
            yield row


def main() -> None:
    """Runs one program and prints its seconds. Without `--cached`, it then fills the cache."""
    side, program, env_id, folder, *more = sys.argv[1:]
    measure.on_one_core()
    import jax

    jax.block_until_ready(jax.numpy.zeros(1) + 1)
    if more:
        _use_folder(folder)
    started = time.process_time()
    jax.block_until_ready(PROGRAMS[program](side, env_id))
    print(time.process_time() - started)
    if not more:
        _use_folder(folder)
        jax.clear_caches()
        jax.block_until_ready(PROGRAMS[program](side, env_id))


def _use_folder(folder: str) -> None:
    """Sets the folder of JAX's compilation cache, and caches all programs."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_compilation_cache_dir", folder)
    compilation_cache.reset_cache()  # it was initialized without a folder


if __name__ == "__main__":
    main()
