"""Waiting: seconds of a CPU from `make` to a first result, which are imports, tracing and compilation.

Each program runs in a process of its own on one core, first as it is, then with the compiled programs that a run before
has kept. Importing JAX and starting its backend, about a second, are not counted. `python waiting.py SIDE PROGRAM ID
FOLDER [--cached]` measures one.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from importlib import metadata
from typing import Any

import processes
import report

NUM_ENVS, NUM_STEPS = 64, 128  # of rollouts, and of an update of PPO

Program = Callable[[str, str], Any]
"""What computes a result from a side, "envcore" or "gymnax", and the id of an environment."""


def _make(side: str, env_id: str) -> tuple[Any, Any]:
    if side == "envcore":
        import envcore

        return envcore.make(env_id)
    from peers import make_gymnax

    return make_gymnax(env_id)


def _step(side: str, env_id: str) -> Any:
    """Reset and step of one environment, each jitted."""
    import jax

    env, params = _make(side, env_id)
    key = jax.random.key(0) if side == "envcore" else jax.random.PRNGKey(0)
    _, state = jax.jit(env.reset)(key, params)
    action = jax.jit(env.action_space(params).sample)(key)
    return jax.jit(env.step)(key, state, action, params)


def _rollout(side: str, env_id: str) -> Any:
    """Random actions in a batch of environments."""
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
    """A first update of PPO: of ours, on gymnax's environments of PureJaxRL's."""
    import jax

    env, params = _make(side, env_id)
    if side == "envcore":
        from envcore_baselines.ppo import PPO, PPOConfig

        ppo = PPO(env, params, PPOConfig(num_envs=NUM_ENVS, rollout_steps=NUM_STEPS))
        return jax.jit(ppo.update)(jax.jit(ppo.init)(jax.random.key(0)))

    import purejaxrl
    from training import gymnax_log

    found = purejaxrl.make(gymnax_log(env), params, NUM_ENVS, NUM_STEPS, 1000)
    return jax.jit(found.update)(jax.jit(found.init)(jax.random.PRNGKey(0)), None)


PROGRAMS: dict[str, Program] = {"step": _step, "rollout": _rollout, "update": _update}


def measure_all(ids: Iterable[str], runs: int, on_row: Callable[[dict[str, Any]], None]) -> list[dict[str, Any]]:
    """A row for each environment and side: the seconds of each program, "cold" and "cached"; None where it fails.

    Sides alternate, and of several runs the fastest counts: what else a processor does makes a process slower by up to
    a half, never faster.
    """
    from peers import has_gymnax

    processes.compile_modules()
    rows: list[dict[str, Any]] = []
    for env_id in ids:
        sides = ("envcore", "gymnax")[: 1 + has_gymnax(env_id)]
        found = {(side, program): [] for side in sides for program in PROGRAMS}
        for side, program in list(found) * runs:
            with tempfile.TemporaryDirectory() as folder:
                arguments = __file__, side, program, env_id, folder
                found[side, program].append([processes.last_line(*arguments, *more) for more in ([], ["--cached"])])
        for side in sides:
            row: dict[str, Any] = {"id": env_id, "variant": side, "num_envs": NUM_ENVS, "jax": metadata.version("jax")}
            row |= {
                program: [_fastest(seconds) for seconds in zip(*found[side, program], strict=True)]
                for program in PROGRAMS
            }
            rows.append(row)
            on_row(row)
    return rows


def _fastest(seconds: Iterable[float | None]) -> float | None:
    return min((each for each in seconds if each is not None), default=None)


def markdown(rows: list[dict[str, Any]], header: bool) -> str:
    """A line for each row: seconds cold, and cached in brackets."""

    def cell(seconds: list[float | None]) -> str:
        cold, cached = seconds
        return "" if cold is None or cached is None else f"{cold:.2f} ({cached:.2f})"

    lines = [(row["id"], row["variant"], *(cell(row[program]) for program in PROGRAMS)) for row in rows]
    return report.table(("id", "library", *PROGRAMS), lines, header)


def main() -> None:
    """Runs one program and prints its seconds; unless they are `--cached`, it then keeps what it compiled."""
    side, program, env_id, folder, *more = sys.argv[1:]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
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
    """Keeps all compiled programs in the folder, and loads those that it holds."""
    import jax
    from jax.experimental.compilation_cache import compilation_cache

    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    jax.config.update("jax_compilation_cache_dir", folder)
    compilation_cache.reset_cache()  # it has begun without a folder


if __name__ == "__main__":
    main()
