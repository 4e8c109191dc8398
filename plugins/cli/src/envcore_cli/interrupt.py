"""Ctrl-C: one line and exit status 130 within two seconds, whatever the program is doing. Imports nothing heavy.

Python calls a signal handler between two bytecodes of the main thread. So the handler waits while XLA compiles, and the
exception that it raises can appear anywhere: as a page of traceback in the middle of an import; lost when C++ called
Python (JAX does so in each garbage collection); or as a crash when C++ expected no exception. Therefore Ctrl-C raises
only inside `interruptible`, where a command has something to report or to clean up. Everywhere else, and whenever that
takes too long, a separate thread ends the process; the part of Python's handler that is written in C wakes it up.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # type checkers take it for True; importing `typing` would take half of this module's time
if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import Any, NoReturn

try:
    import termios
except ImportError:  # pragma: no cover  # Windows
    termios = None

STATUS = 128 + signal.SIGINT
"""The exit status that shells show for a program ended by Ctrl-C."""

_GRACE = 1.5  # seconds in which interruptible code has to end
_PATIENCE = 0.3  # seconds to wait for a stream: standard error may be a pipe that nobody reads
_TICK = 0.05


class _Process:
    """State that exists once per process."""

    interruptible = 0  # nesting depth of `interruptible` in the main thread
    was_raised = False  # whether Ctrl-C has raised KeyboardInterrupt
    was_lost = False  # whether a KeyboardInterrupt was raised where nothing could catch it
    alternate_screen = False
    settings: Any = None  # of the terminal at the start
    ending = _thread.allocate_lock()
    flushed = _thread.allocate_lock()  # held until `_flush` is done
    flushed.acquire()


class Interrupted(BaseException):
    """An interrupt on its way to `main`: typer would turn a KeyboardInterrupt into a silent exit."""


def install() -> None:
    """Installs this handling of Ctrl-C for the rest of the process; call it before anything slow."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job of a shell: Ctrl-C is not meant for it
        return
    _Process.settings = _terminal_settings()
    signal.signal(signal.SIGINT, _handle)
    # Registered first, so called last: afterwards Python would restore the default handler, which kills the process.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    sys.unraisablehook = _notice_lost
    if os.name == "posix":  # elsewhere there is only the handler
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        _thread.start_new_thread(_watch, (reader,))
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)


@contextlib.contextmanager
def interruptible() -> Generator[None]:
    """A context in which Ctrl-C raises `KeyboardInterrupt`, at a bytecode of the main thread.

    Code that catches it has 1.5 seconds from Ctrl-C to report its results, and must then raise it again. A second
    Ctrl-C ends the process at once. Enter this context last, so that it is left before a progress bar is closed:

        try:
            with Progress() as progress, interruptible():
                ...
        except KeyboardInterrupt:
            report()
            raise
    """
    _Process.interruptible += 1
    try:
        yield
    finally:
        _Process.interruptible -= 1


@contextlib.contextmanager
def alternate_screen() -> Generator[None]:
    """A context in which the terminal shows its alternate screen, which an abrupt end has to leave."""
    _Process.alternate_screen = True
    try:
        yield
    finally:
        _Process.alternate_screen = False


def end() -> NoReturn:
    """Ends the process: flushes the standard streams, restores the terminal and prints one line."""
    with contextlib.suppress(ValueError):  # only the main thread may do this, and only there could it be called again
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if _Process.ending.acquire(blocking=False):
        # First, or the rest of a progress bar would follow the line. In a thread: the handler may have interrupted this
        # one while it held the lock of a stream.
        try:
            _thread.start_new_thread(_flush, ())
        except RuntimeError:  # no threads can be started while the interpreter shuts down
            _flush()
        _Process.flushed.acquire(timeout=_PATIENCE)
        with contextlib.suppress(OSError):
            _restore_terminal()
        with contextlib.suppress(OSError):
            _write(2, b"interrupted\n")
    else:  # another thread is doing that, and will not return
        time.sleep(_GRACE)
    # No destructors and no `atexit`: XLA's threads may be running, so a regular exit could crash or take long.
    os._exit(STATUS)


def _handle(signum: int, frame: object) -> None:
    """The handler of SIGINT, which Python calls in the main thread when it can."""
    if not _Process.interruptible:
        end()
    _Process.was_raised = True
    raise KeyboardInterrupt


def _notice_lost(unraisable: Any) -> None:
    """Notes an interrupt in a destructor or a callback, so that `_watch` raises it again; Python would print it."""
    if unraisable.exc_type is KeyboardInterrupt:
        _Process.was_lost = True
    else:
        sys.__unraisablehook__(unraisable)


def _watch(reader: int) -> None:
    """Waits in a thread for Ctrl-C; if Ctrl-C may raise, also for a second one or the end of the grace period."""
    while not _is_pressed(reader, None):
        pass
    if _Process.interruptible or _Process.was_raised:
        deadline = time.monotonic() + _GRACE
        while (left := deadline - time.monotonic()) > 0 and not _is_pressed(reader, min(left, _TICK)):
            if _Process.was_lost and _Process.interruptible:
                _Process.was_lost = False
                _thread.interrupt_main()
                os.read(reader, 1)  # the byte that this call wrote
    end()


def _is_pressed(reader: int, timeout: float | None) -> bool:
    """Whether SIGINT arrives before the timeout; other signals with a Python handler write their numbers too."""
    is_ready, _, _ = select.select([reader], [], [], timeout)
    return bool(is_ready) and os.read(reader, 1)[0] == signal.SIGINT


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    _Process.flushed.release()


def _write(descriptor: int, text: bytes) -> None:
    """Writes a few bytes, unless the descriptor takes none for longer than `_PATIENCE`."""
    if os.name != "posix" or select.select([], [descriptor], [], _PATIENCE)[1]:
        os.write(descriptor, text)


def _restore_terminal() -> None:
    """Restores the terminal's settings and moves the cursor to an empty line, past a progress bar or ^C."""
    settings = _terminal_settings()
    if termios is not None and settings != _Process.settings and os.tcgetpgrp(0) == os.getpgrp():
        termios.tcsetattr(0, termios.TCSANOW, _Process.settings)
    is_dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    for descriptor in (1, 2):
        if os.isatty(descriptor):
            leave = b"\x1b[?1049l" if _Process.alternate_screen else b""
            _write(descriptor, b"\r\n" if is_dumb else leave + b"\r\x1b[K\x1b[?25h")
            return


def _terminal_settings() -> Any:
    """The settings of the terminal on standard input; None if there is none."""
    if termios is None:
        return None
    try:
        return termios.tcgetattr(0)
    except (OSError, termios.error):
        return None
