"""gymnax's spaces: envcore's under gymnax's module path."""

from __future__ import annotations

from typing import Any

from envcore.spaces import Box as Box
from envcore.spaces import Dict as Dict
from envcore.spaces import Discrete as Discrete
from envcore.spaces import Space as Space
from envcore.spaces import Tuple as Tuple

__all__ = ["Box", "Dict", "Discrete", "Space", "Tuple", "gymnax_space_to_gym_space"]


def gymnax_space_to_gym_space(space: Space) -> Any:
    """The space of Gymnasium with the same values; needs envcore-adapters[gymnasium]."""
    from envcore_adapters.gymnasium import to_gymnasium_space

    return to_gymnasium_space(space)
