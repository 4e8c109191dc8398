"""Agents that learn in envcore's environments. Each algorithm is one file, to be read from top to bottom.

envcore train ppo CartPole-v1 --out cartpole
envcore evaluate cartpole
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcore_baselines.trained import TrainedAgent


def load(env_id: str) -> TrainedAgent:
    """The trained agent of an environment that comes with this package, the best one that we have.

    Raises:
      FileError: there is none.
      UnknownEnvironmentError: the suite of the environment is not installed.
    """
    from envcore_baselines import trained  # here, because a plugin's package may not import JAX

    return trained.TrainedAgent.of_file(trained.path_of(env_id))
