"""Writing files in one step. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from envcore.errors import FileError


def replace(path: Path, content: bytes) -> None:
    """Writes a file in one step: it holds the old content or the new one, also after a kill or a power cut.

    A kill can leave the unfinished file beside it, for `remove_unfinished`.

    Raises:
      FileError: it cannot be written; the old content stays.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        if isinstance(error, OSError):
            raise FileError(f"cannot write {path}: {error.strerror or error}.") from error
        raise


def remove_unfinished(folder: Path) -> None:
    """Removes what `replace` left in a folder when its process was killed. No other process may be writing there."""
    for each in folder.glob(".*.unfinished"):
        with contextlib.suppress(OSError):
            each.unlink()
