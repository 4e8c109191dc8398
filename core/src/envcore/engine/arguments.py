"""Checks and casts what users pass to an environment, before anything is traced with it.

Types are checked on tracers too, so that the same clear errors come from inside `jit` and `vmap`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from envcore import forks, random, spaces, suggestions, trees
from envcore.devices import vary_alike
from envcore.engine import definition
from envcore.engine.finite import check_finite
from envcore.errors import EnvironmentDefinitionError, InvalidActionError, InvalidArgumentError, InvalidParamsError
from envcore.typing import PyTree

Env = Any
"""An `envcore.environment.Environment`. It imports the engine, which does not look back, not even for types."""

_VMAP = " To map over a batch, use jax.vmap."


def checked(env: Env, key: jax.Array, state: PyTree, action: PyTree, params: PyTree) -> tuple[PyTree, ...]:
    """The arguments of a step, each checked and cast: `(key, state, action, params)`."""
    random.check_key(key)
    params = checked_params(env, params)
    return key, checked_state(env, state), checked_action(env, action, params), params


def checked_params(env: Env, params: PyTree) -> PyTree:
    """The params with exactly the types of the defaults, and the defaults for None.

    Raises:
      EnvcoreError: this process was forked after JAX had started.
    """
    forks.check()  # every function that a user calls comes here before it computes anything
    return typed_params(env, params)


def typed_params(env: Env, params: PyTree) -> PyTree:
    """The same in a process that may have been forked: nothing is computed."""
    if params is None:
        return default_params(env)
    defaults = default_params(env)
    params = env._completed(params)
    checked = trees.conform(params, defaults, f"{env.name}'s params", InvalidParamsError, _VMAP)
    if checked is not params:  # else JAX holds every value
        _check_values(env, params, defaults)
    return checked


def checked_state(env: Env, state: PyTree) -> PyTree:
    """The state with exactly the types that `reset` returns."""
    return trees.conform(state, state_struct(env), f"{env.name}'s state", InvalidArgumentError, _VMAP)


def checked_action(env: Env, action: PyTree, params: PyTree) -> PyTree:
    """The action with exactly the types of the action space."""
    space = _default_action_space(env)  # params change bounds, but neither structure nor types
    problem = space.mismatch(action) or space.value_problem(action)
    if problem:
        space = env.action_space(params)
        shape = getattr(action, "shape", ())
        is_batch = len(shape) > 0 and shape[1:] == space.shape
        advice = " To step a batch of environments, use jax.vmap or envcore.wrappers.Batched." if is_batch else ""
        raise InvalidActionError(f"an action of {env.name} must be in {space!r}: {problem}.{advice}")
    return space.cast(action)


def default_params(env: Env) -> PyTree:
    """`env.default_params` as arrays with the dtypes that programs see, made once for equal environments.

    Python numbers and 64-bit numpy arrays become numpy arrays of 32 bits; a device array stays where it is.

    Raises:
      InvalidParamsError: a value is invalid, which an option of the environment may have set.
      EnvironmentDefinitionError: a field of the environment cannot be hashed.
    """
    try:
        return _default_params(env)
    except TypeError:
        definition.check_hashable(env)
        raise


@functools.lru_cache(maxsize=512)
def _default_params(env: Env) -> PyTree:

    def struct(x: Any) -> PyTree:
        x = x if isinstance(x, jax.Array) else np.asarray(x)
        return jax.ShapeDtypeStruct(x.shape, trees.NARROW.get(x.dtype.name, x.dtype))

    _check_fields(env)
    params: PyTree = env.default_params
    if callable(params):
        raise EnvironmentDefinitionError(f"{env.name}.default_params must be a property that returns params.")
    check_pytree(env, params, "default_params")
    with jax.ensure_compile_time_eval():  # the caller may be tracing, and the result is kept
        defaults = trees.conform(params, jax.tree.map(struct, params), f"{env.name}'s params", InvalidParamsError)
    _check_values(env, params, defaults)
    return defaults


def device_params(env: Env) -> PyTree:
    """`env.default_params` on the default device, where no call has to convert or copy them again.

    Every call copies them, because a program may donate its arguments.
    """
    with jax.ensure_compile_time_eval():  # the caller may be tracing
        return jax.tree.map(
            lambda x: x if isinstance(x, jax.Array) else jax.device_put(x, may_alias=False), default_params(env)
        )


@functools.lru_cache(maxsize=512)
def _default_action_space(env: Env) -> spaces.Space:
    return env.action_space(default_params(env))


@functools.lru_cache(maxsize=512)
def state_struct(env: Env) -> PyTree:
    """The types of a state, as `jax.ShapeDtypeStruct`, found once for equal environments."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    return jax.eval_shape(functools.partial(new_state, env), key, default_params(env))


