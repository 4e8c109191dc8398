"""Animations: saving frames, adding captions, and joining several into a mosaic.

Frames are uint8 (time, height, width, 3). Imports JAX, for envcore's colors, and Pillow only when they are needed.
"""

from __future__ import annotations

from envcore_viewer.animation.compose import caption as caption
from envcore_viewer.animation.compose import mosaic as mosaic
from envcore_viewer.animation.files import check_writable as check_writable
from envcore_viewer.animation.files import save_animation as save_animation

__all__ = ["caption", "check_writable", "mosaic", "save_animation"]
