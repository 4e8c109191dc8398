"""A program in a pseudo-terminal whose screen can be read."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyte
import toy

# For Ctrl-C; not in a forked JAX. If a shell runs pytest in the background, SIGINT is ignored and would stay ignored.
_OWN_TERMINAL = """
import fcntl, signal, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
"""
TERM = "xterm-256color"
_DEADLINE = 60  # seconds, generous for a machine under load


class Terminal:
    """Runs Python code at the other end of a pseudo-terminal of `rows` x `columns` characters."""

    def __init__(self, code: str, rows: int = 24, columns: int = 60):
        self._end, program_end = pty.openpty()
        self.resize(rows, columns)
        paths = os.pathsep.join(filter(None, [str(Path(toy.__file__).parent), os.environ.get("PYTHONPATH")]))
        environment = {**os.environ, "TERM": TERM, "COLORTERM": "truecolor", "PYTHONPATH": paths}
        environment = {name: value for name, value in environment.items() if name not in {"COLUMNS", "LINES"}}
        self.program = subprocess.Popen(
            [sys.executable, "-c", _OWN_TERMINAL + code],
            stdin=program_end,
            stdout=program_end,
            stderr=program_end,
            env=environment,
            start_new_session=True,
        )
        os.close(program_end)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        self.program.kill()
        self.program.wait()
        self.hang_up()

    def hang_up(self) -> None:
        """Closes the terminal."""
        if self._end >= 0:
            os.close(self._end)
            self._end = -1

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self._end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)

    def press(self, keys: bytes) -> None:
        os.write(self._end, keys)

    def wait_for(self, text: str) -> str:
        """Reads until the screen shows the text; returns the screen."""
        return self._wait(lambda: text in self.text, repr(text))

    def wait_for_end(self) -> int:
        """Reads until the program is over; returns its exit status."""
        self._wait(lambda: self.program.poll() is not None, "the end")
        while self.read(0.1):
            pass
        return self.program.returncode

    @property
    def text(self) -> str:
        return "\n".join(self.screen.display)

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self._end)[3] & termios.ECHO)

    def pixels(self, lines: int) -> np.ndarray:
        """The colors of the upper and lower half blocks of the first lines: uint8 (2 * lines, columns, 3)."""
        cells = [[self.screen.buffer[y][x] for x in range(self.screen.columns)] for y in range(lines)]
        assert {cell.data for line in cells for cell in line} <= {"\N{UPPER HALF BLOCK}", " "}
        rows = [[_rgb(getattr(cell, half)) for cell in line] for line in cells for half in ("fg", "bg")]
        return np.array(rows, np.uint8)

    def _wait(self, is_there: Callable[[], bool], what: str) -> str:
        deadline = time.monotonic() + _DEADLINE
        while not is_there():
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} did not come; the screen:\n{self.text}")
            self.read(0.1)
        return self.text

    def read(self, timeout: float = 0) -> bool:
        """Reads what the program has written; returns whether there was anything."""
        if not select.select([self._end], [], [], timeout)[0]:
            return False
        try:
            data = os.read(self._end, 65536)
        except OSError:  # the program has closed its side
            return False
        self._stream.feed(data)
        return bool(data)


def _rgb(color: str) -> tuple[int, ...]:
    return (0, 0, 0) if color == "default" else tuple(bytes.fromhex(color))
