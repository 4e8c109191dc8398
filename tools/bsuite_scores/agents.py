"""The agents to score. Each is a function that writes logs in bsuite's format to a folder."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import bsuite
import numpy as np
import pandas as pd
from bsuite import sweep
from bsuite.baselines import experiment, random

_RATIOS = (1, 1.2, 1.4, 1.7, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
_RANDOM_EPISODES = {
    "bandit": 10_000,
    "cartpole": 100,
    "cartpole_swingup": 20,
    "catch": 500,
    "deep_sea": 200,
    "deep_sea_stochastic": 200,
    "discounting_chain": 1_000,
    "memory_len": 200,
    "memory_size": 1_000,
    "mountain_car": 10,
    "umbrella_distract": 200,
    "umbrella_length": 200,
}


def random_agent(folder: Path) -> None:
    """Runs bsuite's random agent, with fewer episodes if these are long."""
    for bsuite_id in sweep.SWEEP:
        family = _family(bsuite_id)
        if family == "mnist":
            continue
        with contextlib.redirect_stdout(io.StringIO()):
            env: Any = bsuite.load_and_record(bsuite_id, str(folder), "csv")
        agent = random.default_agent(env.observation_spec(), env.action_spec(), seed=42)
        experiment.run(agent, env, _RANDOM_EPISODES[family])


def quick(folder: Path) -> None:
    """Learns most tasks in a tenth of the episodes."""
    rng = np.random.RandomState(1)
    for bsuite_id, episodes in _ids():
        _write(folder, bsuite_id, _learning(rng, bsuite_id, _logged(episodes), episodes, tau=0.03, floor=0.25))


def slow(folder: Path) -> None:
    """Learns some tasks after half of the episodes, and others never."""
    rng = np.random.RandomState(2)
    for bsuite_id, episodes in _ids():
        _write(folder, bsuite_id, _learning(rng, bsuite_id, _logged(episodes), episodes, tau=0.15, floor=0.3))


def unfinished(folder: Path) -> None:
    """Stops at different points, and skips some ids and three whole experiments."""
    rng = np.random.RandomState(3)
    for bsuite_id, episodes in _ids():
        played = int(episodes * rng.choice([1, 0.5, 0.1, 0.005], p=[0.4, 0.3, 0.2, 0.1]))
        started = rng.rand() < 0.6 and bsuite_id.split("/")[0] not in ("catch", "memory_len", "memory_size")
        if started:
            _write(folder, bsuite_id, _learning(rng, bsuite_id, _logged(played), episodes, tau=0.1, floor=0.1))


def overlong(folder: Path) -> None:
    """Continues after the last episode, in some logs twice.

    Logs of mnist start late, and logs of bandit do not contain the last episode.
    """
    rng = np.random.RandomState(4)
    for bsuite_id, episodes in _ids():
        name, number = bsuite_id.split("/")
        logged = _logged(2 * episodes)
        if name == "bandit":
            logged = logged[logged != episodes]
        if _family(bsuite_id) == "mnist" and rng.rand() < 0.7:
            logged = logged[logged > 0.95 * episodes]
        logs = [_learning(rng, bsuite_id, logged, episodes, tau=0.1, floor=0.2)]
        if int(number) % 3 == 0:
            shorter = _logged(int(episodes * rng.choice([0.5, 1, 1.5])))
            logs.append(_learning(rng, bsuite_id, shorter, episodes, tau=0.1, floor=0.2))
        if int(number) % 2 == 0 or name.startswith("deep_sea"):
            _write(folder, bsuite_id, pd.concat(logs))


def perfect(folder: Path) -> None:
    """Never fails. Has logs for every fourth id."""
    for bsuite_id, episodes in list(_ids())[::4]:
        logged = _logged(episodes)
        _write(folder, bsuite_id, _log(bsuite_id, logged, 0 * logged, np.ones(len(logged))))


