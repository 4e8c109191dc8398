"""Watches a plugin while it is imported: names one that hangs, shows what it prints, undoes what it changes.

A plugin that ends the process or never returns cannot be stopped from inside, but it can be named before. What it
prints goes to standard error, with its name and without escape sequences. What it writes to the file descriptors
themselves is left alone: to redirect those would take the output of other threads and of child processes as well, and
lose what native code reports of a crash.

Discovery watches plugins; `make` and the command line watch the modules of environments and commands.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from typing import Any

from envcore.errors import PluginError
from envcore.text import one_line, printable

try:
    import fcntl
except ImportError:  # pragma: no cover  # Windows
    fcntl = None

_PATIENCE = 2.0  # seconds; a plugin module is light
_LONG_PATIENCE = 10.0  # for one that may import JAX and other libraries
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
_STREAMS = ("stdout", "stderr", "__stdout__", "__stderr__")
_watching = threading.RLock()
_HIGH = (1000, 200)  # numbers for copies of descriptors, so that closing many low ones leaves them


def notify(text: str, stream: Any = None) -> None:
    """Writes a line to standard error, now: the process may be about to hang or to end."""
    stream = sys.stderr if stream is None else stream
    with contextlib.suppress(AttributeError, OSError, ValueError):  # there is none, or it is full or closed
        stream.write(f"envcore: {printable(text)}\n")
        stream.flush()


@contextlib.contextmanager
def watched(name: str, changed: list[str], disabled_by: str = "") -> Generator[None]:
    """A context in which a plugin is imported and its hooks are called, in one thread at a time.

    Args:
      name: of what is imported, for messages.
      changed: gets what the plugin has changed in the process; it has been changed back.
      disabled_by: of a plugin, the setting that leaves it out. One that has none may be slow.

    Raises:
      PluginError: whatever the plugin raises, in one line; it is the cause.
      KeyboardInterrupt: a signal has raised it.
    """
    patience, advice = (_PATIENCE, f"; {disabled_by} leaves it out") if disabled_by else (_LONG_PATIENCE, "")
    # What another thread changes for its plugin looks like a change of this one. The time is limited, since this plugin
    # may be what that thread waits for.
    is_alone = _watching.acquire(timeout=patience)
    errors, before = sys.stderr, _Process()
    timer = threading.Timer(patience, notify, [f"{name} is still being imported after {patience:g} s{advice}", errors])
    timer.daemon = True
    try:
        with contextlib.suppress(RuntimeError):  # no more threads can be started
            timer.start()
        with _Quoted(name, errors).streams(changed):
            try:
                yield
            except BaseException as error:  # a plugin may call sys.exit, or raise another BaseException
                if isinstance(error, KeyboardInterrupt) and before.was_signalled:
                    raise
                raise PluginError(one_line(error)) from error  # in here, since `__str__` is code of the plugin
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
        changed += before.restored()
        if before.pid != os.getpid():
            notify(f"{name} has forked the process while it was imported, and this is the copy", errors)
        if is_alone:
            _watching.release()


class _Process:
    """What a plugin must leave as it is, at one moment."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self._folder = _folder()
        self.was_signalled = False  # in this context, as when Ctrl-C is pressed
        self._handlers = {number: signal.getsignal(number) for number in _SIGNALS}
        self._noting = {number: self._put(number, handler) for number, handler in self._handlers.items()}
        self._descriptors: dict[int, tuple[int, os.stat_result]] = {}
        for number in (0, 1, 2):
            with contextlib.suppress(OSError):  # it is closed
                self._descriptors[number] = _copied(number), os.fstat(number)

    def _put(self, number: int, handler: Any) -> Any:
        """Lets a handler that is a function also note its signal; returns what is the handler now."""
        if not callable(handler):
            return handler

        def noting(signum: int, frame: Any) -> Any:
            self.was_signalled = True
            return handler(signum, frame)

        try:
            signal.signal(number, noting)
        except ValueError:  # in another thread, in which no signal raises anything
            return handler
        return noting

    def restored(self) -> Iterator[str]:
        """Restores what has changed, once, and says what it was."""
        if self._folder != _folder():
            with contextlib.suppress(OSError):  # it has been deleted
                os.chdir(self._folder)
            yield "the working directory"
        for number, handler in self._handlers.items():
            found = signal.getsignal(number)
            if found != handler and handler is not None:
                with contextlib.suppress(ValueError):  # not in the main thread, where it was changed
                    signal.signal(number, handler)
                if found != self._noting[number]:
                    yield f"the handler of {number.name}"
        for number, (copy, file) in self._descriptors.items():
            has_copy = _is_file(copy, file)  # the plugin may have closed that, too, and its number be another file's
            if not _is_file(number, file):
                if has_copy:
                    os.dup2(copy, number)
                yield f"file descriptor {number}"
            if has_copy:
                os.close(copy)


