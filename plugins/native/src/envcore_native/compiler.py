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
_WEB_FLAGS = ["-O2", "-s", "-w", "-nostdlib", "-Wl,--no-entry", "-ffp-contract=off", "-fno-math-errno"]
_WEB_FEATURES = ["-msimd128", "-mbulk-memory", "-mnontrapping-fptoint"]
_HOW_TO_GET_ONE = "install a C compiler, or `pip install 'envcore-native[zig]'`"


class CompilerError(EnvcoreError):
    """There is no C compiler, or it has refused the source."""


def command() -> Sequence[str] | None:
    """The compiler: `$CC`, the system's, or the wheel `ziglang`; None without any."""
    given = os.environ.get("CC", "").split()
    if given and shutil.which(given[0]):
        return given
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    return [sys.executable, "-m", "ziglang", "cc"] if importlib.util.find_spec("ziglang") else None


def load(source: str) -> ctypes.CDLL:
    """The compiled source, which is compiled once for each machine, compiler and source.

    Raises:
      CompilerError: there is no compiler, or it fails.
    """
    compiler = command()
    if compiler is None:
        raise CompilerError(f"there is no C compiler: {_HOW_TO_GET_ONE}.")
    flags = [*_FLAGS, "-march=native"] if platform.machine() in ("x86_64", "AMD64") else _FLAGS
    identity = "\n".join([*compiler, *flags, _processor(), source])
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
      CompilerError: neither the wheel `ziglang` nor clang with lld is installed, or it fails.
    """
    if importlib.util.find_spec("ziglang"):
        compiler = [sys.executable, "-m", "ziglang", "cc", "--target=wasm32-freestanding"]
    elif shutil.which("clang") and shutil.which("wasm-ld"):
        compiler = ["clang", "--target=wasm32"]
    else:
        raise CompilerError("WebAssembly needs a compiler: `pip install 'envcore-native[zig]'`, or clang and lld.")
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "module.wasm"
        _compile([*compiler, *_WEB_FLAGS, *_WEB_FEATURES], source, module, [])
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
def _processor() -> str:
    """What `-march=native` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "".join(line for line in lines if line.startswith(("model name", "flags")))[:4096]


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
