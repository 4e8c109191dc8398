"""JAX's persistent compilation cache, for all programs: the second start of a program compiles nothing.

    from envcore_runs.program_cache import keep_programs

    keep_programs("programs")  # before the first compilation

JAX's own settings leave out programs that compile in less than a second. Stored programs are native code, which is
executed: share a folder only with those whom you trust with your account. A digest in each detects damage, not forgery.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
from envcore.errors import InvalidArgumentError
from jax.experimental.compilation_cache import compilation_cache

SOUND_SINCE = (0, 10)
"""On JAX 0.6.0, a loaded program can give other results than the compiled one. This is the first release on which this
library's tests passed with loaded programs."""

_SETTINGS: dict[str, Any] = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    # The path of these caches would become part of every program's key.
    "jax_persistent_cache_enable_xla_caches": "none",
}


_DIGEST_BYTES = 32
_checked_folders: set[str] = set()


def keep_programs(folder: str | os.PathLike[str]) -> None:
    """Stores every program that is compiled from now on in a folder, and loads those that it holds.

    A subfolder is named after the release of jaxlib and the instructions of the CPU, so that machines can share the
    folder. A damaged program is compiled again and replaced.

    Raises:
      InvalidArgumentError: the folder cannot be made, or JAX is older than 0.10.
    """
    if jax.__version_info__ < SOUND_SINCE:
        raise InvalidArgumentError(f"stored programs need JAX 0.10 or newer, this is {jax.__version__}.")
    path = Path(folder) / fingerprint()
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgumentError(f"cannot make the folder {path}: {error.strerror or error}.") from error
    use_folder(path)


def use_folder(path: Path) -> None:
    """Makes JAX store and load all programs in this very folder, which must exist."""
    _checked_folders.add(str(path))
    _check_entries()
    _load_in_silence()
    for name, value in {**_SETTINGS, "jax_compilation_cache_dir": str(path)}.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()  # it may have begun with another folder


def fingerprint() -> str:
    """Names what a compiled program depends on: the release of jaxlib, and the instructions that the CPU has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    instructions = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    cpu = hashlib.sha256(f"{platform.system()} {platform.machine()} {instructions}".encode())
    return f"jaxlib-{metadata.version('jaxlib')}-cpu-{cpu.hexdigest()[:16]}"


class _CheckedEntries:
    """JAX's entries of a folder, each with a digest at its end.

    JAX never replaces an entry: a damaged one, for example of a process that was killed while it wrote, would stay, and
    its program be compiled by every process. Nor does XLA notice all damage: of 40 programs with flipped bits, 2 ended
    the process and 1 computed another result.
    """

    def __init__(self, entries: Any, folder: Path):
        self._entries, self._path = entries, folder

    def get(self, key: str) -> bytes | None:
        """The content of an entry; None without one. A damaged one is removed, so that `put` writes it anew.

        So is what is not a file, such as a folder, or cannot be read.
        """
        path = self._path / f"{key}-cache"
        try:
            if not os.path.lexists(path):
                return None
            found = self._entries.get(key) if path.is_file() else None  # a pipe would wait for a writer
        except OSError:
            found = None
        if found is not None:
            value, digest = found[:-_DIGEST_BYTES], found[-_DIGEST_BYTES:]
            if digest == _digest(key, value):
                return value
        with contextlib.suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        return None

    def put(self, key: str, value: bytes) -> None:
        """Adds an entry."""
        self._entries.put(key, value + _digest(key, value))


def _digest(key: str, value: bytes) -> bytes:
    return hashlib.sha256(key.encode() + value).digest()


@functools.cache
def _check_entries() -> None:
    """Makes JAX use `_CheckedEntries` in the folders of `use_folder`. It has no public way to do so."""
    try:
        from jax._src import compilation_cache as entries

        make = entries.get_file_cache
    except (ImportError, AttributeError):  # a newer JAX: its own entries, without digests
        return

    def checked(folder: str) -> Any:
        made = make(folder)
        return made and (_CheckedEntries(made[0], Path(folder)), folder) if folder in _checked_folders else made

    entries.get_file_cache = checked


@functools.cache
def _load_in_silence() -> None:
    """Keeps XLA from calling the programs in the folders of `use_folder` those of another machine.

    On some CPUs it says so of every program, in 2,000 characters, because of preferences of its compiler that it takes
    for instructions (openxla/xla#44565).
    """
    config: Any = jax.config
    try:
        from jax._src import compilation_cache, logging_config

        entries: Any = compilation_cache
        levels: Any = logging_config
        load, set_level = entries.get_executable_and_time, levels.utils.absl_set_min_log_level
        set_named_level = levels._set_cpp_min_log_level
    except (ImportError, AttributeError):  # another JAX, which says what it says
        return

    def quietly(*args: Any, **kwargs: Any) -> Any:
        if config.jax_compilation_cache_dir not in _checked_folders:
            return load(*args, **kwargs)
        set_level(3)
        try:
            return load(*args, **kwargs)
        finally:
            set_level(int(os.environ.get("TF_CPP_MIN_LOG_LEVEL", "1")))  # which JAX sets to 1
            set_named_level(config.jax_logging_level)

    entries.get_executable_and_time = quietly
