"""Rules about types. They only trace, and compile nothing."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator, Iterator
from types import FrameType
from typing import Any

import jax
import jax.numpy as jnp

from envcore_testing.breaches import Breach, breach_of_error, is_own
from envcore_testing.numerics import numerics
from envcore_testing.subject import Subject
from envcore_testing.trees import type_differences

_AUTHORS = {"observation": ("reset", "observe"), "state": ("reset", "start", "init_state")}


def reset_and_step_run(subject: Subject) -> Iterator[Breach]:
    """`reset`, `step` and `step_env` can be traced with sampled actions."""
    _ = subject.types
    yield from ()


def constant_types(subject: Subject) -> Iterator[Breach]:
    """`reset` and `step` return observations and states of the same types, weak types included."""
    for what, reset, step in zip(("observation", "state"), subject.types.reset, subject.types.step, strict=False):
        for problem in type_differences(reset, step):
            yield Breach(
                f"the {what} of reset differs in type from that of step: {problem}. "
                "Every change of type compiles again: give both the same dtype.",
                subject.place(*_AUTHORS[what]),
            )


def reward_and_flag_types(subject: Subject) -> Iterator[Breach]:
    """Rewards are float32, flags bool and the discount float32, all of the batch shape."""
    _, _, reward, done, info = subject.types.step
    number, flag = (jax.ShapeDtypeStruct(subject.env.batch_shape, dtype) for dtype in (jnp.float32, jnp.bool_))
    found = {**info, "reward": reward, "done": done}
    expected = {"reward": number, "done": flag, "terminated": flag, "truncated": flag, "discount": number}
    for name, struct in expected.items():
        for problem in type_differences(found[name], struct) if name in found else ["it is missing"]:
            yield Breach(
                f"{name} has the wrong type: {problem}. Leave it to the base class.",
                subject.place("step", "advance", "transition"),
            )


def draws_are_arrays(subject: Subject) -> Iterator[Breach]:
    """What `draw` and `draw_start` return is a pytree of arrays, or None, so both can be compiled and mapped."""
    for name in ("draw", "draw_start"):
        drawn: list[Any] = []
        jax.eval_shape(
            lambda name=name, drawn=drawn: drawn.append(getattr(subject.env, name)(subject.key, subject.params))
        )
        others = {type(leaf).__name__ for leaf in jax.tree.leaves(drawn) if not isinstance(leaf, jax.Array)}
        if others:
            yield Breach(
                f"{name} returns {', '.join(sorted(others))}, which is not a pytree of arrays: return a "
                "typing.NamedTuple of arrays, or None where nothing is drawn.",
                subject.place(name),
            )


def info_entries(subject: Subject) -> Iterator[Breach]:
    """`info` has the same entries after `step` and `step_env`; `final_obs` has the type of an observation."""
    obs, *_, info = subject.types.step
    place = subject.place("step_env", "step", "advance", "transition")
    for problem in type_differences(subject.types.step_env[-1], info):
        yield Breach(f"the info of step_env differs from that of step: {problem}.", place)
    for problem in type_differences(info.get("final_obs"), obs):
        yield Breach(f"info['final_obs'] differs in type from the observation: {problem}.", place)


def x64(subject: Subject) -> Iterator[Breach]:
    """With JAX's 64-bit mode on, every type stays as it is."""
    types = subject.strict_types(x64=True)
    if types is None:
        with numerics(x64=True):
            types = subject.trace_types()
    methods = {
        "reset's observation": ("reset", "observe"),
        "reset's state": ("reset", "start", "init_state"),
        "the sampled action": ("action_space",),
        "step": ("step", "advance", "transition"),
        "step_env": ("step_env", "advance", "transition"),
    }
    parts = [(*each.reset, each.action, each.step, each.step_env) for each in (types, subject.types)]
    for (what, names), got, expected in zip(methods.items(), *parts, strict=True):
        for problem in type_differences(got, expected):
            yield Breach(
                f"in 64-bit mode the types of {what} change: {problem}. Name the dtype where arrays are made, as in "
                "jnp.zeros(n, jnp.float32), and cast by astype(jnp.float32), not astype(float).",
                subject.place(*names),
            )


