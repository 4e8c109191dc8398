"""The viewer's errors. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class AnimationError(EnvcoreError, ValueError):
    """The frames are not a valid animation, or it cannot be written to the path."""


class PlayError(EnvcoreError, ValueError):
    """An environment cannot be played by hand, or not in this terminal."""
