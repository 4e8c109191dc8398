"""Pictures: the render modes and heights that the adapters take."""

from __future__ import annotations

from envcore.errors import InvalidArgumentError
from envcore.options import positive_integer

RENDER_MODES = ("rgb_array",)
RENDER_HEIGHT = 400
"""In pixels, by default: that of most of Gymnasium's own pictures."""


def check_rendering(render_mode: str | None, height: int) -> None:
    """Raises `InvalidArgumentError` where the adapters do not have the mode by themselves, or the height is invalid."""
    positive_integer("render_height", height, InvalidArgumentError)
    if render_mode is not None and render_mode not in RENDER_MODES:
        raise InvalidArgumentError(
            f"render_mode must be None or 'rgb_array', got {render_mode!r}; with 'human' and 'rgb_array_list', use "
            "gymnasium.make, or put gymnasium.wrappers.HumanRendering or RenderCollection around the environment."
        )
