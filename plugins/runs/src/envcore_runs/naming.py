"""How an error names an argument of a run: `num_envs` in Python, `--num-envs` on the command line. Imports no JAX."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from contextvars import ContextVar

_is_command_line = ContextVar("is_command_line", default=False)


@contextlib.contextmanager
def as_options() -> Generator[None]:
    """A context in which arguments are those of the command line."""
    token = _is_command_line.set(True)
    try:
        yield
    finally:
        _is_command_line.reset(token)


def argument(name: str, value: str = "") -> str:
    """The argument as its user writes it; `value` is what the help of the command line calls its value."""
    if not _is_command_line.get():
        return name
    return f"--{name.replace('_', '-')} {value}".rstrip()


def option(name: str, value: object = ...) -> str:
    """An option of an environment as its user writes it."""
    shown = "..." if value is ... else repr(value)
    return f"--option {name}={shown}" if _is_command_line.get() else f"options={{{name!r}: {shown}}}"
