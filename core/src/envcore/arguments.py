"""Checks and casts what users pass to an environment, before anything is traced with it.

Types are checked on tracers too, so that the same clear errors come from inside `jit` and `vmap`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from envcore import spaces, trees
from envcore.errors import InvalidActionError, InvalidParamsError, InvalidStateError

if TYPE_CHECKING:
    from envcore.environment import Environment


def checked_params(env: Environment[Any, Any], params: Any) -> Any:
    """The params with exactly the types of the defaults, which None stands for."""
    if params is None:
        return default_params(env)
    return trees.conform(params, default_params(env), f"{env.name}'s params", InvalidParamsError)


def checked_state(env: Environment[Any, Any], state: Any) -> Any:
    """The state with exactly the types that `reset` returns."""
    return trees.conform(state, state_struct(env), f"{env.name}'s state", InvalidStateError)


def checked_action(env: Environment[Any, Any], action: Any, params: Any) -> Any:
    """The action with exactly the types of the action space."""
    space = env.action_space(params)
    problem = space.mismatch(action) or _value_problem(space, action)
    if problem:
        shape = getattr(action, "shape", ())
        is_batch = len(shape) > 0 and shape[1:] == space.shape
        advice = " To step a batch of environments, use jax.vmap or envcore.wrappers.Batched." if is_batch else ""
        raise InvalidActionError(f"an action of {env.name} must be in {space!r}: {problem}.{advice}")
    return _cast(space, action)


@functools.lru_cache(maxsize=512)
def default_params(env: Environment[Any, Any]) -> Any:
    """`env.default_params` as numpy arrays with the dtypes that programs see, made once for equal environments."""

    def leaf(x: Any) -> Any:
        x = np.asarray(x)
        return x.astype({"f": np.float32, "i": np.int32, "u": np.uint32}.get(x.dtype.kind, x.dtype))

    return jax.tree.map(leaf, env.default_params)


@functools.lru_cache(maxsize=512)
def state_struct(env: Environment[Any, Any]) -> Any:
    """The types of a state, as `jax.ShapeDtypeStruct`, found once for equal environments."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    return jax.eval_shape(env.start, key, default_params(env))


def _value_problem(space: spaces.Space, action: Any) -> str | None:
    """Looks at discrete actions on the host only: reading a device array would wait for the device."""
    if isinstance(space, spaces.Tuple | spaces.Dict):
        problems = (_value_problem(part, value) for part, value in space.parts(action))
        return next(filter(None, problems), None)
    is_host = isinstance(action, int | np.integer | np.ndarray)
    if is_host and isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        bound = space.n if isinstance(space, spaces.Discrete) else space.nvec
        if not ((np.asarray(action) >= 0) & (np.asarray(action) < bound)).all():
            return f"got {action}"
    return None


def _cast(space: spaces.Space, action: Any) -> Any:
    if isinstance(space, spaces.Tuple | spaces.Dict):
        values = [_cast(part, value) for part, value in space.parts(action)]
        return tuple(values) if isinstance(space, spaces.Tuple) else dict(zip(space.spaces, values, strict=True))
    is_exact = isinstance(action, jax.Array) and action.dtype == space.dtype and not action.weak_type  # pyright: ignore[reportAttributeAccessIssue]
    return action if is_exact else jnp.asarray(action, space.dtype)
