"""Makes the standard streams safe, and ignores invalid terminal sizes in environment variables.

Imports only modules that Python itself has imported at startup.
"""

from __future__ import annotations

import errno
import io
import os
import sys

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take longer than this module
if TYPE_CHECKING:
    from typing import Any, NoReturn

CLOSED_PIPE = 141
"""Exit status when the reader of a pipe is gone: 128 + SIGPIPE, as shells show for `yes | head -1`.

It is not 0, because the work may be unfinished: `envcore rollout` writes its picture after its table.
"""

_MOST_DIGITS = 4  # of a plausible number of columns or lines


def prepare() -> None:
    """Makes the standard streams safe to write to, and removes invalid COLUMNS and LINES."""
    _open_closed()
    sys.stdout = _replaced(sys.stdout, sys.__stdout__, 1, _Output)
    sys.stderr = _replaced(sys.stderr, sys.__stderr__, 2, _Errors)
    for name in ("COLUMNS", "LINES"):
        value = os.environ.get(name, "1")
        is_number = value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS
        if not is_number or int(value) == 0:
            del os.environ[name]


def finish() -> None:
    """Flushes standard output while a failure can still be reported.

    Raises:
      SystemExit: the reader of the pipe is gone, now or before, which is not an error.
      OutputError: any other write has failed, now or before, even if the code that wrote has ignored it.
    """
    sys.stdout.flush()
    if isinstance(sys.stdout, _Output):
        sys.stdout.check()


class _Output(io.TextIOWrapper):
    """Standard output whose first failure ends the command, even through code that handles exceptions in its own way.

    Libraries try a write to find out what a stream can do, and ignore the exception.
    """

    _error: OSError | None = None

    def write(self, text: str, /) -> int:
        self.check()
        try:
            return super().write(text)
        except (OSError, ValueError) as error:
            self._fail(error)

    def flush(self) -> None:  # quiet after a failure: Python flushes once more when it exits
        try:
            super().flush()
        except (OSError, ValueError) as error:
            self._fail(error)

    def check(self) -> None:
        """Raises as `finish` does."""
        if self._error is not None:
            self._fail(self._error)

    def _fail(self, error: OSError | ValueError) -> NoReturn:
        from envcore_cli.errors import OutputError

        if isinstance(error, ValueError):  # other code has closed or detached the buffer
            error = OSError(errno.EBADF, os.strerror(errno.EBADF))
        if self._error is None:
            self._error = error
            _discard(1)
        if isinstance(error, BrokenPipeError):
            raise SystemExit(CLOSED_PIPE) from None
        raise OutputError(f"cannot write to standard output: {error.strerror or error}.") from None


class _Errors(io.TextIOWrapper):
    """Standard error that ignores its failures, since they cannot be reported."""

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except (OSError, ValueError):
            _discard(2)
            return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except (OSError, ValueError):
            _discard(2)


def _replaced(stream: Any, original: Any, descriptor: int, kind: type[io.TextIOWrapper]) -> Any:
    """Returns the stream wrapped in `kind`; a stream that other code has installed is kept."""
    if stream is not original:
        return stream
    buffer = open(descriptor, "wb", closefd=False) if stream is None else stream.buffer  # noqa: SIM115
    return kind(
        buffer,
        encoding=getattr(stream, "encoding", "utf-8"),
        errors="backslashreplace",  # so that an ASCII terminal shows \xb1, not a traceback
        line_buffering=getattr(stream, "line_buffering", False),
        write_through=getattr(stream, "write_through", False),
    )


def _open_closed() -> None:
    """Opens descriptors that the caller has closed; otherwise the next opened files would become standard streams.

    Writing to standard output, which is meant to be read, then fails; standard error discards everything.
    """
    for descriptor, mode in enumerate((os.O_RDONLY, os.O_RDONLY, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free descriptor
    if sys.stdin is None:
        sys.stdin = open(0, closefd=False)  # noqa: SIM115


def _discard(descriptor: int) -> None:
    """Redirects buffered output, which Python flushes at exit, to where writing cannot fail."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
