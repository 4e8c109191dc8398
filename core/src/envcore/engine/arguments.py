"""Checks and casts the arguments of an environment's methods, and reports where an author broke the contract.

Types are checked on tracers too, so you get the same clear errors inside `jit` and `vmap`.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np
from flax import struct
from jax.tree_util import keystr, tree_leaves_with_path

from envcore import random, spaces, trees
from envcore.devices import vary_alike
from envcore.errors import EnvironmentDefinitionError, InvalidActionError, InvalidArgumentError, InvalidParamsError
from envcore.typing import PyTree

Env = Any
"""An `envcore.environment.Environment`. The engine doesn't import that module, not even for types."""

_VMAP = " To map over a batch, use jax.vmap."


def checked(env: Env, key: jax.Array, state: PyTree, action: PyTree, params: PyTree) -> tuple[PyTree, ...]:
    """Returns the arguments of a step, checked and cast: `(key, state, action, params)`."""
    random.check_key(key)
    params = checked_params(env, params)
    return key, checked_state(env, state), checked_action(env, action, params), params


def checked_params(env: Env, params: PyTree) -> PyTree:
    """Returns the params with exactly the types of the default params, which it returns for None."""
    defaults, params = default_params(env), env._completed(params)
    if params is None:
        return defaults
    checked = trees.conform(params, defaults, f"{env.name}'s params", InvalidParamsError, _VMAP)
    if checked is not params:  # if they are the same object, all values are JAX arrays
        _check_values(env, checked, defaults)
    return checked


def checked_state(env: Env, state: PyTree) -> PyTree:
    """Returns the state with exactly the types that `reset` returns."""
    return trees.conform(state, state_struct(env), f"{env.name}'s state", InvalidArgumentError, _VMAP)


def checked_action(env: Env, action: PyTree, params: PyTree) -> PyTree:
    """Returns the action with exactly the types of the action space."""
    space = _default_action_space(env)  # params can change bounds, but not structure or types
    problem = space.mismatch(action) or space.value_problem(action)
    if problem:
        space = env.action_space(params)
        shape = getattr(action, "shape", ())
        is_batch = len(shape) > 0 and shape[1:] == space.shape
        advice = " To step a batch of environments, use jax.vmap or envcore.wrappers.Batched." if is_batch else ""
        raise InvalidActionError(f"an action of {env.name} must be in {space!r}: {problem}.{advice}")
    return space.cast(action)


def default_params(env: Env) -> PyTree:
    """Returns `env.default_params` as arrays with their final dtypes, computed once for equal environments.

    Python numbers and 64-bit numpy arrays become 32-bit numpy arrays. Arrays on a device stay there.

    Raises:
      InvalidParamsError: a value is invalid. An option of the environment may have set it.
      EnvironmentDefinitionError: a field of the environment is not hashable, or an attribute is not a field.
    """
    try:
        return _default_params(env)
    except TypeError:
        check_hashable(env)
        raise


@functools.lru_cache(maxsize=512)
def _default_params(env: Env) -> PyTree:

    def struct(x: Any) -> PyTree:
        x = x if isinstance(x, jax.Array) else np.asarray(x)
        return jax.ShapeDtypeStruct(x.shape, trees.NARROW.get(x.dtype.name, x.dtype))

    # Only classes without the decorator allow `self.name = value`.
    attributes = set[str]() if "__dataclass_fields__" in vars(type(env)) else set(vars(env))
    for name in attributes - {field.name for field in dataclasses.fields(env)}:
        if not isinstance(getattr(type(env), name, None), functools.cached_property):
            must = "decorate the class with @dataclasses.dataclass(frozen=True), and declare it there"
            raise EnvironmentDefinitionError(f"{env.name}.{name} is not a field, so equality ignores it: {must}.")
    params: PyTree = env.default_params
    check_pytree(env, params, "default_params")
    with jax.ensure_compile_time_eval():  # the caller may be tracing, and the result is cached
        defaults = trees.conform(params, jax.tree.map(struct, params), f"{env.name}'s params", InvalidParamsError)
    _check_values(env, defaults, defaults)
    return defaults


def device_params(env: Env) -> PyTree:
    """Returns `env.default_params` on the default device, so that calls don't convert or transfer them again.

    Each call makes a new copy, because a program may donate its arguments.
    """
    with jax.ensure_compile_time_eval():  # the caller may be tracing
        return jax.tree.map(
            lambda x: x if isinstance(x, jax.Array) else jax.device_put(x, may_alias=False), default_params(env)
        )


@functools.lru_cache(maxsize=512)
def _default_action_space(env: Env) -> spaces.Space:
    with jax.ensure_compile_time_eval():  # the caller may be tracing, and the result is cached
        return env.action_space(default_params(env))


@functools.lru_cache(maxsize=512)
def state_struct(env: Env) -> PyTree:
    """Returns the types of a state, as `jax.ShapeDtypeStruct`s, computed once for equal environments."""
    key = jax.eval_shape(lambda: jax.random.key(0))
    return jax.eval_shape(functools.partial(new_state, env), key, default_params(env))


def new_state(env: Env, key: jax.Array, params: PyTree) -> PyTree:
    """Returns the first state of a new episode."""
    draws = env.draw_start(key, params)
    return vary_alike(init_state(env, draws, params), key, draws, params)


