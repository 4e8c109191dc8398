"""Spaces: the sets of valid actions, observations and states.

A space describes its values (`shape`, `dtype`, bounds), samples one (`sample`) and tests one (`contains`). Both work
inside `jit` and `vmap`, and `contains(sample(key))` is always true. Spaces compare by value. Bounds may be traced, so
they may depend on an environment's params.
"""

from envcore.spaces.base import Space as Space
from envcore.spaces.box import NATURAL_NUMBERS as NATURAL_NUMBERS
from envcore.spaces.box import Box as Box
from envcore.spaces.box import symmetric_box as symmetric_box
from envcore.spaces.composite import Dict as Dict
from envcore.spaces.composite import Tree as Tree
from envcore.spaces.composite import Tuple as Tuple
from envcore.spaces.composite import unbounded_space as unbounded_space
from envcore.spaces.discrete import Discrete as Discrete
from envcore.spaces.discrete import MultiDiscrete as MultiDiscrete
