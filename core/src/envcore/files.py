"""Files that are written in one step. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from envcore.errors import FileError


def replace(path: str | Path, content: bytes) -> None:
    """Writes a file in one step; raises as `replacing` does."""
    with replacing(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: str | Path) -> Generator[BinaryIO]:
    """Opens a new file, which takes the place of a file in one step when the block ends without an error.

    The path leads to the old content or to the new one, also after a kill or a power cut. A kill can leave the
    unfinished file in the folder, for `remove_unfinished`. A symbolic link stays, and its target is replaced.

    Raises:
      FileError: it cannot be written; the old content stays. It is a folder or a device. Every `OSError` of the block
        becomes a `FileError`.
    """
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise FileError(f"cannot write {path}: it exists and is not a regular file; choose another name.")
        unfinished = target.with_name(f".{secrets.token_hex(8)}.unfinished")
        try:
            with unfinished.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(target)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}.") from error


def remove_unfinished(folder: Path) -> None:
    """Removes the files that a killed `replacing` left in a folder, where no process may be writing."""
    for each in folder.glob(f".{'[0-9a-f]' * 16}.unfinished"):
        with contextlib.suppress(OSError):
            each.unlink()
