"""Checks for the tables in the suites' tests of `check_params`."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import make, registry
from envcore.engine.arguments import device_params, may_be_infinite
from envcore.errors import InvalidParamsError
from jax.tree_util import GetAttrKey


def check_refused(env: Any, changes: dict[str, Any], message: str) -> None:
    """Asserts that the default params with these changes are refused with this message, but pass as JAX arrays.

    Changed are the numbers of `default_params`, and the arrays on a device that `make` returns.
    """
    params = env.default_params.replace(**changes)
    for changed in (params, device_params(env).replace(**changes)):
        with pytest.raises(InvalidParamsError, match=message):
            env.reset(jax.random.key(0), changed)
    with pytest.raises(InvalidParamsError, match=message.partition(", got")[0]):
        env.check_params(jax.tree.map(np.asarray, params))
    env.check_params(jax.tree.map(jnp.asarray, params))


def check_taken(env: Any, changes: dict[str, Any]) -> None:
    """Asserts that the default params pass, with and without these changes."""
    env.check_params(env.default_params)
    env.check_params(env.default_params.replace(**changes))


def check_every_param_is_refused(
    package: str, refused: Iterable[tuple[Any, dict[str, Any], str]], any_finite: Iterable[tuple[Any, tuple[str, ...]]]
) -> None:
    """Asserts that the tables of a suite say of every param which values it refuses, and that they are right.

    Every param is one of floats or integers, other than `max_steps_in_episode`, which the engine checks.

    Args:
      package: the suite's package: all its environments are checked, and the ones in the tables.
      refused: rows of an environment, changed params and the message; they name a param if a change of it is refused.
      any_finite: rows of an environment and the params for which every finite number is fine.
    """
    rows = [(env, tuple(changes)) for env, changes, _ in refused] + [*any_finite]
    specs = [each.spec for each in registry.values() if each.spec.entry_point.startswith(package)]
    made = [make(spec.id)[0] for spec in specs if not spec.id.startswith(("bsuite/", "MNIST"))]
    for env in {type(env): env for env in [*made, *(env for env, _ in rows)]}.values():
        own = [row for row in rows if type(row[0]) is type(env)]
        listed = {name for _, names in own for name in names}
        for each in {each for each, _ in own} | {env}:
            numbers = _params_of_numbers(each)
            assert numbers <= listed, f"the table of {each!r} does not say which values {numbers - listed} may have"
            free = {name for row, names in any_finite if type(row) is type(each) for name in names}
            for name in numbers:
                _check_extremes(each, name, is_free=name in free)


def check_any_finite(env: Any, names: tuple[str, ...]) -> None:
    """Asserts that huge values of these params pass, and that nothing which a few steps return is NaN."""
    key = jax.random.key(0)
    for name, value in itertools.product(names, (1e30, -1e30)):
        params = env.default_params.replace(**{name: np.full(np.shape(getattr(env.default_params, name)), value)})
        obs, state = env.reset(key, params)
        for number in range(5):
            action = env.action_space(env.default_params).sample(jax.random.key(number))
            next_obs, state, reward, *_, info = env.step(key, state, action, params)
            shown = jax.tree.leaves((obs, next_obs, info["final_obs"], reward))
            assert not any(np.isnan(x).any() for x in shown), f"{name}={value}"


def _check_extremes(env: Any, name: str, *, is_free: bool) -> None:
    default = np.asarray(getattr(env.default_params, name))
    is_limit = may_be_infinite(env.default_params, (GetAttrKey(name),), default)
    values: set[Any] = {2**31, -(2**31) - 1} | (set() if is_free else {-(2**31)})
    if default.dtype.kind == "f":
        values = {np.nan} | (set() if is_limit else {1e300, -np.inf}) | (set() if is_free else {-1e30})
    for value in values:
        params = env.default_params.replace(**{name: np.full(default.shape, value)})
        with pytest.raises(InvalidParamsError, match=rf"\b{name}\b") as caught:
            env.reset(jax.random.key(0), params)
        assert "\n" not in str(caught.value)


def _params_of_numbers(env: Any) -> set[str]:
    params = env.default_params
    names = {field.name for field in dataclasses.fields(params)} - {"env_params", "max_steps_in_episode"}
    kinds = {name: np.asarray(getattr(params, name)).dtype.kind for name in names}
    return {name for name, kind in kinds.items() if kind in "fiu" and np.size(getattr(params, name))}