def strict_dtype_promotion(subject: Subject) -> Iterator[Breach]:
    """Can be traced where JAX refuses to mix dtypes (`jax.numpy_dtype_promotion("strict")`), in 64-bit mode too."""
    known: set[object] = set()
    for x64 in (False, True):
        if subject.strict_types(x64=x64) is not None:
            continue
        with numerics(x64=x64):
            found = find_promotions(subject.trace_types, strict_dtypes)
        for breach in found:
            if breach.place is None or breach.place not in known:
                yield breach._replace(problem=f"In 64-bit mode, {breach.problem}") if x64 else breach
        known.update(breach.place for breach in found)


def strict_rank_promotion(subject: Subject) -> Iterator[Breach]:
    """Can be traced where JAX refuses to mix ranks (`jax.numpy_rank_promotion("raise")`)."""
    if subject.strict_types(x64=False) is None:
        with numerics():
            yield from find_promotions(subject.trace_types, strict_ranks)


_MOST = 100

Switch = Callable[[bool], contextlib.AbstractContextManager[Any]]
"""Makes JAX strict (True) or lenient (False) inside of a `with` block."""


def strict_dtypes(strict: bool) -> contextlib.AbstractContextManager[Any]:
    """A `Switch`: whether mixed dtypes raise."""
    return jax.numpy_dtype_promotion("strict" if strict else "standard")


def strict_ranks(strict: bool) -> contextlib.AbstractContextManager[Any]:
    """A `Switch`: whether mixed ranks raise."""
    return jax.numpy_rank_promotion("raise" if strict else "allow")


def find_promotions(trace: Callable[[], object], switch: Switch) -> list[Breach]:
    """Traces again and again, each time with the lines that have raised before exempt.

    Args:
      trace: traces the author's code again on every call.
      switch: what makes JAX raise.

    Returns:
      a breach for every line of the author's code that raises. An error from elsewhere ends the search; its breach,
      the last one, has no line.
    """
    found: list[Breach] = []
    exempt: set[tuple[str, int]] = set()
    while len(found) < _MOST:
        try:
            # What jit has traced with exempt lines would be kept, and pass the next check.
            with jax.disable_jit(), switch(True), _exempting(exempt, switch):
                trace()
        except Exception as error:
            breach = breach_of_error(error)
            line = _innermost_line(error)
            if line in exempt:
                break
            found.append(breach)
            if line is None:
                break
            exempt.add(line)
        else:
            break
    return found


@contextlib.contextmanager
def _exempting(exempt: set[tuple[str, int]], switch: Switch) -> Generator[None]:
    """JAX is lenient while one of these lines of the author's code runs, and strict elsewhere."""
    lenient = contextlib.ExitStack()
    is_lenient = False

    def follow(frame: FrameType | None) -> None:
        nonlocal is_lenient
        while frame is not None and not is_own(frame.f_code.co_filename):
            frame = frame.f_back
        wanted = frame is not None and (frame.f_code.co_filename, frame.f_lineno) in exempt
        if wanted and not is_lenient:
            lenient.enter_context(switch(False))
        elif is_lenient and not wanted:
            lenient.close()
        is_lenient = wanted

    def in_frame(frame: FrameType, event: str, _: Any) -> Any:
        if event in ("line", "return"):
            follow(frame.f_back if event == "return" else frame)
        return in_frame

    def on_call(frame: FrameType, event: str, _: Any) -> Any:
        return in_frame if is_own(frame.f_code.co_filename) else None

    if not exempt:
        yield
        return
    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        yield
    finally:
        sys.settrace(before)
        lenient.close()


def _innermost_line(error: BaseException) -> tuple[str, int] | None:
    line, traceback = None, error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_own(file):
            line = (file, traceback.tb_lineno)
        traceback = traceback.tb_next
    return line
