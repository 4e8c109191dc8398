"""Commands in processes of their own, which tests connect with each other."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SOON = 180
"""Seconds in which processes start and end on a busy machine."""


class Command:
    """`envcore ARGS` in a process of its own, with two CPU devices.

    XLA splits some sums by the number of its threads, and has one for each core or each device, whichever are more:
    with `NPROC`, every process has the same number.
    """

    def __init__(
        self,
        *args: str,
        num_devices: int = 2,
        variables: dict[str, str] | None = None,
        program: str = "import envcore_cli; envcore_cli.main()",
        folder: Path | None = None,
    ):
        command = [sys.executable, "-c", program, *args]
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM_", "OMPI_"))}
        environ = {**clean, "JAX_NUM_CPU_DEVICES": str(num_devices), "NPROC": "4", "COLUMNS": "200"}
        environ |= variables or {}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, env=environ, stdout=pipe, stderr=pipe, text=True, cwd=folder)

    def end(self) -> tuple[int, str, str]:
        """Its exit status, output and errors."""
        out, err = self.process.communicate(timeout=SOON)
        return self.process.returncode, out, err


@contextmanager
def commands(*found: Command) -> Generator[tuple[Command, ...]]:
    """Kills what still runs after a failure."""
    try:
        yield found
    finally:
        for each in found:
            each.process.kill()
            each.process.communicate()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def connected(num: int) -> list[tuple[str, ...]]:
    """For each of some processes, the options that connect it with the others."""
    flags = ("--coordinator", f"127.0.0.1:{free_port()}", "--num-processes", str(num), "--process-id")
    return [(*flags, str(number)) for number in range(num)]


def pair(*args: str, **kwargs: Any) -> tuple[Command, ...]:
    """The same command in two processes."""
    return tuple(Command(*args, *flags, **kwargs) for flags in connected(2))
