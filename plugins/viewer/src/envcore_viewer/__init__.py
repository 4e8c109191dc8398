"""Animate envcore environments in files, in notebooks and in the terminal.

    vis = Visualizer(env, params, states, cum_rewards)
    vis.animate("episode.gif")

`Visualizer` is imported on first use, so importing this package imports neither JAX nor Pillow. The commands
`envcore render` and `envcore play` also need envcore-cli.
"""

from __future__ import annotations

from envcore.lazy import lazy_names

TYPE_CHECKING = False  # type checkers treat it as True
if TYPE_CHECKING:
    from envcore_viewer.visualize import Visualizer as Visualizer

__getattr__, __dir__, __all__ = lazy_names(__name__, {"visualize": ["Visualizer"]})
