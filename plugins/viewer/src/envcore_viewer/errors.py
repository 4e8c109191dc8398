"""Errors of pictures and their files. Imports nothing heavy."""

from __future__ import annotations

from envcore.errors import EnvcoreError


class AnimationError(EnvcoreError, ValueError):
    """The frames are no animation, or there is no way to write one to the path."""


class MissingExtraError(AnimationError, ImportError):
    """The format needs a package that an extra of envcore-viewer installs: the message names the extra."""


class VisualizerError(EnvcoreError, ValueError):
    """What a `Visualizer` was given is no episode, or its parts do not belong together."""


class PlayError(EnvcoreError, ValueError):
    """An environment cannot be played by hand, or not here."""


class GalleryError(EnvcoreError, ValueError):
    """There is nothing to make a gallery of, or no place to write it to."""
