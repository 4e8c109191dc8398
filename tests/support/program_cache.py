"""A pytest plugin that compiles less.

Most of the time of a test goes into compiling. JAX's persistent compilation cache keeps the compiled programs in
pytest's own cache folder, so that the next run loads them; `pytest --cache-clear` deletes them. In memory, programs
are dropped between modules of tests, because a process that keeps a thousand of them needs gigabytes.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

import jax
import pytest
from envcore_testing.compilation import programs_compiled

SOUND_SINCE = (0, 10)
"""The first release of JAX on which our tests pass with loaded programs."""
MAX_STORED_BYTES = 2**30
MAX_PROGRAMS_IN_MEMORY = 150


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Leaves `--cache-clear` to the process that distributes tests: a worker would delete another's folder."""
    if hasattr(config, "workerinput"):
        config.option.cacheclear = False


def pytest_configure(config: pytest.Config) -> None:
    """Starts the cache in each process that runs tests, where pytest has a cache and the user has not set JAX's."""
    only_distributes = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    cache = getattr(config, "cache", None)  # missing with `-p no:cacheprovider`
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if cache is not None and not only_distributes and chosen is None and jax.__version_info__ >= SOUND_SINCE:
        config.pluginmanager.register(_Programs(cache.mkdir("programs")))


class _Programs:
    """The cache of one process, from its first test to its last."""

    def __init__(self, folder: Path):
        self._dropped, self._folder = programs_compiled(), folder
        jax.config.update("jax_compilation_cache_dir", str(folder))
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Drops the programs in memory between two modules, where there are many."""
        compiled = programs_compiled()
        if nextitem and nextitem.path != item.path and compiled - self._dropped > MAX_PROGRAMS_IN_MEMORY:
            self._dropped = compiled
            jax.clear_caches()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Deletes the oldest programs over the limit."""
        prune(self._folder)


def prune(folder: Path, *, max_bytes: int = MAX_STORED_BYTES) -> None:
    """Deletes the oldest programs of a folder until the others have at most so many bytes."""
    stored: list[tuple[float, int, Path]] = []
    for program in folder.glob("*"):
        with contextlib.suppress(FileNotFoundError):  # another process has just deleted it
            status = program.stat()
            stored.append((status.st_mtime, status.st_size, program))
    excess = sum(size for _, size, _ in stored) - max_bytes
    for _, size, program in sorted(stored):
        if excess > 0:
            program.unlink(missing_ok=True)
            excess -= size
