"""For all tests: an unforgiving JAX, and the repository's own pytest plugins, in tests/support.

Each plugin is switched off by `-p no:NAME`.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from pathlib import Path

import jax
import pytest

os.environ.setdefault("MUJOCO_GL", "egl")  # a machine that runs tests has no display

# Modules that tests share lie beside them, and come before those that libraries install.
_ROOT = Path(__file__).parent
sys.path[:0] = map(str, [_ROOT / "tests/support", _ROOT / "core/tests", *_ROOT.glob("p*/*/tests")])

pytest_plugins = ["program_cache", "quick", "unoptimized"]


def pytest_configure() -> None:
    """Sets the switches of JAX and Python before any test module is imported."""
    # Code that works by luck fails: mixed dtypes and ranks raise, and the CPU appears as two devices.
    jax.config.update("jax_num_cpu_devices", 2)
    jax.config.update("jax_numpy_dtype_promotion", "strict")
    jax.config.update("jax_numpy_rank_promotion", "raise")
    # Tests send Ctrl-C, which is ignored where a shell runs pytest in the background, as CI does.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Looks for garbage less often: the modules and tests of a whole run are a million objects."""
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Drops the programs of an exhaustive test: no other uses them, and those of a hundred need gigabytes."""
    if item.get_closest_marker("exhaustive"):
        jax.clear_caches()
