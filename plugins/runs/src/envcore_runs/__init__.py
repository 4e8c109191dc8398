"""Run, save, resume and record long rollouts, with tools that training and sweeps share.

    envcore_runs.rollout("Breakout-MinAtar", num_envs=2048, steps=10**6, out="breakout", record=("obs", "action"))

Names are imported on first use, so importing this package imports neither JAX nor anything that prints.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_runs.episodes import EpisodeStatistics as EpisodeStatistics
    from envcore_runs.errors import NotEnoughMemoryError as NotEnoughMemoryError
    from envcore_runs.errors import ProcessError as ProcessError
    from envcore_runs.run import RolloutResult as RolloutResult
    from envcore_runs.run import rollout as rollout

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "episodes": ["EpisodeStatistics"],
        "errors": ["NotEnoughMemoryError", "ProcessError"],
        "run": ["RolloutResult", "rollout"],
    },
)
