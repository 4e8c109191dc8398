"""Commands whose standard streams fail, each in its own process. None of them needs JAX."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = "import sys\nfrom envcore_cli import main\nsys.argv[0] = 'envcore'\n{}\nmain()"


def shell(line: str, before: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command line in which `envcore` is available."""
    program = f'envcore() {{ {sys.executable} -c "$CODE" "$@"; }}; {line}'
    variables = {**os.environ, "CODE": CODE.format(before), **environment}
    return subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, timeout=120, env=variables, check=False
    )


@pytest.mark.parametrize(("args", "unbuffered"), [("list", ""), ("list", "1"), ("--version", "1"), ("--help", "")])
def test_a_full_disk_is_one_line(args: str, unbuffered: str) -> None:
    process = shell(f"envcore {args} > /dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (process.returncode, process.stderr) == (1, "error: No space left on device.\n")


@pytest.mark.parametrize("args", ["list", "--help"])
def test_a_closed_pipe_is_quiet(args: str) -> None:
    # The descriptor is a pipe whose reader is gone: `head` might be slower than the whole list.
    process = shell(f"exec 3> >(exit 0); sleep 0.2; envcore {args} >&3")
    assert (process.returncode, process.stderr) == (1, "")


def test_other_system_errors_are_one_line() -> None:
    for raised, message in (
        ("PermissionError(13, 'Permission denied', '/secret')", "/secret: Permission denied."),
        ("OSError('odd')", "odd."),
        ("MemoryError", "there is not enough memory."),
    ):
        before = f"from envcore_cli import app\ndef fail(): raise {raised}\napp.app = fail"
        process = shell("envcore", before)
        assert (process.returncode, process.stderr) == (1, f"error: {message}\n")
