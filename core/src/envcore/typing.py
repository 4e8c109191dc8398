"""Type aliases for the fields of states, params and draws.

The text in `Annotated` gives dtype and shape as in docstrings. A size can be the name of one of the environment's
options, as in `Annotated[jax.Array, "float32 (num_joints,)"]`. "..." means any shape.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

import jax
import numpy as np

PyTree: TypeAlias = Any
"""Any pytree, such as an observation, an action or draws."""

Float: TypeAlias = Annotated[jax.Array, "float32 ()"]
Int: TypeAlias = Annotated[jax.Array, "int32 ()"]
Bool: TypeAlias = Annotated[jax.Array, "bool ()"]

# What users can pass for a param. The rules always get arrays.
ArrayParam: TypeAlias = jax.Array | np.ndarray
FloatParam: TypeAlias = Annotated[ArrayParam | np.floating | float, "float32 ()"]
IntParam: TypeAlias = Annotated[ArrayParam | np.integer | int, "int32 ()"]
BoolParam: TypeAlias = Annotated[ArrayParam | np.bool_ | bool, "bool ()"]
