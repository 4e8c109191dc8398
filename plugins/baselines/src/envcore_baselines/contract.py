"""Checks that an algorithm, which may be a user's, is what training asks for, before anything is compiled.

Imports no JAX before an algorithm is checked.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from envcore_baselines import settings
from envcore_baselines.errors import ConfigError


def check_class(algorithm: Any) -> type[Any]:
    """The class of an algorithm.

    Raises:
      ConfigError: it is not a class, lacks a method of `Learner`, takes other arguments, or has no `Config` or one that
        is not a dataclass of settings.
    """
    if not isinstance(algorithm, type):
        raise ConfigError(f"an algorithm must be a class, got {algorithm!r}.")
    name = algorithm.__name__
    config = getattr(algorithm, "Config", None)
    if not isinstance(config, type) or not dataclasses.is_dataclass(config):
        raise ConfigError(f"the algorithm {name} has no Config, a dataclass of its settings.")
    settings.check_kind(config)
    methods = [each for each, member in _members().items() if inspect.isfunction(member)]
    missing = [each for each in methods if not callable(getattr(algorithm, each, None))]
    if missing:
        raise ConfigError(
            f"the algorithm {name} has no method {missing[0]}: envcore_baselines.learner.Learner says which."
        )
    try:
        inspect.signature(algorithm).bind(None, None, None)
    except TypeError:
        raise ConfigError(f"the algorithm {name} must take three arguments: (env, params, config).") from None
    return algorithm


def check_learner(learner: Any) -> None:
    """Checks what a class of `check_class` has made.

    Raises:
      ConfigError: it lacks a member of `Learner`, one has the wrong type, or it cannot be hashed.
    """
    from envcore.environment import Environment

    name = type(learner).__name__
    missing = [each for each in _members() if not hasattr(learner, each)]
    if missing:
        raise ConfigError(
            f"the algorithm {name} has no {missing[0]}: envcore_baselines.learner.Learner says what it is."
        )
    if not isinstance(learner.env, Environment):
        raise ConfigError(f"the algorithm {name} must have an Environment as its env, got {learner.env!r}.")
    for each in ("steps_per_update", "num_updates"):
        value = getattr(learner, each)
        if type(value) is not int or value < 1:
            raise ConfigError(f"the algorithm {name} must have a positive int as its {each}, got {value!r}.")
    try:
        hash(learner)
    except TypeError as error:
        raise ConfigError(f"the algorithm {name} must be hashable: jit compiles a program for each one.") from error


def check_update(learner: Any) -> None:
    """Traces `init` and `update` of a user's learner, so that what is wrong with them is said in a line.

    Raises:
      ConfigError: one fails, the state has no `agent`, or `update` does not return the next state and its metrics.
    """
    import jax
    import numpy as np
    from envcore.errors import one_line
    from envcore.trees import structure_difference
    from jax.tree_util import keystr, tree_leaves_with_path

    name = type(learner).__name__

    def traced(fun: Any, argument: Any) -> Any:
        try:
            return jax.eval_shape(fun, argument)
        except Exception as error:
            raise ConfigError(f"the algorithm {name} fails: {one_line(error)}") from error

    state = traced(learner.init, jax.eval_shape(lambda: jax.random.key(0)))
    if not hasattr(state, "agent"):
        raise ConfigError(f"the state of the algorithm {name} must have an attribute agent, which act takes.")
    result = traced(learner.update, state)
    if not isinstance(result, tuple) or len(result) != 2 or not isinstance(result[1], dict):
        raise ConfigError(f"update of the algorithm {name} must return the next state and a dict of metrics.")
    what = f"update of the algorithm {name} must keep the types of its state"
    if jax.tree.structure(state) != jax.tree.structure(result[0]):
        raise ConfigError(f"{what}: expected {structure_difference(state, result[0])}.")
    for (path, before), after in zip(tree_leaves_with_path(state), jax.tree.leaves(result[0]), strict=True):
        if (before.shape, before.dtype) != (after.shape, after.dtype):
            expected, found = (f"{x.dtype}{list(x.shape)}" for x in (before, after))
            raise ConfigError(f"{what}: {keystr(path)} was {expected} and is {found}.")
    for each, dtype in {"returns": np.float32, "episodes": np.int32}.items():
        found = result[1].get(each)
        if found is None or (found.shape, found.dtype) != ((), dtype):
            raise ConfigError(
                f"the metrics of the algorithm {name} must have {each}, {dtype.__name__} (), got {found}."
            )


def _members() -> dict[str, Any]:
    """The members of `Learner`: functions and properties."""
    from envcore_baselines.learner import Learner

    return {name: member for name, member in vars(Learner).items() if not name.startswith("_")}
