"""Runs agents on bsuite's 468 settings. Requires the extra `envcore-baselines[bsuite]`.

    from envcore_baselines import bsuite

    bsuite.run(bsuite.dqn, "results/dqn", EXPERIMENTS["catch"].ids)

On the command line, use `envcore bsuite`. To compute the score, use `envcore_bsuite.analysis`. Names are imported on
first use.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_baselines.bsuite.agents import Agent as Agent
    from envcore_baselines.bsuite.agents import bootstrapped_dqn as bootstrapped_dqn
    from envcore_baselines.bsuite.agents import dqn as dqn
    from envcore_baselines.bsuite.agents import ppo as ppo
    from envcore_baselines.bsuite.agents import random_agent as random_agent
    from envcore_baselines.bsuite.agents import recurrent_ppo as recurrent_ppo
    from envcore_baselines.bsuite.runner import run as run

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {"agents": ["Agent", "bootstrapped_dqn", "dqn", "ppo", "random_agent", "recurrent_ppo"], "runner": ["run"]},
)
