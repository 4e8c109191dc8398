"""Files that are read whole and written in one step. Imports nothing heavy."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import secrets
import stat
from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

from envcore.errors import EnvcoreError, FileError

_UNFINISHED = re.compile(r"\.[0-9a-f]{16}\.unfinished")


def read(path: str | Path, advice: str, error: type[EnvcoreError] = FileError, most_bytes: float = math.inf) -> bytes:
    """The bytes of a file that may be anything.

    Args:
      path: its path.
      advice: what to do about a file that is none or too large, the last sentence of the error.
      error: what is raised if the file is missing, none (but a folder, a pipe or a device), too large or unreadable.
      most_bytes: their largest number.
    """
    path = Path(path)
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # to open a pipe would wait for its writer
            raise error(f"{path} is not a file. {advice}")
        if found.st_size > most_bytes:
            raise error(f"{path} is damaged: it has {found.st_size:,} bytes, more than {most_bytes:,}. {advice}")
        return path.read_bytes()
    except FileNotFoundError:
        raise error(f"{path} does not exist.") from None
    except MemoryError:
        raise error(f"{path} does not fit into memory.") from None
    except OSError as problem:
        raise error(f"{path} cannot be read: {problem.strerror or problem}.") from problem


def replace(path: str | Path, content: bytes) -> None:
    """Writes a file in one step; raises as `replacing` does."""
    with replacing(path) as file:
        file.write(content)


@contextlib.contextmanager
def replacing(path: str | Path) -> Generator[BinaryIO]:
    """Opens a new file, which takes the place of a file in one step when the block ends without an error.

    The path leads to the old content or to the new one, also after a kill or a power cut; a kill can leave the
    unfinished file beside it, for `remove_unfinished`. An existing file keeps its permissions, and its owner and group
    if this user may set them. A symbolic link stays, and its target is replaced.

    Raises:
      FileError: it cannot be written, or it is a folder, a pipe or a device; the old content stays. Every `OSError` of
        the block becomes a `FileError`.
    """
    path = Path(path)
    try:
        old = None
        with contextlib.suppress(FileNotFoundError):
            old = path.stat()
        if old is not None and not stat.S_ISREG(old.st_mode):
            raise FileError(f"cannot write {path}: it exists and is not a regular file; choose another name.")
        target = path.resolve()
        # Not derived from the target's name, which may be as long as a name can be, nor one that others can foresee.
        unfinished = target.with_name(f".{secrets.token_hex(8)}.unfinished")
        mode = 0o666 if old is None else stat.S_IMODE(old.st_mode) & 0o777
        # "x" neither follows a link nor opens what is there.
        file = open(unfinished, "xb", opener=functools.partial(os.open, mode=mode))  # noqa: SIM115
        try:
            with file:
                yield file
                file.flush()
                if old is not None:
                    _take_over(file.fileno(), old, mode)
                os.fsync(file.fileno())
            unfinished.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            raise
        _sync(target.parent)
    except OSError as error:
        raise FileError(f"cannot write {path}: {error.strerror or error}.") from error


def remove_unfinished(folder: Path) -> None:
    """Removes this user's files that a killed `replacing` left in a folder, where no process may be writing."""
    user = os.geteuid() if hasattr(os, "geteuid") else 0
    for each in folder.glob(".*.unfinished"):
        with contextlib.suppress(OSError):
            status = each.lstat()
            if _UNFINISHED.fullmatch(each.name) and stat.S_ISREG(status.st_mode) and status.st_uid == user:
                each.unlink()


def _take_over(descriptor: int, old: os.stat_result, mode: int) -> None:
    """Gives a new file the owner, the group and the permissions of the old one, where the system can."""
    if not hasattr(os, "fchown"):  # Windows
        return
    for owner in (old.st_uid, -1):  # only the superuser gives files away; a member of the group can keep the group
        with contextlib.suppress(OSError):
            os.fchown(descriptor, owner, old.st_gid)
            break
    with contextlib.suppress(OSError):
        os.fchmod(descriptor, mode)


def _sync(folder: Path) -> None:
    """Makes the new name last; Windows and some file systems cannot."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
