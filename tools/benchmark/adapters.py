"""`--gymnasium`: compare envcore's Gymnasium adapter with Gymnasium itself, stepped from Python."""

from __future__ import annotations

import importlib.util
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gymnasium
import numpy as np

ENVIRONMENTS = ("CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1", "Pendulum-v1")
"""Environments that Gymnasium and EnvPool have too."""

_SECONDS = 0.3


def measure_all(ids: Iterable[str], repeats: int) -> Iterator[dict[str, Any]]:
    """Measures median environment steps per second of CPU time, in turns, and the ratio of envcore's speed to each."""
    for env_id in ids:
        for num_envs in (1, 8, 64, 1024):
            programs = {name: make(num_envs) for name, make in _makers(env_id, num_envs).items()}
            steps = {name: max(20, int(_rate(env, num_envs, 20) * _SECONDS)) for name, env in programs.items()}
            rates: dict[str, list[float]] = {name: [] for name in programs}
            for _ in range(repeats):
                for name, env in programs.items():
                    rates[name].append(num_envs * _rate(env, num_envs, steps[name]))
            medians = {name: statistics.median(each) for name, each in rates.items()}
            for name, rate in medians.items():
                row = {"id": env_id, "num_envs": num_envs, "variant": name, "steps per second": rate}
                yield row | {"envcore's / this": medians["envcore"] / rate}
    yield from _training()


def _makers(env_id: str, num_envs: int) -> dict[str, Callable[[int], Any]]:
    ours = f"envcore_adapters.gymnasium:envcore/{env_id}"
    makers: dict[str, Callable[[int], Any]] = {}
    if num_envs == 1:
        makers = {"envcore": lambda _: gymnasium.make(ours), "Gymnasium": lambda _: gymnasium.make(env_id)}
    else:
        makers["envcore"] = lambda n: gymnasium.make_vec(ours, num_envs=n)
        makers["Gymnasium, one by one"] = lambda n: gymnasium.make_vec(env_id, num_envs=n, vectorization_mode="sync")
        if gymnasium.spec(env_id).vector_entry_point:
            makers["Gymnasium, in numpy"] = lambda n: gymnasium.make_vec(env_id, num_envs=n)
    if importlib.util.find_spec("envpool") is not None:  # `uv run --with envpool`
        make = importlib.import_module("envpool").make
        makers["EnvPool"] = lambda n: make(env_id, env_type="gymnasium", num_envs=n, num_threads=1)
    return makers


def _rate(env: Any, num_envs: int, num_calls: int) -> float:
    """Measures calls of `step` per second of CPU time."""
    is_pool = hasattr(env, "async_reset")
    obs = env.reset(**({} if is_pool else {"seed": 0}))[0]
    batches = _actions(env, num_envs, is_pool)
    is_one = num_envs == 1 and not is_pool
    start = time.process_time()
    for call in range(num_calls):
        if is_one:
            obs, _, terminated, truncated, _ = env.step(batches[call % 2])
            if terminated or truncated:
                env.reset()
        else:
            obs = env.step(batches[call % 2])[0]
    elapsed = time.process_time() - start
    assert np.isfinite(obs).all()
    return num_calls / elapsed


def _actions(env: Any, num_envs: int, is_pool: bool) -> list[Any]:
    """Returns two actions to alternate, which keeps a pole up for a while."""
    space = env.action_space if is_pool else getattr(env, "single_action_space", env.action_space)
    is_discrete = hasattr(space, "n")
    values = [0, int(space.n) - 1] if is_discrete else [space.low, space.high]
    if num_envs == 1 and not is_pool:
        return [value if is_discrete else np.asarray(value) for value in values]
    return [np.stack([np.asarray(value)] * num_envs) for value in values]


def _training() -> Iterator[dict[str, Any]]:
    """Measures Stable-Baselines3's PPO on one environment of each library, if it is installed."""
    if importlib.util.find_spec("stable_baselines3") is None:
        return
    ppo = importlib.import_module("stable_baselines3").PPO
    for name, env_id in (("envcore", "envcore_adapters.gymnasium:envcore/CartPole-v1"), ("Gymnasium", "CartPole-v1")):
        model = ppo("MlpPolicy", env_id, seed=0, device="cpu")
        model.learn(2048)
        start = time.perf_counter()
        model.learn(8192)
        rate = model.num_timesteps / (time.perf_counter() - start)
        row = {"id": "CartPole-v1", "num_envs": "PPO", "variant": f"{name}, SB3", "steps per second": rate}
        yield row | {"envcore's / this": None}
