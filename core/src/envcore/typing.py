"""Types of the fields of states, params and draws, for editors and readers.

The text in `Annotated` is the dtype and shape, written as in docstrings. A size may be a name, of one of the
environment's options if it has it: `Annotated[jax.Array, "float32 (num_joints,)"]`; "..." is any shape.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import jax
import numpy as np

PyTree: TypeAlias = Any
"""Any pytree: an observation, the action of any environment, draws."""

Float: TypeAlias = Annotated[jax.Array, "float32 ()"]
Int: TypeAlias = Annotated[jax.Array, "int32 ()"]
Bool: TypeAlias = Annotated[jax.Array, "bool ()"]

# What a user may give for a param; the rules get arrays.
ArrayParam: TypeAlias = jax.Array | np.ndarray
FloatParam: TypeAlias = Annotated[ArrayParam | np.floating | float, "float32 ()"]
IntParam: TypeAlias = Annotated[ArrayParam | np.integer | int, "int32 ()"]
BoolParam: TypeAlias = Annotated[ArrayParam | np.bool_ | bool, "bool ()"]
