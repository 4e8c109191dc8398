"""What a command finds when it starts: its standard streams, and what the environment says of the terminal's size.

Imports nothing that Python has not imported by then.
"""

from __future__ import annotations

import io
import os
import sys

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take longer than this module
if TYPE_CHECKING:
    from typing import Any, NoReturn

CLOSED_PIPE = 141
"""Exit status where the reader of a pipe has gone: 128 + SIGPIPE, what shells show for `yes | head -1`.

It is not 0, because the work may be unfinished: a rollout writes its picture after its table.
"""

_MOST_DIGITS = 4  # of a terminal's columns or lines that can be true


def prepare() -> None:
    """Makes the standard streams safe to write to, whoever writes, and leaves sizes that make no sense to be found."""
    _open_closed()
    sys.stdout = _replaced(sys.stdout, sys.__stdout__, 1, _Output)
    sys.stderr = _replaced(sys.stderr, sys.__stderr__, 2, _Errors)
    for name in ("COLUMNS", "LINES"):
        value = os.environ.get(name, "1")
        is_number = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
        if not is_number or int(value) == 0:
            del os.environ[name]


class _Output(io.TextIOWrapper):
    """Standard output, whose failures reach `main` past everybody who has an opinion on an `OSError`."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._failed(error)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> NoReturn:
        """Ends the command.

        Raises:
          SystemExit: nobody reads the pipe any more, which is not an error.
          OutputError: anything else.
        """
        from envcore_cli.errors import OutputError

        _discard(1)
        if isinstance(error, BrokenPipeError):
            raise SystemExit(CLOSED_PIPE) from None
        raise OutputError(f"cannot write to standard output: {error.strerror or error}.") from None


class _Errors(io.TextIOWrapper):
    """Standard error, whose failures nobody can be told of."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError:
            _discard(2)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError:
            _discard(2)


def _replaced(stream: Any, original: Any, descriptor: int, kind: type[io.TextIOWrapper]) -> Any:
    """The stream as one of ours; one that somebody else has put in its place stays."""
    if stream is not original:
        return stream
    buffer = open(descriptor, "wb", closefd=False) if stream is None else stream.buffer  # noqa: SIM115
    return kind(
        buffer,
        encoding=getattr(stream, "encoding", "utf-8"),
        errors="backslashreplace",  # an ASCII terminal shows \xb1 in place of a traceback
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def _open_closed() -> None:
    """Opens the descriptors that the caller has closed, or the next files would become standard streams.

    Standard output, which is meant to be read, fails at the first use; standard error swallows everything.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest descriptor that is free
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115


def _discard(descriptor: int) -> None:
    """Sends what is still buffered, which Python writes at its end, to where it cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
