"""Errors about what an environment's author wrote: which method, where it is, and what to write instead."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import traceback
from typing import Any

import jax

from envcore import suggestions
from envcore.errors import EnvironmentDefinitionError

_REQUIRED = {
    "default_params": "the property default_params(self), which returns the params",
    "init_state": "init_state(self, draws, params), which returns the first state of an episode",
    "transition": "transition(self, state, action, draws, params), which returns (state, reward, terminated)",
    "observe": "observe(self, state, params), which returns the observation",
    "action_space": "action_space(self, params), which returns a space",
    "observation_space": "observation_space(self, params), which returns a space",
}
_COUNTERPARTS = {
    "init_state": (
        {"reset_env", "reset"},
        "init_state returns the state alone, and its `draws` are the key by default",
    ),
    "transition": (
        {"step_env", "step"},
        "transition returns no observation, knows no time limit, and its `draws` are the key by default",
    ),
    "observe": ({"get_obs"}, "observe takes the state first, then the params"),
}
"""What gymnax and others call a method, and how envcore's differs."""


def missing_method(env: Any, method: str) -> EnvironmentDefinitionError:
    """The error for a method that every environment implements, and this one does not."""
    bases = [cls for cls in type(env).__mro__ if cls.__module__ != "envcore.environment"]
    own = {name for cls in bases for name in vars(cls)} - vars(object).keys()
    names, difference = _COUNTERPARTS.get(method, (set[str](), ""))
    hint = ""
    if theirs := sorted(names & own):
        hint = f" Its {theirs[0]} is the counterpart in other libraries: {difference}."
    elif similar := suggestions.nearest(method, own - _REQUIRED.keys()):
        hint = f" Is its {similar[0]!r} misspelled?"
    return EnvironmentDefinitionError(f"{type(env).__qualname__} must implement {_REQUIRED[method]}.{hint}")


def broken(env: Any, method: str, problem: str) -> EnvironmentDefinitionError:
    """The error for what a method of the author's returned, with the line where the method begins."""
    code = getattr(inspect.unwrap(getattr(type(env), method)), "__code__", None)
    where = "" if code is None else f" ({method} is at {code.co_filename}:{code.co_firstlineno})"
    return EnvironmentDefinitionError(f"{type(env).__qualname__} breaks the contract: {problem}{where}")


def check_hashable(env: Any) -> None:
    """Raises `EnvironmentDefinitionError` where a field cannot be hashed, as a list cannot."""
    for field in dataclasses.fields(env):
        value = getattr(env, field.name)
        try:
            hash(value)
        except TypeError:
            if dataclasses.is_dataclass(value):
                check_hashable(value)
            raise EnvironmentDefinitionError(
                f"{type(env).__qualname__}.{field.name} must be hashable, because equal environments share one "
                f"compilation: use a tuple in place of a list, got {value!r}."
            ) from None


def explain_traced_value(env: Any, error: jax.errors.ConcretizationTypeError) -> None:
    """Adds the author's line to the error for Python's `if` on a value that is only known when the program runs."""
    if hasattr(error, "__notes__"):
        return
    modules = {cls.__module__ for cls in (*type(env).__mro__, *type(env.unwrapped).__mro__)}
    files = {getattr(sys.modules.get(name), "__file__", None) for name in modules}
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if own:
        line = own[-1]
        error.add_note(
            f"{line.filename}:{line.lineno}, in {line.name}: {line.line}\n"
            "Under jit, this value is only known when the program runs. Use jnp.where, jnp.minimum, `&` and `|`, or "
            "jax.lax.cond in place of Python's if, min, and, or."
        )
