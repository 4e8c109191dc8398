"""Signals that come where an exception would be lost. None of these tests needs JAX."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

IN_AN_IMPORT = """
envcore_cli._PATIENCE = {}
try:
    import ends
except KeyboardInterrupt:
    print("in the import")
    raise
print("after the import")
while True:
    time.sleep(0.01)
"""

IN_A_CALLBACK = """
import gc

def _xla_gc_callback(phase, info):
    gc.callbacks.clear()
    signal.raise_signal({})

gc.callbacks.append(_xla_gc_callback)
gc.collect()
while True:
    time.sleep(0.01)
"""

SIGNALS = pytest.mark.parametrize(
    ("signum", "message"), [(signal.SIGINT, "interrupted\n"), (signal.SIGTERM, "")], ids=["SIGINT", "SIGTERM"]
)


def ended(code: str, folder: Path) -> tuple[int, str, str]:
    """The exit status, output and errors of `envcore` with a command that executes some code."""
    start = "import signal, sys, time, envcore_cli\nsignal.signal(2, signal.default_int_handler)\ndef run():\n"
    program = f"{start}{indent(code, '    ')}\nenvcore_cli._run = run\nenvcore_cli.main()"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    return found.returncode, found.stdout, found.stderr


@SIGNALS
@pytest.mark.parametrize(("patience", "place"), [(60, "after the import\n"), (0.1, "in the import\n")])
def test_an_import_ends_first_unless_it_takes_long(
    patience: float, place: str, signum: int, message: str, tmp_path: Path
) -> None:
    code = f"import signal, time\nsignal.raise_signal({int(signum)})\nuntil = time.monotonic() + 0.5\n"
    (tmp_path / "ends.py").write_text(code + "while time.monotonic() < until:\n    time.sleep(0.01)\n")
    assert ended(IN_AN_IMPORT.format(patience), tmp_path) == (128 + signum, place, message)


@SIGNALS
def test_a_callback_of_the_garbage_collector_ends_first(signum: int, message: str, tmp_path: Path) -> None:
    assert ended(IN_A_CALLBACK.format(int(signum)), tmp_path) == (128 + signum, "", message)
