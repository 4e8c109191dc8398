"""Rules about the environment as a value, its params, and what it says about itself."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import jax
import numpy as np

from envcore import spaces
from envcore.errors import ConformanceError, InvalidParamsError
from envcore.testing.compare import type_difference
from envcore.testing.subject import Subject


def equality_and_hash(subject: Subject) -> None:
    """An environment made anew with the same options is equal and has the same hash."""
    env = subject.env
    again = dataclasses.replace(env)
    if again != env or hash(again) != hash(env):
        raise ConformanceError(
            f"{again!r} made twice is not equal, or has another hash, so every copy compiles anew: "
            "make the class a @dataclasses.dataclass(frozen=True) whose fields are hashable."
        )


def copy_and_pickle(subject: Subject) -> None:
    """Copies and pickles of the environment are equal to it."""
    env = subject.env
    for how, again in (("copy.deepcopy", copy.deepcopy(env)), ("pickle", pickle.loads(pickle.dumps(env)))):
        if again != env:
            raise ConformanceError(f"{how} turns {env!r} into {again!r}: keep everything in the dataclass's fields.")


def readable_repr(subject: Subject) -> None:
    """`repr` tells what the environment is, the same in every process."""
    text = repr(subject.env)
    if " at 0x" in text:
        raise ConformanceError(f"repr shows an address, {text}: leave repr to the dataclass, and give its fields one.")


def plain_default_params(subject: Subject) -> None:
    """`default_params` are Python or numpy numbers, made without JAX, or a dataset that is on the device already."""
    env = subject.env
    for leaf, again in zip(jax.tree.leaves(env.default_params), jax.tree.leaves(env.default_params), strict=True):
        if isinstance(leaf, jax.Array):
            if leaf is not again:
                raise ConformanceError(
                    f"default_params put {leaf.dtype}{list(leaf.shape)} on the device anew each time: use Python "
                    "numbers or numpy arrays; for a dataset, cache the device array."
                )
        elif np.asarray(leaf).dtype.kind not in "biuf":
            raise ConformanceError(f"default_params hold {leaf!r}: use Python numbers or numpy arrays of real numbers.")
    if jax.make_jaxpr(lambda: env.default_params)().eqns:
        raise ConformanceError("default_params compute with jax.numpy, which starts a backend: use numpy.")


def check_of_params(subject: Subject) -> None:
    """`check_params` accepts the default params, and looks at no value that a JAX array holds."""
    env = subject.env
    try:
        env.check_params(env.default_params)
        jax.make_jaxpr(lambda params: env.check_params(params))(subject.params)
    except InvalidParamsError as error:
        raise ConformanceError(f"check_params refuses the default params: {error}") from error
    except jax.errors.ConcretizationTypeError as error:
        raise ConformanceError(
            "check_params looks at a traced value: use the functions of envcore.require, which let JAX arrays pass."
        ) from error


def names_and_pace(subject: Subject) -> None:
    """`action_names` are one for each action of a `Discrete` space, or none; `render_fps` is a positive number."""
    env = subject.env
    names, space, fps = env.action_names, env.action_space(subject.params), env.render_fps
    for _ in env.batch_shape:
        space = spaces.unbatch_space(space)
    count = space.n if isinstance(space, spaces.Discrete) else 0
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names) or len(names) not in (0, count):
        raise ConformanceError(f"action_names are {names!r}: give a tuple of {count} names for {space!r}, or ().")
    if not isinstance(fps, int | float) or not 0 < fps < np.inf:
        raise ConformanceError(f"render_fps is {fps!r}: give a positive number of steps per second.")


def pytrees(subject: Subject) -> None:
    """State and params are pytrees that keep every leaf through flatten and unflatten."""
    for what, tree in (("params", subject.params), ("the state", subject.types.reset[1])):
        leaves, structure = jax.tree.flatten(tree)
        marks = [object() for _ in leaves]
        if jax.tree.leaves(jax.tree.unflatten(structure, marks)) != marks:
            raise ConformanceError(f"{what}, a {type(tree).__name__}, mixes its leaves up: use flax.struct.dataclass.")


def spaces_without_params(subject: Subject) -> None:
    """The spaces can be had without params, and are then those of the default params."""
    env = subject.env
    for name in ("action_space", "observation_space", "state_space"):
        space = getattr(env, name)
        if space() != space(env.default_params):
            raise ConformanceError(f"{name}() differs from {name}(env.default_params): use the defaults for None.")


def types_of_the_spaces(subject: Subject) -> None:
    """Actions, observations and states have exactly the shapes and dtypes that their spaces declare."""
    env, types = subject.env, subject.types
    declared = (
        ("an action", env.action_space(subject.params), types.action),
        ("the observation", env.observation_space(subject.params), types.reset[0]),
        ("the state", env.state_space(subject.params), types.reset[1]),
    )
    for what, space, value in declared:
        problem = _mismatch(space, value) or _undeclared(space, value)
        if problem is not None:
            raise ConformanceError(f"{what} is not what {space!r} declares: {problem}. Change one to agree.")


def _mismatch(space: spaces.Space, types: Any) -> str | None:
    problems: list[str | None] = []
    jax.eval_shape(lambda value: problems.append(space.mismatch(value)), types)
    return problems[0]


def _undeclared(space: spaces.Space, value: Any) -> str | None:
    """Like `mismatch`, but strict about dtypes; for values that have no mismatch."""
    match space:
        case spaces.Tuple():
            parts = [(i, part, value[i]) for i, part in enumerate(space.spaces)]
        case spaces.Dict():
            get = value.__getitem__ if isinstance(value, dict) else lambda name: getattr(value, name)
            parts = [(name, part, get(name)) for name, part in space.spaces.items()]
        case _:
            return type_difference(
                jax.ShapeDtypeStruct(value.shape, value.dtype), jax.ShapeDtypeStruct(space.shape, space.dtype)
            )
    problems = ((name, _undeclared(part, value)) for name, part, value in parts)
    return next((f"in part {name!r}: {problem}" for name, problem in problems if problem), None)
