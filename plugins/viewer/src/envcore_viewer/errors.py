"""The viewer's errors. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class AnimationError(EnvcoreError, ValueError):
    """The frames are invalid, or the animation cannot be written to the path."""


class PlayError(EnvcoreError, ValueError):
    """The environment cannot be played by hand, or this terminal is unsuitable."""
