"""A pytest plugin that leaves XLA's optimizations out: `pytest -p envcore.testing.unoptimized`.

Compiling takes most of the time of tests that run each program once. Without LLVM's optimizations it takes 40% of that
time; the programs are slower, and their floats may be rounded differently. What has to hold for the programs that users
run is tested once more without the plugin: `pytest -p no:envcore.testing.unoptimized`.

It sets `XLA_FLAGS`, so it works on subprocesses as well, and only where the backend has not started yet. Flags that are
set already win.
"""

from __future__ import annotations

import os

import jax


def pytest_configure() -> None:
    """Sets the flags before the first test module is imported."""
    given = os.environ.get("XLA_FLAGS", "").split()
    names = {flag.partition("=")[0] for flag in given}
    added = [flag for flag in flags(jax.__version_info__) if flag.partition("=")[0] not in names]
    os.environ["XLA_FLAGS"] = " ".join([*given, *added])


def flags(version: tuple[int, ...]) -> list[str]:
    """The flags for a release of JAX. XLA ends the process at a flag that it does not know."""
    flags = ["--xla_backend_optimization_level=0"]
    if version < (0, 11):
        flags.append("--xla_cpu_use_fusion_emitters=false")
    return flags
