"""Pictures: the render modes that the adapters have."""

from __future__ import annotations

from envcore.errors import InvalidArgumentError

RENDER_MODES = ("rgb_array",)
RENDER_HEIGHT = 400
"""In pixels, by default: that of most of Gymnasium's own pictures."""


def check_render_mode(render_mode: str | None) -> None:
    """Raises `InvalidArgumentError` where the mode is not one of those that the adapters have by themselves."""
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise InvalidArgumentError(
            f"render_mode must be None or 'rgb_array', got {render_mode!r}; with 'human' and 'rgb_array_list', use "
            "gymnasium.make, or put gymnasium.wrappers.HumanRendering or RenderCollection around the environment."
        )
