"""For all tests: the repository's own pytest plugins, in tests/support, each of which `-p no:NAME` switches off."""

from __future__ import annotations

import os
import signal

import jax
import pytest

os.environ.setdefault("MUJOCO_GL", "egl")  # a machine that runs tests has no display

pytest_plugins = ["garbage", "hostile", "program_cache", "quick", "unoptimized"]


def pytest_configure() -> None:
    """Heeds Ctrl-C, which tests send: where a shell runs pytest in the background, as CI does, it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Drops the programs of an exhaustive test: no other uses them, and those of a hundred need gigabytes."""
    if item.get_closest_marker("exhaustive"):
        jax.clear_caches()
