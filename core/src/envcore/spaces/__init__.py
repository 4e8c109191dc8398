"""Spaces: the sets of valid actions, observations and states.

A space describes its values (`shape`, `dtype`, bounds), samples one (`sample`) and tests one (`contains`). Both work
inside `jit` and `vmap`, and `contains(sample(key))` is always true. Spaces compare by value. Bounds may be traced, so
they may depend on an environment's params.
"""

from __future__ import annotations

from envcore.spaces.base import Space
from envcore.spaces.box import NATURAL_NUMBERS, Box, symmetric_box
from envcore.spaces.composite import Dict, Tuple
from envcore.spaces.discrete import Discrete, MultiDiscrete
from envcore.spaces.tree import Tree, unbounded_space

__all__ = [
    "NATURAL_NUMBERS",
    "Box",
    "Dict",
    "Discrete",
    "MultiDiscrete",
    "Space",
    "Tree",
    "Tuple",
    "symmetric_box",
    "unbounded_space",
]
