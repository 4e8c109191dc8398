"""Rules about types and spaces. They trace, but compile almost nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.engine.arguments import device_params

from envcore_testing.numerics import numerics
from envcore_testing.subject import Subject, parts_of
from envcore_testing.trees import type_differences


def reset_and_step_run(subject: Subject) -> Iterator[str]:
    """`reset`, `step` and `step_env` can be traced with sampled actions."""
    _ = subject.types
    yield from ()


def constant_types(subject: Subject) -> Iterator[str]:
    """`reset` and `step` return observations and states of the same types, including weak types."""
    for name, reset, step in zip(("obs", "state"), subject.types.reset, subject.types.step, strict=False):
        for problem in type_differences(reset, step, name):
            yield f"reset: {problem}, as step returns it"


def reward_and_flag_types(subject: Subject) -> Iterator[str]:
    """Rewards are float32, flags bool and the discount float32, all of the batch shape."""
    _, _, reward, done, info = subject.types.step
    number, flag = (jax.ShapeDtypeStruct(subject.env.batch_shape, dtype) for dtype in (jnp.float32, jnp.bool_))
    found = {**info, "reward": reward, "done": done}
    expected = {"reward": number, "done": flag, "terminated": flag, "truncated": flag, "discount": number}
    for name, struct in expected.items():
        for problem in type_differences(found.get(name), struct, name):
            yield f"step: {problem}"


def info_entries(subject: Subject) -> Iterator[str]:
    """`info` has the same entries in `step` and `step_env`, and `final_obs` has the type of an observation."""
    obs, *_, info = subject.types.step
    for problem in type_differences(subject.types.step_env[-1], info, "info"):
        yield f"step_env: {problem}"
    for problem in type_differences(info.get("final_obs"), obs, "info['final_obs']"):
        yield f"step: {problem}"


def draws_are_arrays(subject: Subject) -> Iterator[str]:
    """`draw` and `draw_start` return a pytree of arrays or None, so that both can be compiled and mapped."""
    for name in ("draw", "draw_start"):
        drawn: list[Any] = []
        method = getattr(subject.env, name)
        jax.eval_shape(lambda method=method, drawn=drawn: drawn.append(method(subject.key, subject.params)))
        others = {type(leaf).__name__ for leaf in jax.tree.leaves(drawn) if not isinstance(leaf, jax.Array)}
        if others:
            yield f"{name}: it returns {', '.join(sorted(others))}"


def x64(subject: Subject) -> Iterator[str]:
    """All types stay the same in JAX's 64-bit mode."""
    with numerics(x64=True):
        found = subject.trace_types()
    for method, got, expected in zip(found._fields, found, subject.types, strict=True):
        yield from type_differences(got, expected, method)


def strict_dtype_promotion(subject: Subject) -> Iterator[str]:
    """Methods do not mix dtypes (`jax.numpy_dtype_promotion("strict")`), including in 64-bit mode."""
    for x64 in (False, True):
        with numerics(x64=x64, dtype_promotion="strict"):
            subject.trace_types()
    yield from ()


def strict_rank_promotion(subject: Subject) -> Iterator[str]:
    """Methods do not mix ranks (`jax.numpy_rank_promotion("raise")`)."""
    with numerics(rank_promotion="raise"):
        subject.trace_types()
    yield from ()


def pytrees(subject: Subject) -> Iterator[str]:
    """State and params are pytrees whose leaves survive flatten and unflatten."""
    for what, tree in (
        ("default_params: the params", subject.params),
        ("init_state: the state", subject.types.reset[1]),
    ):
        leaves, structure = jax.tree.flatten(tree)
        marks = [object() for _ in leaves]
        if jax.tree.leaves(jax.tree.unflatten(structure, marks)) != marks:
            yield f"{what}, a {type(tree).__name__}, fails the pytree round trip"


def spaces_of_params(subject: Subject) -> Iterator[str]:
    """The spaces can be made from `default_params`, and from the params with JAX arrays that `make` returns."""
    for name in ("action_space", "observation_space", "state_space"):
        space = getattr(subject.env, name)
        space(subject.env.default_params)
        with numerics(dtype_promotion="strict", rank_promotion="raise"):
            space(device_params(subject.env))
    yield from ()


def types_of_the_spaces(subject: Subject) -> Iterator[str]:
    """Actions, observations and states have exactly the shapes and dtypes that their spaces declare."""
    (obs, state, *_), action = subject.types.step, subject.types.action
    for method, value, name in (
        ("action_space", action, "action"),
        ("observation_space", obs, "obs"),
        ("state_space", state, "state"),
    ):
        space, problems = getattr(subject.env, method)(subject.params), []
        jax.eval_shape(lambda x, space=space, name=name, out=problems: out.extend(_undeclared(space, x, name)), value)
        for problem in problems:
            yield f"{method}: {problem}"


def authors_methods(subject: Subject) -> Iterator[str]:
    """`observe` and `action_mask` return the same types as `reset` and `step`."""
    env, (obs, state, *_, info) = subject.env, subject.types.step
    for name, expected in (("observe", obs), ("action_mask", info.get("action_mask"))):
        for params, which in ((subject.params, "params"), (env.default_params, "env.default_params")):
            found = jax.eval_shape(lambda state: getattr(env, name)(state, params), state)  # noqa: B023
            for problem in type_differences(found, expected, f"the result of {name}(state, {which})"):
                yield f"{name}: {problem}"


def action_mask_type(subject: Subject) -> Iterator[str]:
    """The action mask is bool, with a shape that the action space's `sample_legal` accepts."""
    mask, space = subject.types.step[-1]["action_mask"], subject.env.action_space(subject.params)
    if any(leaf.dtype != np.bool_ for leaf in jax.tree.leaves(mask)):
        yield "action_mask: it must be bool, True for legal actions"
    if isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        space.masks_combinations(mask.shape)


def has_no_mask(subject: Subject) -> str | None:
    """Returns why the rules about action masks do not apply, or None if they apply."""
    return None if "action_mask" in subject.types.step[-1] else "all actions are always legal"


def bounded_states(subject: Subject) -> Iterator[str]:
    """Integers in the state have bounds, and the time is not negative."""
    space = subject.env.state_space(subject.params)
    for name, part, _ in parts_of(space, subject.types.reset[1], "state"):
        # 8-bit integers may be pixels.
        if isinstance(part, spaces.Box) and part.dtype.kind in "iu" and part.dtype.itemsize > 1:
            info = np.iinfo(part.dtype)
            if ((part.low == info.min) & (part.high == info.max)).any():
                yield f"state_space: {name} has no bounds in {part!r}"
    if space.spaces["time"].contains(np.int32(-1)):
        yield "state_space: state.time may be -1"


def is_wrapped(subject: Subject) -> str | None:
    """Returns why the rules about the environment's state do not apply, or None if they apply."""
    return "a wrapper chooses its state and what survives a reset" if subject.is_wrapped else None


def _undeclared(space: spaces.Space, value: Any, name: str) -> list[str]:
    """Returns all differences between a traced value and its space. Unlike `mismatch`, it is strict about dtypes."""
    mismatch = space.mismatch(value)
    if mismatch is not None:
        return [f"{name} is not in {space!r}: {mismatch}"]
    problems = []
    for where, part, x in parts_of(space, value, name):
        is_tree = isinstance(part, spaces.Tree)
        problems += type_differences(x, part.struct if is_tree else jax.ShapeDtypeStruct(part.shape, part.dtype), where)
    return problems
