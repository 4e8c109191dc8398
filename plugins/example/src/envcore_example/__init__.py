"""Windy gridworld for envcore: a complete suite with one environment, for use as a template.

    env, params = envcore.make("WindyGridworld-v0")

or, with types that your editor understands:

    from envcore_example import WindyGridworld

Names are imported on first use, so importing this package imports no environment.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_example.windy_gridworld import WindyGridworld as WindyGridworld
    from envcore_example.windy_gridworld import WindyGridworldParams as WindyGridworldParams
    from envcore_example.windy_gridworld import WindyGridworldState as WindyGridworldState

_NAMES = ["WindyGridworld", "WindyGridworldParams", "WindyGridworldState"]
__getattr__, __dir__, __all__ = lazy_names(__name__, {"windy_gridworld": _NAMES})
