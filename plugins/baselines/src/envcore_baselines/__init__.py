"""Agents that learn in envcore's environments. Each algorithm is one file, to be read from top to bottom.

envcore train ppo CartPole-v1 --out cartpole
envcore evaluate cartpole
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from envcore_baselines.trained import TrainedAgent

try:
    from envcore.errors import InvalidActionError as _  # noqa: F401
except ImportError:  # another project's `envcore` is installed
    import importlib.metadata
    import sys

    found = [each.version for each in importlib.metadata.distributions(name="envcore")][:1]
    found += [str(getattr(sys.modules.get("envcore"), "__file__", "not importable"))]
    raise ImportError(
        f"{__name__} needs envcore>=0.2, the library of JAX environments, and the installed envcore is not that "
        f"({', '.join(found)}): run `pip install ./core` in a clone of its repository, or "
        "`pip install 'envcore>=0.2'` once it is released"
    ) from None


def load(env_id: str) -> TrainedAgent:
    """The trained agent of an environment that comes with this package, the best one that we have.

    Raises:
      FileError: there is none.
      UnknownEnvironmentError: the suite of the environment is not installed.
    """
    from envcore_baselines import trained  # here, because a plugin's package may not import JAX

    return trained.TrainedAgent.of_file(trained.path_of(env_id))
