"""What is behind the name of a policy, so that several processes can see whether they have the same. Imports no JAX."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from importlib.machinery import PathFinder
from pathlib import Path

_LENGTH = 16
"""Digits of a digest in a message: more than chance makes equal."""


def digest_of_policy(policy: str) -> str | None:
    """The beginning of the SHA-256 of the file in which `module:function` is, or of the agent of `name:path`.

    The module is not imported, which might start JAX. Returns None if there is no file behind the name.
    """
    module, _, rest = policy.partition(":")
    if not rest:
        return None
    paths = [*_source(module), *_files(Path(rest))]
    digest = hashlib.sha256()
    try:
        for path in paths:
            digest.update(f"{path.name} {path.stat().st_size} ".encode())
            with path.open("rb") as file:
                while piece := file.read(2**20):
                    digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()[:_LENGTH] if paths else None


def _source(module: str) -> list[Path]:
    """The file of a module, which may be in the working directory."""
    path, origin = [str(Path.cwd()), *sys.path], None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, path)
        if spec is None:
            return []
        origin, path = spec.origin, list(spec.submodule_search_locations or [])
    return [Path(origin)] if origin else []


def _files(path: Path) -> list[Path]:
    """The file, or of a folder of a run what it is and its checkpoint."""
    with contextlib.suppress(OSError, ValueError):
        if path.is_dir():
            return [each for each in (path / "run.json", *sorted(path.glob("*.safetensors"))) if each.is_file()]
        if path.is_file():
            return [path]
    return []
