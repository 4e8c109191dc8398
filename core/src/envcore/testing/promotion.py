"""Every line that mixes dtypes or ranks, not only the first: JAX itself stops at the first."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from types import FrameType
from typing import Any

import jax

from envcore.testing.breaches import Breach, breach_of_error
from envcore.testing.places import is_own

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