class _Quoted:
    """Shows text on standard error, each line of it after the plugin's name."""

    def __init__(self, name: str, errors: Any):
        self._name, self._errors, self._is_inside_line = name, errors, False

    @contextlib.contextmanager
    def streams(self, changed: list[str]) -> Generator[None]:
        """A context in which this thread's `sys.stdout` and `sys.stderr` come here; notes which of them is replaced."""
        originals = {name: getattr(sys, name, None) for name in _STREAMS}
        ours = {name: _Stream(stream, self.show) for name, stream in originals.items() if stream is not None}
        sys.__dict__.update(ours)
        try:
            yield
        finally:
            for name, stream in ours.items():
                found: Any = getattr(sys, name, None)
                if stream.is_closed or found is not stream:
                    changed.append(f"sys.{name}")
                    with contextlib.suppress(Exception):  # it may be anything
                        found.flush()  # a wrapper around ours may hold text
                stream.is_over = True
            sys.__dict__.update(originals)
            if self._is_inside_line:
                self.show("\n")

    def show(self, text: str) -> None:
        """Writes a part of what the plugin prints."""
        shown = ""
        for number, part in enumerate(text.split("\n")):
            if number:
                shown, self._is_inside_line = shown + "\n", False
            if part:
                shown += printable(part if self._is_inside_line else f"{self._name}: {part}")
                self._is_inside_line = True
        with contextlib.suppress(AttributeError, OSError, ValueError):
            self._errors.write(shown)
            self._errors.flush()


class _Stream:
    """Stands in for a standard stream while a plugin is imported in this thread.

    Other threads write to the stream itself. So does later whoever has kept this object, such as a handler of logs.
    """

    def __init__(self, stream: Any, show: Callable[[str], None]):
        self._stream, self._show, self._thread = stream, show, threading.get_ident()
        self.is_over = self.is_closed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def is_active(self) -> bool:
        """Whether what is written now comes from the plugin."""
        return not self.is_over and threading.get_ident() == self._thread

    @functools.cached_property
    def buffer(self) -> _Buffer:
        """The stream for bytes; closing it, as a discarded wrapper does, does not close that of the process."""
        return _Buffer(self, self._stream)

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if not self.is_active:
            return self._stream.write(text)
        self._show(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def close(self) -> None:
        self.is_closed = True

    def detach(self) -> Any:
        raise io.UnsupportedOperation("detach")


class _Buffer(io.BufferedIOBase):
    """The bytes of a `_Stream`."""

    def __init__(self, text: _Stream, stream: Any):
        self._text, self._stream = text, stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if not self._text.is_active:
            return self._stream.buffer.write(data)
        self._text.write(bytes(data).decode(errors="backslashreplace"))
        return len(data)


def _folder() -> str:
    try:
        return os.getcwd()  # noqa: PTH109  # a `Path` is slower
    except OSError:  # it has been deleted
        return ""


def _copied(number: int) -> int:
    """A descriptor with a high number for the same file, closed in child processes."""
    if fcntl is not None:
        for lowest in _HIGH:
            with contextlib.suppress(OSError):  # the process may not have so many
                return fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, lowest)
    return os.dup(number)


def _is_file(number: int, file: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.fstat(number), file)
    except OSError:
        return False
