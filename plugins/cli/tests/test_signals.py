"""Signals that come where an exception would be lost. None of these tests needs JAX."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

IN_AN_IMPORT = """
try:
    import ends
except BaseException:
    print("an exception")
"""

IN_A_CALLBACK = """
import gc

def _xla_gc_callback(phase, info):
    gc.callbacks.clear()
    signal.raise_signal(signal.SIGTERM)

gc.callbacks.append(_xla_gc_callback)
gc.collect()
time.sleep(60)
"""


def ended(code: str, folder: Path) -> tuple[int, str, str]:
    """The exit status, output and errors of a program that handles signals like `envcore`."""
    start = "import signal, sys, time, envcore_cli\nfor each in (2, 15): signal.signal(each, envcore_cli._stop)\n"
    found = subprocess.run(
        [sys.executable, "-c", start + code], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    return found.returncode, found.stdout, found.stderr


def test_during_an_import_it_ends_at_once(tmp_path: Path) -> None:
    for signum, message in ((signal.SIGINT, "interrupted\n"), (signal.SIGTERM, "")):
        (tmp_path / "ends.py").write_text(f"import signal\nsignal.raise_signal({int(signum)})\n")
        assert ended(IN_AN_IMPORT, tmp_path) == (128 + signum, "", message)


def test_in_a_callback_of_the_garbage_collector_it_waits_for_the_end(tmp_path: Path) -> None:
    assert ended(IN_A_CALLBACK, tmp_path) == (143, "", "")
