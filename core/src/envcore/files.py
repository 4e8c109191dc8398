"""Writing files in one step, and folders that one process writes at a time. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
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
    """Removes what `replace` left in a folder when its process was killed; call it inside `locked`."""
    for each in folder.glob(".*.unfinished"):
        with contextlib.suppress(OSError):
            each.unlink()


@contextlib.contextmanager
def locked(folder: Path) -> Generator[None]:
    """Keeps a folder for this process until the end of the block or of the process, however it ends.

    Nothing is written. On Windows, and on a file system without locks for folders, it does nothing.

    Raises:
      FileError: another process keeps it, or another block of this one; or it cannot be opened.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise FileError(f"cannot open {folder}: {error.strerror or error}.") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(
                f"another process is writing to {folder}: wait until it has ended, or choose another folder."
            ) from None
        except OSError:  # no locks there
            pass
        yield
    finally:
        os.close(descriptor)
