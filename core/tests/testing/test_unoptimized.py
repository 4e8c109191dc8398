from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from envcore.testing import unoptimized

LEVEL = "--xla_backend_optimization_level=0"
EMITTERS = "--xla_cpu_use_fusion_emitters=false"


@pytest.mark.parametrize(
    ("version", "expected"), [((0, 6, 0), [LEVEL, EMITTERS]), ((0, 10, 2), [LEVEL, EMITTERS]), ((0, 12, 0), [LEVEL])]
)
def test_flags_that_the_release_knows(version: tuple[int, ...], expected: list[str]) -> None:
    assert unoptimized.flags(version) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, f"{LEVEL} {EMITTERS}"),
        ("--xla_dump_to=here", f"--xla_dump_to=here {LEVEL} {EMITTERS}"),
        ("--xla_backend_optimization_level=2", f"--xla_backend_optimization_level=2 {EMITTERS}"),
        (f"{LEVEL} {EMITTERS}", f"{LEVEL} {EMITTERS}"),
    ],
)
def test_given_flags_win(given: str | None, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unoptimized.jax, "__version_info__", (0, 10, 2))
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    if given is not None:
        monkeypatch.setenv("XLA_FLAGS", given)
    unoptimized.pytest_configure()
    assert os.environ["XLA_FLAGS"] == expected


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
@pytest.mark.parametrize("chosen", [True, False])
def test_a_session_with_and_without_it(workers: str, chosen: bool, tmp_path: Path) -> None:
    """Without it: loaded by the project's settings, and left out on the command line."""
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p envcore.testing.unoptimized\n")
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
        *(["-p", "no:envcore.testing.unoptimized"] * (not chosen)),
    ]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
