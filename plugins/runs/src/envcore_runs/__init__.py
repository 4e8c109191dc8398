"""Long rollouts, measured, saved, continued and recorded; and what training and sweeps need for that too.

    envcore_runs.rollout("Breakout-MinAtar", num_envs=2048, steps=10**6, out="breakout", record=("obs", "action"))

Importing this package imports neither JAX nor anything that prints: its names are imported on first use.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take most of this module's time
if TYPE_CHECKING:
    from typing import Any

    from envcore_runs.episode_statistics import EpisodeStatistics as EpisodeStatistics
    from envcore_runs.errors import NotEnoughMemoryError as NotEnoughMemoryError
    from envcore_runs.errors import ProcessError as ProcessError
    from envcore_runs.run import RolloutResult as RolloutResult
    from envcore_runs.run import rollout as rollout

_MODULES = {
    "EpisodeStatistics": "episode_statistics",
    "NotEnoughMemoryError": "errors",
    "ProcessError": "errors",
    "RolloutResult": "run",
    "rollout": "run",
}

__all__ = ["EpisodeStatistics", "NotEnoughMemoryError", "ProcessError", "RolloutResult", "rollout"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