def hopeless(folder: Path) -> None:
    """Always fails. Has logs for every fourth id."""
    for bsuite_id, episodes in list(_ids())[::4]:
        logged = _logged(episodes)
        _write(folder, bsuite_id, _log(bsuite_id, logged, logged, np.zeros(len(logged))))


AGENTS: Mapping[str, Callable[[Path], None]] = {
    "random": random_agent,
    "quick": quick,
    "slow": slow,
    "unfinished": unfinished,
    "overlong": overlong,
    "perfect": perfect,
    "hopeless": hopeless,
}


def _family(bsuite_id: str) -> str:
    """Returns the experiment of an id, without the suffix for noise or rescaled rewards."""
    return bsuite_id.split("/")[0].removesuffix("_noise").removesuffix("_scale")


def _ids() -> Iterator[tuple[str, int]]:
    """Iterates over all ids and their numbers of episodes."""
    yield from sweep.EPISODES.items()


def _logged(episodes: int) -> np.ndarray:
    """Returns the episodes that bsuite logs, up to the given number."""
    every = (round(10**power * ratio) for power in range(6) for ratio in _RATIOS if power or ratio == int(ratio))
    return np.array([episode for episode in every if episode <= episodes])


def _learning(
    rng: np.random.RandomState, bsuite_id: str, logged: np.ndarray, episodes: int, tau: float, floor: float
) -> pd.DataFrame:
    """Generates the log of an agent that learns.

    Its failure rate decays from 1 to about `floor`, within a fraction of about `tau` of the episodes. Both vary by id,
    and the later ids of an experiment are harder.
    """
    hardness = 3 * int(bsuite_id.split("/")[1]) / 20
    decay = episodes * tau * np.exp(rng.normal() + hardness - 1)
    lowest = min(1.0, floor * (rng.rand() + hardness / 2))
    failures = lowest * logged + (1 - lowest) * decay * (1 - np.exp(-logged / decay))
    skill = (1 - lowest) * (1 - np.exp(-logged / decay))
    return _log(bsuite_id, logged, np.minimum(np.round(failures).astype(int), logged), skill)


def _log(bsuite_id: str, logged: np.ndarray, failures: np.ndarray, skill: np.ndarray) -> pd.DataFrame:
    """Makes a log from the failures up to each logged episode, and the skill as a fraction of the best result."""
    columns: dict[str, np.ndarray]
    match _family(bsuite_id):
        case "bandit":
            total_return, columns = logged - failures, {"total_regret": failures}
        case "cartpole":
            total_return = 1000 * (logged - failures)
            columns = {"raw_return": total_return, "best_episode": np.round(1000 * skill)}
        case "cartpole_swingup":
            total_return = 700 * (logged - failures)
            best = np.round(250 * skill)
            columns = {"raw_return": total_return, "total_upright": logged - failures, "best_episode": best}
        case "catch" | "mnist":
            total_return, columns = logged - 2 * failures, {"total_regret": 2 * failures}
        case "deep_sea" | "deep_sea_stochastic":
            total_return = logged - failures
            columns = {"total_bad_episodes": failures, "denoised_return": total_return}
        case "discounting_chain":
            total_return, columns = (11 * logged - failures) / 10, {}
        case "memory_len" | "memory_size":
            total_return = logged - failures
            columns = {"total_perfect": logged - failures // 2, "total_regret": failures}
        case "mountain_car":
            total_return = -100 * logged - 900 * failures
            columns = {"raw_return": total_return}
        case "umbrella_distract" | "umbrella_length":
            total_return, columns = logged - failures, {"total_regret": failures}
        case family:
            raise ValueError(f"no log generator for {family}")
    standard = {"steps": 10 * logged, "episode": logged, "total_return": total_return.astype(float)}
    latest = {"episode_len": 10, "episode_return": np.sign(skill - 0.5)}
    return pd.DataFrame({**standard, **latest, **columns})


def _write(folder: Path, bsuite_id: str, log: pd.DataFrame) -> None:
    log.to_csv(folder / f"bsuite_id_-_{bsuite_id.replace('/', '-')}.csv", index=False)
