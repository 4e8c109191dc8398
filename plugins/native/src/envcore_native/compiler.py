"""Compiles generated C to machine code, cached in a folder that only you can write to."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from envcore.errors import EnvcoreError, one_line
from envcore.suggestions import how_to_install

_FLAGS = ["-O3", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w"]
_WEB_FEATURES = ["-msimd128", "-mbulk-memory", "-mnontrapping-fptoint"]
_WEB_FLAGS = ["-O2", "-s", "-w", "-nostdlib", "-Wl,--no-entry", "-ffp-contract=off", "-fno-math-errno", *_WEB_FEATURES]
_WEB_STACK = "-Wl,-z,stack-size=16777216"  # rendering large images needs a large stack


class CompilerError(EnvcoreError):
    """The C compiler is missing or failed."""


def command() -> Sequence[str] | None:
    """Finds a C compiler: `$CC`, then `cc`, then the `ziglang` wheel. Returns None if there is none."""
    for given in (os.environ.get("CC", "").split(), ["cc"]):
        if given and shutil.which(given[0]):
            return given
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def load(source: str) -> ctypes.CDLL:
    """Compiles C source, or loads it from the cache.

    The cache key includes the machine and the compiler, so several machines can share a cache folder.

    Raises:
      CompilerError: the compiler is missing or fails, or the compiled file cannot be used.
    """
    compiler = command()
    if compiler is None:
        raise CompilerError(f"no C compiler found: install one, or {how_to_install('envcore-native[zig]')}.")
    flags = [*_FLAGS, "-march=native"] if platform.machine() in ("x86_64", "AMD64") else _FLAGS
    identity = "\n".join([*compiler, *flags, platform.node(), source])
    library = _folder() / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.so"
    try:
        if not library.exists():
            _compile([*compiler, *flags], source, library, ["-lm"])
        return ctypes.CDLL(str(library))
    except OSError as error:  # a full disk, a damaged file
        raise CompilerError(f"{library} cannot be used: {error}. Delete it, or free some space.") from error


def web(source: str) -> bytes:
    """Compiles C source to WebAssembly.

    Raises:
      CompilerError: the `ziglang` wheel is not installed, or its compiler fails.
    """
    if not importlib.util.find_spec("ziglang"):
        raise CompilerError(f"compiling to WebAssembly needs Zig: {how_to_install('envcore-native[zig]')}.")
    compiler = [sys.executable, "-m", "ziglang", "cc", "--target=wasm32-freestanding", *_WEB_FLAGS, _WEB_STACK]
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.wasm"
        _compile(compiler, source, module, [])
        return module.read_bytes()


def _compile(command: Sequence[str], source: str, library: Path, libraries: Sequence[str]) -> None:
    # Processes may compile the same source at once. Each writes to a temporary folder, and the last one to finish wins.
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / library.name
        arguments = [*command, "-x", "c", "-", "-o", str(made), *libraries]
        try:
            done = subprocess.run(arguments, input=source, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CompilerError(f"{command[0]} cannot be run: {error.strerror or error}.") from error
        if done.returncode:
            lines = [*done.stderr.strip().splitlines(), "no output"]
            first = next((line for line in lines if "error" in line), lines[0])
            raise CompilerError(f"{' '.join(command[:3])} failed with {done.returncode}: {first}")
        made.replace(library)


@functools.cache
def _folder() -> Path:
    """The cache folder: `~/.cache/envcore/native`, or a temporary folder if that one is not writable."""
    folder = Path("~/.cache/envcore/native")
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envcore" / "native"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except (OSError, RuntimeError) as error:  # no home directory is a RuntimeError
        warnings.warn(f"compiled code isn't cached: cannot write to {folder}: {one_line(error)}.", stacklevel=2)
        return Path(tempfile.mkdtemp(prefix="envcore-native-"))
    return folder
