"""Read single key presses from a POSIX terminal. Does not import JAX."""

from __future__ import annotations

import os
import select
import sys
from types import TracebackType
from typing import Any, Self

from envcore_viewer.errors import PlayError

try:
    import termios
    import tty
except ImportError:  # pragma: no cover  # Windows
    termios = tty = None

_ESCAPES = {b"A": "up", b"B": "down", b"C": "right", b"D": "left"}
_NAMES = {b" ": "space", b"\r": "enter", b"\n": "enter", b"\x1b": "escape"}
_LATENCY = 0.05  # seconds to wait for the remaining bytes of an arrow key


class Keyboard:
    """Context manager that reads key presses immediately and without echo.

    Raises:
      PlayError: standard input is not a terminal, or the system has no POSIX terminals.
    """

    def __init__(self) -> None:
        if termios is None or not sys.stdin.isatty():
            raise PlayError("envcore play needs a keyboard: run it in a POSIX terminal, and do not pipe input to it.")
        self._terminal = sys.stdin.fileno()
        self._settings: Any = None
        self._pressed: list[str] = []

    def __enter__(self) -> Self:
        assert termios is not None
        assert tty is not None
        self._settings = termios.tcgetattr(self._terminal)
        tty.setcbreak(self._terminal)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert termios is not None
        termios.tcsetattr(self._terminal, termios.TCSADRAIN, self._settings)

    def next(self, timeout: float) -> str | None:
        """Returns the next key press.

        Args:
          timeout: how long to wait for a key, in seconds.

        Returns:
          The name of the key: "left", "right", "up", "down", "space", "enter", "escape", or a character. None if no key
          was pressed. If the terminal was closed, "escape".
        """
        if not self._pressed and self._is_ready(timeout):
            data = self._bytes()
            while data.endswith((b"\x1b", b"\x1b[", b"\x1bO")) and self._is_ready(_LATENCY):
                data += self._bytes()
            self._pressed = parse_keys(data) if data else ["escape"]
        return self._pressed.pop(0) if self._pressed else None

    def forget(self) -> None:
        """Discards pending key presses."""
        while self.next(0) is not None:
            pass

    def _is_ready(self, timeout: float) -> bool:
        return bool(select.select([self._terminal], [], [], timeout)[0])

    def _bytes(self) -> bytes:
        try:
            return os.read(self._terminal, 1024)
        except OSError:  # the terminal was closed
            return b""


def parse_keys(data: bytes) -> list[str]:
    """Returns the names of the keys that send these bytes. Unknown keys are ignored."""
    keys: list[str] = []
    while data:
        if data[:2] in (b"\x1b[", b"\x1bO"):
            end = next((i for i in range(2, len(data)) if 0x40 <= data[i] <= 0x7E), len(data))
            name = _ESCAPES.get(data[2 : end + 1])
            keys += [name] if name else []
            data = data[end + 1 :]
            continue
        one = data[:1]
        if one in _NAMES or one.isalnum():
            keys.append(_NAMES.get(one) or one.decode().lower())
        data = data[1:]
    return keys
