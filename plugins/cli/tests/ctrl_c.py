"""Ctrl-C on the command `envcore`, in a pseudo-terminal."""

from __future__ import annotations

import time
from textwrap import dedent

from terminal import Terminal

SOON = 10.0
"""Seconds in which a command ends, on a machine that runs more than the tests."""

MAIN = """
import sys
import toy
from envcore import registry
from envcore_cli import main
from envcore.specs import EnvSpec
registry.register("Counter-v0", "toy:Counter")
sys.argv = ["envcore", *{!r}]
"""


def envcore(*args: str, before: str = "") -> Terminal:
    return Terminal(MAIN.format(args) + dedent(before) + "main()", columns=100)


def interrupt(terminal: Terminal) -> float:
    """Presses Ctrl-C and checks what must always hold afterwards; returns how many seconds the command took to end."""
    terminal.press(b"\x03")
    pressed = time.monotonic()
    status = terminal.wait_for_end()
    seconds = time.monotonic() - pressed
    assert "Traceback" not in terminal.text
    assert status == 130, terminal.text
    assert terminal.text.rstrip().endswith("interrupted"), terminal.text
    assert not terminal.screen.cursor.hidden
    assert terminal.echoes
    return seconds
