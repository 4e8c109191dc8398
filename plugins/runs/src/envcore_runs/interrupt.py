"""Ctrl-C, SIGTERM and SIGHUP: one line and the status of the signal, whatever the program is doing.

Ctrl-C ends the process within two seconds. The other two leave it 20 seconds to save: schedulers, which send SIGTERM,
kill after 30. Imports nothing heavy.

Python calls a signal handler between two bytecodes of the main thread. So the handler waits while XLA compiles, and the
exception that it raises can appear anywhere: as a page of traceback in the middle of an import; lost when C++ called
Python (JAX does so in each garbage collection); or as a crash when C++ expected no exception. Therefore a signal raises
only inside `interruptible`, where a command has something to report or to clean up. Everywhere else, and whenever that
takes too long, a separate thread ends the process; the part of Python's handler that is written in C wakes it up.

Where several processes have to save together, a signal is only noted, and `processes.gathered` tells it to all of them.
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
    import fcntl
    import termios
except ImportError:  # pragma: no cover  # Windows
    fcntl = termios = None

_LINES = {
    getattr(signal, name): line
    for name, line in (("SIGINT", b"interrupted\n"), ("SIGTERM", b"terminated\n"), ("SIGHUP", b"hung up\n"))
    if hasattr(signal, name)  # Windows has no SIGHUP
}
"""The signals, each with the last line of a process that it ends."""

_GRACE = 1.5  # seconds in which interruptible code has to end after Ctrl-C
_LONG_GRACE = 20.0  # after the other signals
_ECHO = 0.1  # seconds: launchers and terminals send a signal to a process and once more to its group
_PATIENCE = 0.3  # seconds to wait for a stream: standard error may be a pipe that nobody reads
_TICK = 0.05


class _Process:
    """State that exists once per process."""

    signum = 0  # the signal that ends the process
    interruptible = 0  # nesting depth of `interruptible` in the main thread
    is_shared = False  # whether a signal is only noted
    was_raised = False  # whether a signal has raised KeyboardInterrupt
    was_lost = False  # whether a KeyboardInterrupt was raised where nothing could catch it
    alternate_screen = False
    settings: Any = None  # of the terminal at the start
    terminals: tuple[int, ...] = ()  # which standard streams were terminals at the start
    is_watched = False  # whether there is the thread
    ending = _thread.allocate_lock()
    flushed = _thread.allocate_lock()  # held until `_flush` is done
    flushed.acquire()


def install() -> None:
    """Installs this handling of the signals for the rest of the process; call it before anything slow.

    A signal that is ignored stays so: Ctrl-C is not meant for a background job of a shell, nor SIGHUP after `nohup`.
    """
    _Process.settings = _terminal_settings()
    _Process.terminals = tuple(filter(os.isatty, (0, 1, 2)))
    for each in _LINES:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, _handle)
            # Registered first, so called last: afterwards Python would restore the default handler, which kills.
            atexit.register(signal.signal, each, signal.SIG_IGN)
    sys.unraisablehook = _notice_lost
    if os.name == "posix":  # elsewhere there is only the handler
        reader, writer = map(_moved, os.pipe())
        os.set_blocking(writer, False)
        _thread.start_new_thread(_watch, (reader,))
        _Process.is_watched = True
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)


@contextlib.contextmanager
def kept() -> Generator[None]:
    """A context after which the signals are handled as before it: libraries install handlers of their own."""
    handlers = {each: signal.getsignal(each) for each in _LINES}
    try:
        yield
    finally:
        for each, handler in handlers.items():
            if handler not in (None, signal.SIG_DFL):
                with contextlib.suppress(ValueError):  # in another thread, in which the library cannot do it either
                    signal.signal(each, handler)


@contextlib.contextmanager
def interruptible(is_shared: bool = False) -> Generator[None]:
    """A context in which Ctrl-C, SIGTERM and SIGHUP raise `KeyboardInterrupt`, at a bytecode of the main thread.

    Code that catches it has 1.5 seconds from Ctrl-C, and 20 from the others, to save and report its results, and must
    then raise it again. A second signal ends the process at once. Enter this context last, so that it is left before a
    progress bar is closed:

        try:
            with Progress() as progress, interruptible():
                ...
        except KeyboardInterrupt:
            report()
            raise

    Args:
      is_shared: whether other processes do the same and have to stop at the same place: the exception is then raised by
        `processes.gathered`, in all of them. The signal may come to any of them.
    """
    _Process.interruptible += 1
    _Process.is_shared = is_shared
    try:
        yield
    finally:
        _Process.interruptible -= 1
        _Process.is_shared = False


def noted() -> int:
    """The number of the signal that has come; 0 for none."""
    return _Process.signum


def grace() -> float:
    """The seconds that the signal which has come leaves the process; without one, those of Ctrl-C."""
    return _GRACE if _Process.signum in (0, signal.SIGINT) else _LONG_GRACE


def agree(signum: int) -> NoReturn:
    """Ends shared work by a signal that has come to one of the processes.

    Raises:
      KeyboardInterrupt: always.
    """
    _Process.signum, _Process.was_raised = signum, True
    raise KeyboardInterrupt


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
        for each in _LINES:
            signal.signal(each, signal.SIG_IGN)
    signum = _Process.signum or signal.SIGINT
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
            _write(2, _LINES[signum])
    else:  # another thread is doing that, and will not return
        time.sleep(_GRACE)
    # No destructors and no `atexit`: XLA's threads may be running, so a regular exit could crash or take long.
    os._exit(128 + signum)  # as shells show it


def _handle(signum: int, frame: object) -> None:
    """The handler of the signals, which Python calls in the main thread when it can."""
    if _Process.is_watched and _Process.was_raised:
        return  # `_watch` knows whether it is another one
    is_another = _Process.signum and not _Process.is_watched
    _note(signum)
    if is_another or not _Process.interruptible:
        end()
    if not _Process.is_shared:
        _Process.was_raised = True
        raise KeyboardInterrupt


def _note(signum: int) -> None:
    """Notes the first signal. A terminal that is gone takes no more output: writing to it would fail."""
    _Process.signum = _Process.signum or signum
    for descriptor in _Process.terminals:
        if not os.isatty(descriptor):
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, descriptor)
            os.close(nowhere)


def _notice_lost(unraisable: Any) -> None:
    """Notes an interrupt in a destructor or a callback, so that `_watch` raises it again; Python would print it."""
    if unraisable.exc_type is KeyboardInterrupt:
        _Process.was_lost = True
    else:
        sys.__unraisablehook__(unraisable)


def _watch(reader: int) -> None:
    """Waits in a thread for a signal; if it may raise, also for a second one or the end of the grace period."""
    while not (signum := _arrived(reader, None)):
        pass
    _note(signum)
    if _Process.interruptible or _Process.was_raised:
        came = time.monotonic()
        deadline = came + grace()
        while (left := deadline - time.monotonic()) > 0:
            if _arrived(reader, min(left, _TICK)) and time.monotonic() - came > _ECHO:
                break
            if _Process.was_lost and _Process.interruptible:
                _Process.was_lost = _Process.was_raised = False
                _thread.interrupt_main(signal.Signals(signum))
                os.read(reader, 1)  # the byte that this call wrote
    end()


def _moved(descriptor: int) -> int:
    """The file under a high number: other code that closes many low ones leaves it."""
    if fcntl is not None:
        for lowest in (1000, 200):
            with contextlib.suppress(OSError):  # the process may not have so many
                moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
                os.close(descriptor)
                return moved
    return descriptor


def _arrived(reader: int, timeout: float | None) -> int:
    """The signal that arrives before the timeout, or 0; others with a Python handler write their numbers too."""
    is_ready, _, _ = select.select([reader], [], [], timeout)
    signum = os.read(reader, 1)[0] if is_ready else 0
    return signum if signum in _LINES else 0


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
