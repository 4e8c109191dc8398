"""A pytest plugin that compiles less: `pytest -p envcore.testing.program_cache`.

Most of the time of a test goes into compiling. JAX's persistent compilation cache keeps the compiled programs in
pytest's own cache folder, so that the next run loads them; `pytest --cache-clear` deletes them. In memory, programs
are dropped between modules of tests, because a process that keeps a thousand of them needs gigabytes.

The plugin does nothing on releases of JAX older than `envcore.program_cache.SOUND_SINCE`.

JAX writes its files in place, and a process that reads a half-written one fails. So each process has its own folder.
It starts with hard links to everything that is stored, and new programs are stored when the process's tests are done.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import jax
import pytest
from jax.experimental.compilation_cache import compilation_cache

from envcore.program_cache import SOUND_SINCE, fingerprint, use_folder
from envcore.testing.compilation import programs_compiled

MAX_STORED_BYTES = 2**30
MAX_PROGRAMS_IN_MEMORY = 150
_SECONDS_A_DAY = 24 * 60 * 60


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Leaves `--cache-clear` to the process that distributes tests: a worker would delete another's folder."""
    if hasattr(config, "workerinput"):
        config.option.cacheclear = False


def pytest_configure(config: pytest.Config) -> None:
    """Starts the cache in each process that runs tests, where pytest has a cache and the user has not set JAX's."""
    if jax.__version_info__ < SOUND_SINCE:
        return
    only_distributes = config.getoption("numprocesses", None) and not hasattr(config, "workerinput")
    cache = getattr(config, "cache", None)  # missing with `-p no:cacheprovider`
    chosen = jax.config.jax_compilation_cache_dir  # pyright: ignore[reportAttributeAccessIssue]
    if cache is not None and not only_distributes and chosen is None:
        config.pluginmanager.register(_Programs(cache.mkdir("programs")))


class _Programs:
    """The cache of one process, from its first test to its last."""

    def __init__(self, root: Path):
        self._dropped = programs_compiled()
        self._store = root / fingerprint()
        self._folder = borrow(self._store)
        use_folder(self._folder)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> None:
        """Drops the programs in memory between two modules, where there are many."""
        compiled = programs_compiled()
        if nextitem and nextitem.path != item.path and compiled - self._dropped > MAX_PROGRAMS_IN_MEMORY:
            self._dropped = compiled
            jax.clear_caches()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Stores what is new."""
        jax.config.update("jax_compilation_cache_dir", None)
        compilation_cache.reset_cache()
        give_back(self._folder, self._store)


def borrow(store: Path) -> Path:
    """Makes a folder for one process, beside the store and with everything that is stored."""
    store.mkdir(exist_ok=True)
    for made, _, left in _oldest_first(store.parent.glob("run-*")):
        if time.time() - made > _SECONDS_A_DAY:  # left by a process that was killed
            shutil.rmtree(left, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix="run-", dir=store.parent))
    for program in store.iterdir():
        try:
            os.link(program, folder / program.name)
        except FileNotFoundError:  # another process has just dropped it
            continue
        except OSError:  # a file system without hard links
            shutil.copyfile(program, folder / program.name)
    return folder


def give_back(folder: Path, store: Path, *, max_bytes: int = MAX_STORED_BYTES) -> None:
    """Stores what is new in a process's folder, deletes the folder, and deletes the oldest programs over the limit."""
    for program in folder.glob("*-cache"):
        if not (store / program.name).exists():
            program.replace(store / program.name)
    shutil.rmtree(folder, ignore_errors=True)
    stored = _oldest_first(store.iterdir())
    excess = sum(size for _, size, _ in stored) - max_bytes
    for _, size, program in stored:
        if excess > 0:
            program.unlink(missing_ok=True)
            excess -= size


def _oldest_first(paths: Iterable[Path]) -> list[tuple[float, int, Path]]:
    """Time of change, size and path of each that still exists: other processes store and drop at the same time."""
    found = []
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    return sorted(found)
