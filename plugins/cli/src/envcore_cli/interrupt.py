"""Ctrl-C: one line and exit status 130 within two seconds, wherever the program stands. Imports nothing heavy.

Python calls a signal's handler between two bytecodes of the main thread. So it waits while XLA compiles, and what it
raises is an exception at any place at all: a page of traceback in the middle of an import, lost where C++ called
Python (JAX does so in each garbage collection), or a crash where C++ expected none. Therefore Ctrl-C raises only
inside `interruptible`, where a command has something to report or to tidy up. Everywhere else, and wherever that
takes too long, a thread of its own ends the process; the part of Python's handler that is written in C wakes it up.
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
"""What shells show for a program that Ctrl-C has ended."""

_GRACE = 1.5  # seconds in which an interruptible part has to end
_PATIENCE = 0.3  # seconds for the last words: standard error may be a pipe that nobody reads
_TICK = 0.05


class _Process:
    """What there is one of in a process."""

    interruptible = 0  # how deep inside `interruptible` the main thread is
    was_raised = False  # whether Ctrl-C has raised KeyboardInterrupt
    was_lost = False  # whether an interrupt was raised where nothing could catch it
    alternate_screen = False
    settings: Any = None  # of the terminal at the beginning
    ending = _thread.allocate_lock()
    said = _thread.allocate_lock()  # held until the last words are said
    said.acquire()


class Interrupted(BaseException):
    """An interrupt on its way to `main`: typer would turn a KeyboardInterrupt into an exit without a word."""


def install() -> None:
    """Makes Ctrl-C what the module says, for the rest of the process; call it before anything slow."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job: Ctrl-C is not meant for it
        return
    _Process.settings = _terminal_settings()
    signal.signal(signal.SIGINT, _handle)
    # Registered first, so called last: once everything is done, Python would put the default handler back, which kills.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    sys.unraisablehook = _notice_lost
    if os.name == "posix":  # elsewhere the handler alone has to do
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        _thread.start_new_thread(_watch, (reader,))
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)


@contextlib.contextmanager
def interruptible() -> Generator[None]:
    """Here Ctrl-C raises `KeyboardInterrupt`, at a bytecode of the main thread.

    Whoever catches it has 1.5 seconds from Ctrl-C on to report what there is, and then raises it again. A second
    Ctrl-C ends the process at once. Enter it last, so that it is left before a progress bar is closed:

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
    """Says that the terminal shows its alternate screen in here, which an abrupt end has to leave."""
    _Process.alternate_screen = True
    try:
        yield
    finally:
        _Process.alternate_screen = False


def end() -> NoReturn:
    """Ends the process with one line, the terminal as it was, and what is buffered written."""
    if _Process.ending.acquire(blocking=False):
        # In a thread: this one may be in a handler that came while it held the lock of a stream.
        try:
            _thread.start_new_thread(_say_goodbye, ())
        except RuntimeError:  # there are no new threads while the interpreter shuts down
            _say_goodbye()
    _Process.said.acquire(timeout=_PATIENCE)
    # No destructors and no `atexit`: XLA's threads may be at work, and to finish would crash or take its time.
    os._exit(STATUS)


def _handle(signum: int, frame: object) -> None:
    """The handler of SIGINT in the main thread, whenever it gets its turn."""
    if not _Process.interruptible:
        end()
    _Process.was_raised = True
    raise KeyboardInterrupt


def _notice_lost(unraisable: Any) -> None:
    """Instead of a traceback for an interrupt in a destructor or a callback, `_watch` raises it again."""
    if unraisable.exc_type is KeyboardInterrupt:
        _Process.was_lost = True
    else:
        sys.__unraisablehook__(unraisable)


def _watch(reader: int) -> None:
    """Waits in a thread for Ctrl-C; where it may raise, for a second one or for the end of the grace as well."""
    while not _is_pressed(reader, None):
        pass
    if _Process.interruptible or _Process.was_raised:
        deadline = time.monotonic() + _GRACE
        while (left := deadline - time.monotonic()) > 0 and not _is_pressed(reader, min(left, _TICK)):
            if _Process.was_lost and _Process.interruptible:
                _Process.was_lost = False
                _thread.interrupt_main()
                os.read(reader, 1)  # the byte that this call has written
    end()


def _is_pressed(reader: int, timeout: float | None) -> bool:
    """Whether SIGINT comes in time; other signals that have a handler in Python write their numbers too."""
    is_ready, _, _ = select.select([reader], [], [], timeout)
    return bool(is_ready) and os.read(reader, 1)[0] == signal.SIGINT


def _say_goodbye() -> None:
    with contextlib.suppress(OSError):
        _restore_terminal()
    with contextlib.suppress(OSError):
        os.write(2, b"interrupted\n")
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):
            stream.flush()
    _Process.said.release()


def _restore_terminal() -> None:
    """Puts the cursor back at the start of an empty line, where a progress bar or ^C may stand."""
    settings = _terminal_settings()
    if termios is not None and settings != _Process.settings and os.tcgetpgrp(0) == os.getpgrp():
        termios.tcsetattr(0, termios.TCSANOW, _Process.settings)
    is_dumb = os.environ.get("TERM", "").lower() in ("dumb", "unknown")
    for descriptor in (1, 2):
        if os.isatty(descriptor):
            leave = b"\x1b[?1049l" if _Process.alternate_screen else b""
            os.write(descriptor, b"\r\n" if is_dumb else leave + b"\r\x1b[K\x1b[?25h")
            return


def _terminal_settings() -> Any:
    """How the terminal of standard input is set; None where there is none."""
    if termios is None:
        return None
    try:
        return termios.tcgetattr(0)
    except (OSError, termios.error):
        return None
