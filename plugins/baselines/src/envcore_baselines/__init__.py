"""Agents that learn in envcore's environments. An algorithm is one file, to be read from top to bottom.

    trained = envcore_baselines.train("ppo", "CartPole-v1", seeds=5)
    agent = envcore_baselines.load("CartPole-v1")

On the command line: `envcore train` and `envcore evaluate`. Names are imported on first use: a plugin's package may not
import JAX.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_baselines.trained import TrainedAgent as TrainedAgent
    from envcore_baselines.trained import load as load
    from envcore_baselines.training import Trained as Trained
    from envcore_baselines.training import train as train

__getattr__, __dir__, __all__ = lazy_names(
    __name__, {"trained": ["TrainedAgent", "load"], "training": ["Trained", "train"]}
)
