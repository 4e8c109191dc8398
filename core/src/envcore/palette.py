"""The colours that all pictures share. Imports no JAX."""

from __future__ import annotations

from typing import Any

Colour = tuple[Any, Any, Any]
"""Red, green and blue, scalars from 0 to 255."""

PAPER: Colour = (246, 244, 239)  # the background
SHADE: Colour = (226, 223, 214)  # guides and other things that stand behind
STONE: Colour = (160, 164, 171)  # fixed parts: rails, walls, posts
INK: Colour = (38, 45, 58)  # wheels, joints, outlines
BLUE: Colour = (49, 104, 178)
ORANGE: Colour = (233, 130, 52)
GREEN: Colour = (98, 158, 107)
RED: Colour = (208, 66, 61)
YELLOW: Colour = (244, 190, 66)
