"""Rules about the definition of an environment: its dataclass, params and metadata."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from collections.abc import Iterator

import jax
import numpy as np
from envcore import spaces
from envcore.engine.arguments import check_hashable, checked_params, may_be_infinite
from envcore.errors import InvalidParamsError
from jax.tree_util import keystr, tree_leaves_with_path

from envcore_testing.subject import Subject
from envcore_testing.trees import float_leaves, with_leaf


def decorated_class(subject: Subject) -> Iterator[str]:
    """Every annotation in a class of the environment is a field of a frozen dataclass, or a `ClassVar`."""
    fields = {field.name for field in dataclasses.fields(subject.env)}
    for cls in type(subject.env).__mro__:
        for name, annotation in vars(cls).get("__annotations__", {}).items():
            if name not in fields and "ClassVar" not in str(annotation):
                yield f"{cls.__name__}.{name} is not a field"


def equality_and_hash(subject: Subject) -> Iterator[str]:
    """Two environments made with the same options are equal and have the same hash."""
    env = subject.env
    check_hashable(env)
    again = dataclasses.replace(env)
    if again != env or hash(again) != hash(env):
        yield f"__eq__, __hash__: {env!r} made twice is not equal, so every copy compiles again"


def readable_repr(subject: Subject) -> Iterator[str]:
    """`repr` describes the environment, and is the same in every process."""
    if " at 0x" in repr(subject.env):
        yield f"__repr__: it shows an address, {subject.env!r}"


def copy_and_pickle(subject: Subject) -> Iterator[str]:
    """Copies and pickles of the environment are equal to it."""
    env = subject.env
    for how, again in (("__deepcopy__", copy.deepcopy(env)), ("__reduce__", pickle.loads(pickle.dumps(env)))):
        if again != env:
            yield f"{how}: {env!r} becomes {again!r}"


def plain_default_params(subject: Subject) -> Iterator[str]:
    """`default_params` are Python or numpy numbers, made without JAX, or a dataset that is already on the device."""
    env = subject.env
    leaves, agains = tree_leaves_with_path(env.default_params), jax.tree.leaves(env.default_params)
    for (path, leaf), again in zip(leaves, agains, strict=True):
        if isinstance(leaf, jax.Array) and leaf is not again:
            yield f"default_params: {keystr(path)} is put on the device on every access, as {leaf.dtype}"
        elif not isinstance(leaf, jax.Array) and np.asarray(leaf).dtype.kind not in "biuf":
            yield f"default_params: {keystr(path)} is {leaf!r}, not a real number"


def check_of_params(subject: Subject) -> Iterator[str]:
    """`check_params` does not read the values of JAX arrays, so params can be traced."""
    try:
        jax.make_jaxpr(lambda params: subject.env.check_params(params))(subject.params)
    except jax.errors.ConcretizationTypeError as error:
        yield f"check_params: it reads a traced value. {error}"


def finite_params(subject: Subject) -> Iterator[str]:
    """`reset`, `step` and `step_env` refuse params with NaN."""
    env, key, state, action = subject.env, subject.key, subject.types.reset[1], subject.types.action
    arguments = {"reset": (key,), "step": (key, state, action), "step_env": (key, state, action)}
    for path, leaf in float_leaves(subject.params):
        params = with_leaf(subject.params, path, np.full_like(leaf, np.nan))
        for method, args in arguments.items():
            try:
                jax.eval_shape(functools.partial(getattr(env, method), params=params), *args)
            except InvalidParamsError:
                continue
            yield f"{method}: it accepts NaN as params{keystr(path)}"


def infinite_limits(subject: Subject) -> Iterator[str]:
    """Episodes do not contain NaN if a param that is a `limit` is infinite."""
    for path, leaf in float_leaves(subject.params):
        if may_be_infinite(subject.params, path, leaf):
            params = with_leaf(subject.params, path, np.where(leaf < 0, -np.inf, np.inf))
            steps = subject.record(checked_params(subject.env, params))
            for where, x in float_leaves({"state": steps.state, "reward": steps.reward}):
                if np.isnan(x).any():
                    yield f"transition: infinity as params{keystr(path)} leads to NaN in {keystr(where)}"


def no_limits(subject: Subject) -> str | None:
    """Returns why the rule about limits does not apply, or None if it applies."""
    limits = any(may_be_infinite(subject.params, path, leaf) for path, leaf in float_leaves(subject.params))
    return None if limits else "no param may be infinite"


def no_float_params(subject: Subject) -> str | None:
    """Returns why the rules about float params do not apply, or None if they apply."""
    return None if float_leaves(subject.params) else "the params have no floats"


def display_metadata(subject: Subject) -> Iterator[str]:
    """`action_names` is empty or has a name for each action of a `Discrete` space, and `render_fps` is positive."""
    env = subject.env
    names, space, fps = env.action_names, env.action_space(subject.params), env.render_fps
    for _ in env.batch_shape:
        space = space.unbatch()
    count = space.n if isinstance(space, spaces.Discrete) else 0
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names) or len(names) not in (0, count):
        yield f"action_names: {names!r} are not {count} names for {space!r}"
    if not isinstance(fps, int | float) or not 0 < fps < np.inf:
        yield f"render_fps: {fps!r} is not a positive number of steps per second"