def init_state(env: Env, draws: PyTree, params: PyTree) -> PyTree:
    """Calls `env.init_state` and casts the result to the types that every state has.

    Raises:
      EnvironmentDefinitionError: the state's class is not a pytree or not derived from `EnvState`.
    """
    state = env.init_state(draws, params)
    check_pytree(env, state, "init_state")
    return trees.narrow(state)


@functools.lru_cache(maxsize=512)
def action_mask_struct(env: Env) -> PyTree:
    """Returns the types of an action mask, or None if all actions are always legal. Computed once per environment."""
    return jax.eval_shape(env.action_mask, state_struct(env), default_params(env))


def param_names(params: PyTree) -> tuple[str, ...]:
    """Returns the names that `params.replace` accepts, including those inside a wrapper's params."""
    names = tuple(field.name for field in dataclasses.fields(params))
    inner = getattr(params, "env_params", None)
    return names if inner is None else tuple(name for name in names if name != "env_params") + param_names(inner)


def with_updates(env: Env, params: PyTree) -> PyTree:
    """Returns the params. A mapping is applied to the default params.

    Raises:
      InvalidParamsError: the mapping names a param that the environment does not have.
    """
    return env.default_params.replace(**params) if isinstance(params, Mapping) else params


def check_pytree(env: Env, value: PyTree, method: str) -> None:
    """Raises `EnvironmentDefinitionError` unless a method returned a pytree like `EnvState` or `EnvParams`."""
    base, field = ("EnvParams", "max_steps_in_episode") if method == "default_params" else ("EnvState", "time")
    is_leaf = any(leaf is value for leaf in jax.tree.leaves(value))
    if is_leaf or not hasattr(value, "replace") or not hasattr(value, field):
        raise EnvironmentDefinitionError(
            f"{env.name}.{method} returned a {type(value).__name__}: derive its class from envcore.{base} and decorate "
            "it with flax.struct.dataclass, and default_params with property."
        )


def _check_values(env: Env, params: PyTree, defaults: PyTree) -> None:
    """Checks numpy arrays only, because a JAX array may be a tracer, or still being computed."""
    limit = getattr(params, "max_steps_in_episode", None)
    if isinstance(limit, np.ndarray) and (limit < 1).any():
        must = "must be at least 1, or envcore.NO_TIME_LIMIT for no limit"
        raise InvalidParamsError(f"{env.name}'s params.max_steps_in_episode {must}, got {limit}.")
    check_finite(env.name, params, defaults)
    env.check_params(params)


_LIMIT = "envcore_limit"


def limit(default: Any = dataclasses.MISSING, **options: Any) -> PyTree:
    """Declares a param for which infinity is allowed and means no limit.

        x_threshold: Any = limit(2.4)

    All other float params must be finite. Check the sign in `check_params`, as for finite values.

    Args:
      default: the field's default. Pass `default_factory` instead if there is none.
      **options: options of `flax.struct.field`.
    """
    return struct.field(default=default, metadata={_LIMIT: True}, **options)


def may_be_infinite(params: PyTree, path: tuple[PyTree, ...], default: Any) -> bool:
    """Returns whether the param at a JAX key path may be infinite. `default` is its default value as an array.

    This is so for a `limit`, and for a param whose default contains infinity, because fields of other libraries' params
    can't be declared with `limit`.
    """
    for key in path:
        name = getattr(key, "name", None)
        if name is None or not dataclasses.is_dataclass(params):
            break
        if any(field.name == name and _LIMIT in field.metadata for field in dataclasses.fields(params)):
            return True
        params = getattr(params, name)
    return bool(trees.kind(default.dtype) == "float" and np.isinf(default).any())


def check_finite(env_name: str, params: PyTree, defaults: PyTree) -> None:
    """Raises `InvalidParamsError` for NaN, and for infinity in a param that must be finite."""
    for (path, leaf), default in zip(tree_leaves_with_path(params), jax.tree.leaves(defaults), strict=True):
        if isinstance(leaf, jax.Array) or trees.is_finite(leaf):
            continue
        infinite_too = may_be_infinite(params, path, default)
        wrong = np.argwhere(np.isnan(leaf) if infinite_too else ~np.isfinite(leaf))
        if len(wrong):
            place = tuple(map(int, wrong[0]))
            where = keystr(path) + (f"[{', '.join(map(str, place))}]" if place else "")
            must = "must not be NaN" if infinite_too else "must be finite"
            raise InvalidParamsError(f"{env_name}'s params{where} {must}, got {np.asarray(leaf)[place]}.")


def broken(env: Any, method: str, problem: str) -> EnvironmentDefinitionError:
    """Returns the error for a wrong result of an author's method, with the line where the method begins."""
    code = getattr(inspect.unwrap(getattr(type(env), method)), "__code__", None)
    where = "" if code is None else f" ({method} is at {code.co_filename}:{code.co_firstlineno})"
    return EnvironmentDefinitionError(f"{type(env).__qualname__} breaks the contract: {problem}{where}")


def check_hashable(env: Any) -> None:
    """Raises `EnvironmentDefinitionError` if a field is not hashable, such as a list."""
    try:
        hash(env)
    except TypeError as error:
        raise EnvironmentDefinitionError(
            f"{env!r} must be hashable, because equal environments share one compilation: use tuples instead of lists."
        ) from error
