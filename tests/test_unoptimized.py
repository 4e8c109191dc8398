from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / "support"
LEVEL = "--xla_backend_optimization_level=0"


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "chosen"), [("-n0", True), ("-n1", False)])
def test_a_session_with_and_without_it(workers: str, chosen: bool, tmp_path: Path) -> None:
    """Without it: loaded by the outermost conftest, as here, and disabled on the command line."""
    (tmp_path / "pytest.ini").write_text(f"[pytest]\npythonpath = {SUPPORT}\n")
    (tmp_path / "conftest.py").write_text("pytest_plugins = ['unoptimized']\n")
    (tmp_path / "test_flags.py").write_text(
        "import os, jax\n"
        "def test_flags():\n"
        f"    assert ({LEVEL!r} in os.environ.get('XLA_FLAGS', '')) == {chosen}\n"
        "    assert jax.jit(lambda x: x + 1)(1) == 2\n"
    )
    environment = {name: value for name, value in os.environ.items() if name != "XLA_FLAGS"}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        workers,
        *(["-p", "no:unoptimized"] * (not chosen)),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
