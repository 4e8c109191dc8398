"""Trains agents in envcore's environments. Each algorithm is one file that you can read from top to bottom.

    trained = envcore_baselines.train("ppo", "CartPole-v1", seeds=5)
    agent = envcore_baselines.load("CartPole-v1")

On the command line, use `envcore train` and `envcore evaluate`. Names are imported on first use, because a plugin's
package must not import JAX.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_baselines.trained import TrainedAgent as TrainedAgent
    from envcore_baselines.trained import agents_of as agents_of
    from envcore_baselines.trained import load as load
    from envcore_baselines.training import TrainingResult as TrainingResult
    from envcore_baselines.training import train as train

__getattr__, __dir__, __all__ = lazy_names(
    __name__, {"trained": ["TrainedAgent", "agents_of", "load"], "training": ["TrainingResult", "train"]}
)