def new_state(env: Env, key: jax.Array, params: PyTree) -> PyTree:
    """The first state of a new episode."""
    draws = env.draw_start(key, params)
    return vary_alike(init_state(env, draws, params), key, draws, params)


def init_state(env: Env, draws: PyTree, params: PyTree) -> PyTree:
    """`env.init_state`, with the types that every state has.

    Raises:
      EnvironmentDefinitionError: the state's class lacks the decorator that makes it a pytree.
    """
    state = env.init_state(draws, params)
    check_pytree(env, state, "init_state")
    return trees.narrow(state)


@functools.lru_cache(maxsize=512)
def action_mask_struct(env: Env) -> PyTree:
    """The types of an action mask, found once for equal environments; None where all actions are always legal."""
    return jax.eval_shape(env.action_mask, state_struct(env), default_params(env))


def param_names(params: PyTree) -> tuple[str, ...]:
    """The names that `params.replace` takes: of the params, and of those inside if they are a wrapper's."""
    names = tuple(field.name for field in dataclasses.fields(params))
    inner = getattr(params, "env_params", None)
    return names if inner is None else tuple(name for name in names if name != "env_params") + param_names(inner)


def with_updates(env: Env, params: PyTree) -> PyTree:
    """The params; where only a mapping is given, the default params with these.

    Raises:
      InvalidParamsError: the mapping names a param that the environment does not have.
    """
    if not isinstance(params, Mapping):
        return params
    defaults = env.default_params
    known = param_names(defaults)
    unknown = sorted(set(params) - set(known), key=str)
    if unknown:
        raise InvalidParamsError(suggestions.unknown_param(env.name, unknown[0], known))
    return defaults.replace(**params)


def check_pytree(env: Env, value: PyTree, method: str) -> None:
    """Raises `EnvironmentDefinitionError` where what a method returned lacks the decorator that makes it a pytree."""
    if any(leaf is value for leaf in jax.tree.leaves(value)):
        raise EnvironmentDefinitionError(
            f"{env.name}.{method} returned a {type(value).__name__}, which is not a pytree: "
            "decorate the class with flax.struct.dataclass."
        )


def _check_values(env: Env, params: PyTree, defaults: PyTree) -> None:
    """Looks at Python and numpy numbers only: a JAX array may be a tracer, or still being computed."""
    limit = getattr(params, "max_steps_in_episode", None)
    if isinstance(limit, int | np.integer | np.ndarray) and np.less(limit, 1).any():
        raise InvalidParamsError(
            f"{env.name}'s params.max_steps_in_episode must be at least 1, got {limit}; "
            "envcore.environment.NO_TIME_LIMIT stands for none."
        )
    check_finite(env.name, params, defaults)
    env.check_params(params)


def _check_fields(env: Env) -> None:
    """A class without its decorator would silently have no fields of its own."""
    fields = {field.name for field in dataclasses.fields(env)}
    for cls in type(env).__mro__:
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if name not in fields and "ClassVar" not in str(annotation):
                raise EnvironmentDefinitionError(
                    f"{cls.__name__} declares the field {name!r}, but is not decorated with "
                    "dataclasses.dataclass(frozen=True)."
                )
