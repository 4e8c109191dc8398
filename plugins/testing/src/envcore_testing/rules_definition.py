"""Rules about the environment as a value, its params, and what it says about itself."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import pickle
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from envcore import spaces
from envcore.engine.arguments import check_hashable, checked_params, device_params, may_be_infinite
from envcore.errors import InvalidParamsError
from envcore.trees import kind
from jax.tree_util import keystr, tree_leaves_with_path

from envcore_testing.breaches import Breach, breach_of_error, place_of_class
from envcore_testing.numerics import numerics
from envcore_testing.subject import Subject
from envcore_testing.trees import type_differences, with_leaf


def equality_and_hash(subject: Subject) -> Iterator[Breach]:
    """Two environments made with the same options are equal and have the same hash."""
    env = subject.env
    fields = {field.name for field in dataclasses.fields(env)}
    for cls in type(env).__mro__:
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if name not in fields and "ClassVar" not in str(annotation):
                yield Breach(
                    f"{cls.__name__} declares the field {name!r}, but is not a @dataclasses.dataclass(frozen=True): "
                    "decorate the class.",
                    place_of_class(cls),
                )
    check_hashable(env)
    again = dataclasses.replace(env)
    if again != env or hash(again) != hash(env):
        yield Breach(
            f"{again!r} made twice is not equal, or has another hash, so every copy compiles again: "
            "make the class a @dataclasses.dataclass(frozen=True) whose fields are hashable.",
            subject.place("__hash__", "__eq__"),
        )


def copy_and_pickle(subject: Subject) -> Iterator[Breach]:
    """Copies and pickles of the environment are equal to it."""
    env = subject.env
    for how, make in (("copy.deepcopy", copy.deepcopy), ("pickle", lambda env: pickle.loads(pickle.dumps(env)))):
        again = make(env)
        if again != env:
            yield Breach(
                f"{how} turns {env!r} into {again!r}: keep everything in the dataclass's fields.",
                subject.place("__reduce__", "__getstate__"),
            )


def readable_repr(subject: Subject) -> Iterator[Breach]:
    """`repr` says what the environment is, and is the same in every process."""
    text = repr(subject.env)
    if " at 0x" in text:
        yield Breach(
            f"repr shows an address, {text}: use the dataclass's repr, and give its fields a readable one.",
            subject.place("__repr__"),
        )


def plain_default_params(subject: Subject) -> Iterator[Breach]:
    """`default_params` are Python or numpy numbers, made without JAX, or a dataset that is on the device already."""
    env, place = subject.env, subject.place("default_params")
    leaves, agains = tree_leaves_with_path(env.default_params), jax.tree.leaves(env.default_params)
    for (path, leaf), again in zip(leaves, agains, strict=True):
        name = f"default_params{keystr(path)}"
        if isinstance(leaf, jax.Array):
            if leaf is not again:
                yield Breach(
                    f"{name} is put on the device on every access, as {leaf.dtype}{list(leaf.shape)}: use Python "
                    "numbers or numpy arrays; for a dataset, cache the device array.",
                    place,
                )
        elif np.asarray(leaf).dtype.kind not in "biuf":
            yield Breach(f"{name} is {leaf!r}: use Python numbers or numpy arrays of real numbers.", place)
    if jax.make_jaxpr(lambda: env.default_params)().eqns:
        yield Breach("default_params compute with jax.numpy, which starts a backend: use numpy.", place)


def check_of_params(subject: Subject) -> Iterator[Breach]:
    """`check_params` accepts the default params, and does not read the values of JAX arrays."""
    env, place = subject.env, subject.place("check_params")
    try:
        env.check_params(env.default_params)
        jax.make_jaxpr(lambda params: env.check_params(params))(subject.params)
    except InvalidParamsError as error:
        yield Breach(f"check_params refuses the default params: {error}", place)
    except jax.errors.ConcretizationTypeError:
        yield Breach(
            "check_params reads a traced value: use the functions of envcore.require, which let JAX arrays pass.",
            place,
        )


def finite_params(subject: Subject) -> Iterator[Breach]:
    """Params that are NaN are refused, and those that are infinite in float32, except in a `limit`."""
    env, key, state, action = subject.env, subject.key, subject.types.reset[1], subject.types.action
    arguments = {"reset": (key,), "step": (key, state, action), "step_env": (key, state, action)}
    for path, leaf in _float_leaves(subject):
        infinite = () if may_be_infinite(subject.params, path, leaf) else (np.inf, -np.inf, 1e300)
        for value, (method, args) in itertools.product((np.nan, *infinite), arguments.items()):
            params = with_leaf(subject.params, path, np.full(leaf.shape, value))
            call = functools.partial(getattr(env, method), params=params)
            try:
                jax.eval_shape(lambda *args: call(*args), *args)  # noqa: B023
            except InvalidParamsError:
                continue
            yield Breach(
                f"{method} takes {value} as params{keystr(path)}: hand the params on to super().{method} as they are "
                "given, before they become JAX arrays, whose values are not checked.",
                subject.place(method),
            )


def infinite_limits(subject: Subject) -> Iterator[Breach]:
    """Episodes with an infinite `limit` among the params have no NaN."""
    for path, leaf in _limits(subject):
        params = with_leaf(subject.params, path, np.where(leaf < 0, -np.inf, np.inf))
        try:
            steps = subject.record(checked_params(subject.env, params))
        except InvalidParamsError as error:
            yield Breach(f"params{keystr(path)} is a limit, but infinity is refused: {error}")
            continue
        floats = (x for x in jax.tree.leaves((steps.state, steps.reward)) if kind(x.dtype) == "float")
        if any(np.isnan(x).any() for x in floats):
            yield Breach(
                f"infinity as params{keystr(path)} leads to NaN: in a limit it has to mean that there is none.",
                subject.place("transition"),
            )


def no_limits(subject: Subject) -> str | None:
    """Why the rule about limits does not apply; None if it does."""
    return None if _limits(subject) else "no param may be infinite"


def _limits(subject: Subject) -> list[tuple[Any, Any]]:
    return [(path, leaf) for path, leaf in _float_leaves(subject) if may_be_infinite(subject.params, path, leaf)]


def _float_leaves(subject: Subject) -> list[tuple[Any, Any]]:
    return [(path, x) for path, x in tree_leaves_with_path(subject.params) if kind(x.dtype) == "float" and x.size]


def display_metadata(subject: Subject) -> Iterator[Breach]:
    """`action_names` has a name for each action of a `Discrete` space, or none; `render_fps` is a positive number."""
    env = subject.env
    names, space, fps = env.action_names, env.action_space(subject.params), env.render_fps
    for _ in env.batch_shape:
        space = space.unbatch()
    count = space.n if isinstance(space, spaces.Discrete) else 0
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names) or len(names) not in (0, count):
        yield Breach(
            f"action_names are {names!r}: give a tuple of {count} names for {space!r}, or ().",
            subject.place("action_names"),
        )
    if not isinstance(fps, int | float) or not 0 < fps < np.inf:
        yield Breach(f"render_fps is {fps!r}: give a positive number of steps per second.", subject.place("render_fps"))


def pytrees(subject: Subject) -> Iterator[Breach]:
    """State and params are pytrees that keep every leaf through flatten and unflatten."""
    for what, tree in (("params", subject.params), ("the state", subject.types.reset[1])):
        leaves, structure = jax.tree.flatten(tree)
        marks = [object() for _ in leaves]
        if jax.tree.leaves(jax.tree.unflatten(structure, marks)) != marks:
            yield Breach(
                f"{what}, a {type(tree).__name__}, fails the pytree round trip, which must keep every leaf: "
                "use flax.struct.dataclass.",
                place_of_class(type(tree)),
            )


def spaces_of_params(subject: Subject) -> Iterator[Breach]:
    """The spaces are made of the numbers of `default_params`, and of the JAX arrays that `make` returns."""
    env = subject.env
    for name in ("action_space", "observation_space", "state_space"):
        space = getattr(env, name)
        try:
            space(env.default_params)
            with numerics(dtype_promotion="strict", rank_promotion="raise"):
                space(device_params(env))
        except Exception as error:
            yield breach_of_error(error, subject.place(name))


def types_of_the_spaces(subject: Subject) -> Iterator[Breach]:
    """Actions, observations and states have exactly the shapes and dtypes that their spaces declare."""
    env, types = subject.env, subject.types
    declared = (
        ("an action", env.action_space, types.action, ("action_space", "action_space")),
        (
            "the observation",
            env.observation_space,
            types.reset[0],
            ("observe", "observation_space", "observation_space"),
        ),
        ("the state", env.state_space, types.reset[1], ("state_space", "state_space", "init_state")),
    )
    for what, space_of, value, methods in declared:
        space = space_of(subject.params)
        mismatch = _mismatch(space, value)
        for problem in [mismatch] if mismatch else _undeclared(space, value):
            yield Breach(f"{what} is not what {space!r} declares: {problem}. Make them agree.", subject.place(*methods))


def _mismatch(space: spaces.Space, types: Any) -> str | None:
    problems: list[str | None] = []
    jax.eval_shape(lambda value: problems.append(space.mismatch(value)), types)
    return problems[0]


def _undeclared(space: spaces.Space, value: Any) -> list[str]:
    """Like `mismatch`, but strict about dtypes, and complete; for values that have no mismatch."""
    match space:
        case spaces.Tuple():
            parts = [(i, part, value[i]) for i, part in enumerate(space.spaces)]
        case spaces.Dict():
            get = value.__getitem__ if isinstance(value, dict) else lambda name: getattr(value, name)
            parts = [(name, part, get(name)) for name, part in space.spaces.items()]
        case spaces.Tree():
            return type_differences(value, space.struct)
        case _:
            return type_differences(
                jax.ShapeDtypeStruct(value.shape, value.dtype), jax.ShapeDtypeStruct(space.shape, space.dtype)
            )
    return [f"in part {name!r}: {problem}" for name, part, value in parts for problem in _undeclared(part, value)]
