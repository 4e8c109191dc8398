"""JAX's persistent compilation cache, for all programs: the second start of a program compiles nothing.

    from envcore.program_cache import keep_programs

    keep_programs("programs")  # before the first compilation

JAX's own settings leave out programs that compile in less than a second.
"""

from __future__ import annotations

import hashlib
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import jax

from envcore.errors import InvalidArgumentError

SOUND_SINCE = (0, 10)
"""On JAX 0.6.0, a loaded program can give other results than the compiled one. This is the first release on which this
library's tests passed with loaded programs."""

_SETTINGS: dict[str, Any] = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
    # The path of these caches would become part of every program's key.
    "jax_persistent_cache_enable_xla_caches": "none",
}


def keep_programs(folder: str | os.PathLike[str]) -> None:
    """Stores every program that is compiled from now on in a folder, and loads those that it holds.

    A subfolder is named after the release of jaxlib and the instructions of the CPU, so that machines can share the
    folder.

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
    for name, value in {**_SETTINGS, "jax_compilation_cache_dir": str(path)}.items():
        jax.config.update(name, value)


def fingerprint() -> str:
    """Names what a compiled program depends on: the release of jaxlib, and the instructions that the CPU has."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    instructions = next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
    cpu = hashlib.sha256(f"{platform.system()} {platform.machine()} {instructions}".encode())
    return f"jaxlib-{metadata.version('jaxlib')}-cpu-{cpu.hexdigest()[:16]}"
