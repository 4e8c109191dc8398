"""Rules about types. They only trace, and compile nothing."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from envcore.errors import ConformanceError
from envcore.testing.compare import type_difference
from envcore.testing.numerics import numerics
from envcore.testing.subject import Subject


def reset_and_step_run(subject: Subject) -> None:
    """`reset`, `step` and `step_env` can be traced with sampled actions."""
    _ = subject.types


def constant_types(subject: Subject) -> None:
    """`reset` and `step` return observations and states of the same types, weak types included."""
    for what, reset, step in zip(("observation", "state"), subject.types.reset, subject.types.step, strict=False):
        problem = type_difference(reset, step)
        if problem is not None:
            raise ConformanceError(
                f"the {what} of reset has another type than that of step: {problem}. "
                "Every change of type compiles again: give both the same dtype."
            )


def reward_and_flag_types(subject: Subject) -> None:
    """Rewards are float32, flags bool and the discount float32, all of the batch shape."""
    _, _, reward, done, info = subject.types.step
    number, flag = (jax.ShapeDtypeStruct(subject.env.batch_shape, dtype) for dtype in (jnp.float32, jnp.bool_))
    found = {**info, "reward": reward, "done": done}
    expected = {"reward": number, "done": flag, "terminated": flag, "truncated": flag, "discount": number}
    for name, struct in expected.items():
        problem = type_difference(found[name], struct) if name in found else "it is missing"
        if problem is not None:
            raise ConformanceError(f"{name} has the wrong type: {problem}. Leave it to the base class.")


def info_entries(subject: Subject) -> None:
    """`info` has the same entries after `step` and `step_env`; `final_obs` has the type of an observation."""
    obs, *_, info = subject.types.step
    problem = type_difference(subject.types.step_env[-1], info)
    if problem is not None:
        raise ConformanceError(f"the info of step_env differs from that of step: {problem}.")
    problem = type_difference(info.get("final_obs"), obs)
    if problem is not None:
        raise ConformanceError(f"info['final_obs'] has another type than the observation: {problem}.")


def x64(subject: Subject) -> None:
    """With JAX's 64-bit mode on, every type stays as it is."""
    expected = subject.types
    with numerics(x64=True):
        problem = type_difference(subject.trace_types(), expected)
    if problem is not None:
        raise ConformanceError(f"in 64-bit mode {problem}: name the dtype, such as jnp.float32, where arrays are made.")


def strict_dtype_promotion(subject: Subject) -> None:
    """Traces where JAX refuses to mix dtypes (`jax.numpy_dtype_promotion("strict")`), in 64-bit mode too."""
    for x64 in (False, True):
        with numerics(dtype_promotion="strict", x64=x64):
            subject.trace_types()


def strict_rank_promotion(subject: Subject) -> None:
    """Traces where JAX refuses to mix ranks (`jax.numpy_rank_promotion("raise")`)."""
    with numerics(rank_promotion="raise"):
        subject.trace_types()
