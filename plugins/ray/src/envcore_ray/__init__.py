"""Train agents with Ray Tune.

    tuner = ray.tune.Tuner(envcore_ray.trainable("ppo", "CartPole-v1", seeds=5), param_space={...})

`trainable` is imported on first use, so importing this package imports neither Ray nor JAX.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_ray.training import trainable as trainable

__getattr__, __dir__, __all__ = lazy_names(__name__, {"training": ["trainable"]})
