"""Ctrl-C on the command `envcore`, in a pseudo-terminal."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

from terminal import Terminal

SOON = 10.0
"""Seconds in which a command ends where two are promised: a machine that runs more than the tests is slower."""

MAIN = """
import sys
import toy
from envcore import registry
from envcore_cli import main
from envcore_runs import interrupt
from envcore.specs import EnvSpec
registry.register("Counter-v0", "toy:Counter")
sys.argv = ["envcore", *{!r}]
install = interrupt.install
interrupt.install = lambda: (install(), print("ready", flush=True))
"""


def envcore(*args: str, before: str = "") -> Terminal:
    return Terminal(MAIN.format(args) + dedent(before) + "main()", columns=100)


def interrupt(terminal: Terminal, may_be_done: bool = False) -> float:
    """Presses Ctrl-C and checks what must always hold afterwards; returns how many seconds the command took to end.

    Args:
      may_be_done: the program may end normally, with status 0, if only Python's own shutdown was left.
    """
    terminal.press(b"\x03")
    pressed = time.monotonic()
    status = terminal.wait_for_end()
    seconds = time.monotonic() - pressed
    assert "Traceback" not in terminal.text
    assert "Exception" not in terminal.text
    if may_be_done and status == 0:
        return seconds
    assert status == 130, terminal.text
    lines = [line.rstrip() for line in terminal.text.rstrip().splitlines()]
    assert [line.endswith("interrupted") for line in lines].count(True) == 1, terminal.text
    assert lines[-1].endswith("interrupted"), terminal.text
    assert not terminal.screen.cursor.hidden
    assert terminal.echoes
    return seconds


def ends(terminal: Terminal) -> None:
    """The command runs to its end."""
    assert terminal.wait_for_end() == 0, terminal.text


def interrupt_at_any_moment(
    args: tuple[str, ...], moments: int, folder: Path, finish: Callable[[Terminal], None] = ends
) -> None:
    """Interrupts a command at many moments of its run; none may leave a partial file in the folder.

    Args:
      args: the arguments of `envcore`; "{tmp}" stands for the folder.
      moments: number of moments.
      folder: the folder that the command may write to.
      finish: waits for the end of the work in the first run, which is not interrupted.
    """
    args = tuple(each.format(tmp=folder) for each in args)
    longest, interrupted = 0.0, 0
    for moment in range(-1, moments):  # the first run measures how long an uninterrupted one takes
        with envcore(*args) as terminal:
            terminal.wait_for("ready")
            started = time.monotonic()
            if moment < 0:
                finish(terminal)
                longest = time.monotonic() - started
                continue
            while (left := started + longest * moment / moments - time.monotonic()) > 0:
                select.select([], [], [], min(left, 0.05))
                terminal.read()
            if terminal.program.poll() is None:
                assert interrupt(terminal, may_be_done=True) < SOON
                interrupted += terminal.program.returncode == 130
        assert not [path for path in folder.iterdir() if path.name.startswith(".")]
    assert interrupted >= moments // 3
