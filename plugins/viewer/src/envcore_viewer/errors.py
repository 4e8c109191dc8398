"""Errors of animations and their files. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class AnimationError(EnvcoreError, ValueError):
    """The frames are not a valid animation, or it cannot be written to the path."""


class MissingExtraError(AnimationError, ImportError):
    """The format needs an extra of envcore-viewer that is not installed; the message names it."""


class VisualizerError(EnvcoreError, ValueError):
    """The arguments of a `Visualizer` are not an episode, or do not match each other."""


class PlayError(EnvcoreError, ValueError):
    """An environment cannot be played by hand, or not in this terminal."""
