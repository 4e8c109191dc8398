"""A pytest plugin that leaves XLA's optimizations out.

Compiling takes most of the time of tests that run each program once. Without LLVM's optimizations it takes 40% of that
time; the programs are slower, and their floats may be rounded differently. What has to hold for the programs that users
run is tested once more without the plugin: `pytest -p no:unoptimized`.
"""

from __future__ import annotations

from envcore_testing.compilation import compile_quickly


def pytest_configure() -> None:
    """Sets the flags before the first test module is imported."""
    compile_quickly()
