"""The C compiler: machine code from generated source, kept in a folder that only the user can write to."""

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

from envcore.errors import EnvcoreError

_FLAGS = ["-O3", "-shared", "-fPIC", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-w"]
_WEB_FEATURES = ["-msimd128", "-mbulk-memory", "-mnontrapping-fptoint"]
_WEB_FLAGS = ["-O2", "-s", "-w", "-nostdlib", "-Wl,--no-entry", "-ffp-contract=off", "-fno-math-errno", *_WEB_FEATURES]
_WEB_STACK = "-Wl,-z,stack-size=16777216"  # for the parts of large pictures


class CompilerError(EnvcoreError):
    """There is no C compiler, or it has refused the source."""


def command() -> Sequence[str] | None:
    """The compiler: `$CC`, `cc`, or the wheel `ziglang`; None without any."""
    given = os.environ.get("CC", "cc").split()
    if given and shutil.which(given[0]):
        return given
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def load(source: str) -> ctypes.CDLL:
    """The compiled source, which is compiled once for each machine, compiler and source: machines may share a folder.

    Raises:
      CompilerError: there is no compiler, or it fails.
    """
    compiler = command()
    if compiler is None:
        raise CompilerError("there is no C compiler: install one, or `pip install 'envcore-native[zig]'`.")
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
    """The source as WebAssembly.

    Raises:
      CompilerError: the wheel `ziglang` is not installed, or it fails.
    """
    if not importlib.util.find_spec("ziglang"):
        raise CompilerError("WebAssembly needs a compiler: `pip install 'envcore-native[zig]'`.")
    compiler = [sys.executable, "-m", "ziglang", "cc", "--target=wasm32-freestanding", *_WEB_FLAGS, _WEB_STACK]
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.wasm"
        _compile(compiler, source, module, [])
        return module.read_bytes()


def _compile(command: Sequence[str], source: str, library: Path, libraries: Sequence[str]) -> None:
    # Two processes that compile the same source each write a file of their own, and the last one stays.
    with tempfile.TemporaryDirectory(dir=library.parent) as folder:
        made = Path(folder) / library.name
        arguments = [*command, "-x", "c", "-", "-o", str(made), *libraries]
        try:
            done = subprocess.run(arguments, input=source, capture_output=True, text=True, check=False)
        except OSError as error:
            raise CompilerError(f"{command[0]} does not run: {error.strerror or error}.") from error
        if done.returncode:
            lines = [*done.stderr.strip().splitlines(), "it says nothing"]
            first = next((line for line in lines if "error" in line), lines[0])
            raise CompilerError(f"{' '.join(command[:3])} failed with {done.returncode}: {first}")
        made.replace(library)


@functools.cache
def _folder() -> Path:
    """Where compiled code is kept: `~/.cache/envcore/native`, or a temporary folder if that cannot be written to."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "envcore" / "native"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        warnings.warn(f"compiled steps are not kept: {folder} cannot be used, {error.strerror or error}.", stacklevel=2)
        return Path(tempfile.mkdtemp(prefix="envcore-native-"))
    return folder
