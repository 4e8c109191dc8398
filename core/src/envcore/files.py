"""Writes files atomically. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from envcore.errors import FileError


def replace(path: str | Path, content: bytes) -> None:
    """Writes a file atomically. Raises like `replacing`."""
    with replacing(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: str | Path) -> Generator[BinaryIO]:
    """Opens a new file that atomically replaces `path` when the block ends without an error.

    `path` always has either the old or the new content, even after a kill or a power failure. A kill can leave the
    unfinished file in the folder. `remove_unfinished` removes it. A symbolic link stays, and its target is replaced.

    Raises:
      FileError: the file cannot be written, or `path` is a folder or a device. The old content stays. Every `OSError`
        in the block becomes a `FileError`.
    """
    try:
        target = Path(path).resolve()
        if target.exists() and not target.is_file():
            raise FileError(f"cannot write {path}: it exists and is not a regular file. Choose another name.")
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
    """Removes files that a killed `replacing` left in a folder. No other process may be writing to the folder."""
    for each in folder.glob(f".{'[0-9a-f]' * 16}.unfinished"):
        with contextlib.suppress(OSError):
            each.unlink()
