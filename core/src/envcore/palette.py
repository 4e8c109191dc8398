"""The colors that all pictures share. Imports no JAX, unlike `envcore.painting`: animation files use them too."""

from __future__ import annotations

from typing import Any

Color = tuple[Any, Any, Any]
"""Red, green and blue, scalars from 0 to 255."""

PAPER: Color = (246, 244, 239)  # the background
SHADE: Color = (226, 223, 214)  # guides and other things in the background
STONE: Color = (160, 164, 171)  # fixed parts: rails, walls, posts
INK: Color = (38, 45, 58)  # wheels, joints, outlines
BLUE: Color = (49, 104, 178)
ORANGE: Color = (233, 130, 52)
GREEN: Color = (98, 158, 107)
RED: Color = (208, 66, 61)
YELLOW: Color = (244, 190, 66)
