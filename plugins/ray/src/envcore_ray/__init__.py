"""Sweeps of envcore's experiments over a Ray cluster.

    from envcore_ray import RayWorkers

    run(agent, "results", workers=RayWorkers())

`RayWorkers` is imported on first use: importing this package imports neither Ray nor JAX.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_ray.workers import RayWorkers as RayWorkers

__getattr__, __dir__, __all__ = lazy_names(__name__, {"workers": ["RayWorkers"]})
