"""`ForeignState`, and the types that it has after a reset and after a step."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from envcore import trees
from envcore.engine import arguments
from envcore.environment import EnvState
from envcore.errors import EnvironmentDefinitionError
from flax import struct
from jax import lax

from envcore_bridges.base.numerics import default_numerics


@struct.dataclass
class ForeignState(EnvState):
    """State of another library's environment.

    Attributes:
      inner: the library's own state.
      obs: the observation, which libraries compute with the step.
    """

    inner: Any
    obs: Any


@functools.lru_cache(maxsize=512)
def types_of(env: Any) -> ForeignState:
    """Types that both a reset and a step can have; libraries often return a weak type or another dtype in one."""

    def first(words: jax.Array, params: Any) -> ForeignState:
        return ForeignState(*env.library_reset(words, params))

    def after_step(state: ForeignState, words: jax.Array, params: Any) -> ForeignState:
        action = env.action_space(params).sample(words)
        return ForeignState(*env.library_step(state.inner, action, words, params)[:2])

    params = arguments.default_params(env)
    with default_numerics():
        words = jax.eval_shape(lambda: jax.random.PRNGKey(0))
        types = _strong(jax.eval_shape(first, words, params))
        for _ in range(3):  # a step from wider types may return yet wider ones
            after = jax.eval_shape(after_step, types, words, params)
            joined = _joined(env, types, after)
            if jax.tree.leaves(joined) == jax.tree.leaves(types):
                return types
            types = joined
    raise EnvironmentDefinitionError(f"{env.name}: the types of the library's state change with every step.")


def as_types(tree: Any, types: Any) -> Any:
    """The tree with the dtypes of `types`, none of them weak."""
    return jax.tree.map(lambda x, wanted: lax.convert_element_type(x, wanted.dtype), tree, types)


def _joined(env: Any, types: Any, after: Any) -> Any:
    if jax.tree.structure(types) != jax.tree.structure(after):
        problem = trees.structure_difference(types, after)
        raise EnvironmentDefinitionError(
            f"{env.name}: library_reset and library_step must return the same structure: expected {problem}."
        )

    def leaf(before: Any, after: Any) -> Any:
        if before.shape != after.shape:
            raise EnvironmentDefinitionError(
                f"{env.name}: library_reset and library_step must return the same shapes, "
                f"got {before.shape} and {after.shape}."
            )
        dtype = before.dtype if before.dtype == after.dtype else jnp.promote_types(before.dtype, after.dtype)
        return jax.ShapeDtypeStruct(before.shape, dtype)

    return jax.tree.map(leaf, types, after)


def _strong(types: Any) -> Any:
    return jax.tree.map(lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype), types)
