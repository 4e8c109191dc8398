"""`--gymnasium`: envcore behind Gymnasium's interface, beside Gymnasium itself, as their users step them."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

_STEPS = {1: 20_000, 8: 10_000, 64: 5_000, 1024: 1_000}
_SLOW_STEPS = {1: 20_000, 8: 2_000, 64: 200, 1024: 15}


def measure_all(repeats: int) -> list[dict[str, Any]]:
    """Environment steps per second of CPU time of each, in turns: medians."""
    results: list[dict[str, Any]] = []
    for num_envs in _STEPS:
        programs = {name: make(num_envs) for name, make in _makers(num_envs).items()}
        steps = {name: (_SLOW_STEPS if "Sync" in name else _STEPS)[num_envs] for name in programs}
        for name, env in programs.items():
            _run(env, num_envs, steps[name])  # compiles
        rates: dict[str, list[float]] = {name: [] for name in programs}
        for _ in range(repeats):
            for name, env in programs.items():
                rates[name].append(_run(env, num_envs, steps[name]))
        median = {name: statistics.median(each) for name, each in rates.items()}
        results += [{"num_envs": num_envs, "program": name, "steps_per_second": each} for name, each in median.items()]
    return results + _training()


def markdown(results: list[dict[str, Any]], *, header: bool) -> str:
    """The table of the results, each with the ratio of envcore's to it."""
    del header
    ours = {row["num_envs"]: row["steps_per_second"] for row in results if row["program"].startswith("envcore")}
    lines = ["| environments | program | steps/s | envcore's / this |", "|---|---|---|---|"]
    for row in results:
        rate = row["steps_per_second"]
        lines.append(f"| {row['num_envs']} | {row['program']} | {rate:,.0f} | {ours[row['num_envs']] / rate:.2f} |")
    return "\n".join(lines)


def _makers(num_envs: int) -> dict[str, Callable[[int], Any]]:
    ours, theirs = "envcore_adapters.gymnasium:envcore/CartPole-v1", "CartPole-v1"
    if num_envs == 1:
        alone = {"envcore": lambda _: gymnasium.make(ours), "Gymnasium": lambda _: gymnasium.make(theirs)}
        return {**alone, **_envpool()}
    return {
        "envcore": lambda n: gymnasium.make_vec(ours, num_envs=n),
        "Gymnasium, SyncVectorEnv": lambda n: gymnasium.make_vec(theirs, num_envs=n, vectorization_mode="sync"),
        "Gymnasium, CartPoleVectorEnv": lambda n: gymnasium.make_vec(theirs, num_envs=n),
        **_envpool(),
    }


def _envpool() -> dict[str, Callable[[int], Any]]:
    """EnvPool with one thread, where it is installed: `uv run --with envpool`."""
    if importlib.util.find_spec("envpool") is None:
        return {}
    make = importlib.import_module("envpool").make
    return {"EnvPool": lambda n: make("CartPole-v1", env_type="gymnasium", num_envs=n, num_threads=1)}


def _run(env: Any, num_envs: int, num_steps: int) -> float:
    """Steps per second of CPU time, with actions that keep the pole up for a while and new observations."""
    is_pool = hasattr(env, "async_reset")
    env.reset(**({} if is_pool else {"seed": 0}))
    batch = [np.full(num_envs, action) for action in (0, 1)]
    start = time.process_time()
    obs: Any = None
    for step in range(num_steps):
        if num_envs == 1 and not is_pool:
            obs, _, terminated, truncated, _ = env.step(step % 2)
            if terminated or truncated:
                env.reset()
        else:
            obs = env.step(batch[step % 2])[0]
    assert np.isfinite(obs).all()
    return num_envs * num_steps / (time.process_time() - start)


def _training() -> list[dict[str, Any]]:
    """Stable-Baselines3's PPO on one environment of each, where it is installed."""
    try:
        from stable_baselines3 import PPO  # pyright: ignore[reportMissingImports]
    except ImportError:
        return []
    results: list[dict[str, Any]] = []
    for name, env_id in (("envcore", "envcore_adapters.gymnasium:envcore/CartPole-v1"), ("Gymnasium", "CartPole-v1")):
        model = PPO("MlpPolicy", env_id, seed=0, device="cpu")
        model.learn(2048)
        start = time.perf_counter()
        model.learn(8192)
        rate = model.num_timesteps / (time.perf_counter() - start)
        results.append({"num_envs": "PPO", "program": f"{name}, Stable-Baselines3", "steps_per_second": rate})
    return results
