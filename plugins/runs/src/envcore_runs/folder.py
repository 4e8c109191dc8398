"""Results folders. Each contains one run, so that repeating the command resumes it."""

from __future__ import annotations

import contextlib
import json
import os
import reprlib
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from envcore.errors import FileError
from envcore.files import remove_unfinished, replace

from envcore_runs import distributed
from envcore_runs.records import File

T = TypeVar("T")

RUN = "run.json"
"""The file that describes the run in a folder."""
CHECKPOINT = "checkpoint.safetensors"
"""The file with the state of the run."""

_SHORT = reprlib.Repr()
_SHORT.maxstring = 80  # names of functions are longer than its 30


@contextlib.contextmanager
def claimed(folder: Path | None, run: Mapping[str, Any]) -> Generator[None]:
    """Creates the folder of a run, or checks that it belongs to this run or that nothing has been saved.

    Locks it until the end of the block. All processes of the command must call it.

    Args:
      folder: path of the folder. None does nothing.
      run: everything that determines the run's results, as JSON values.

    Raises:
      FileError: the folder contains another run or other files, another command is writing to it, it cannot be written,
        or not all processes see it.
    """
    if folder is None:
        yield
        return
    with _claimed(folder, run) if distributed.is_first() else contextlib.nullcontext():
        distributed.any_says(False)  # only the first process locks the folder
        if distributed.any_says(not (folder / RUN).exists()):
            raise FileError(f"not all processes see {folder}: the folder must be on a file system that they share.")
        yield


@contextlib.contextmanager
def locked(folder: Path) -> Generator[bool]:
    """Locks a folder for this process until the end of the block, or until the process ends in any way.

    Nothing is written. It yields whether the folder is locked: not on Windows, and on file systems without locks.

    Raises:
      FileError: the folder is already locked, by another process or in this one, or it cannot be opened.
    """
    try:
        import fcntl
    except ImportError:
        yield False
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise FileError(f"cannot open {folder}: {error.strerror or error}.") from error
    is_locked = True
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FileError(
                f"another process is writing to {folder}: wait until it has ended, or choose another folder."
            ) from None
        except OSError:  # the file system has no locks
            is_locked = False
        yield is_locked
    finally:
        os.close(descriptor)


def check_agreed(folder: Path, progress: int) -> None:
    """Checks that all processes continue from the same checkpoint.

    Args:
      folder: the run's folder, for the error message.
      progress: progress of this process's checkpoint.

    Raises:
      FileError: another process found a different checkpoint.
    """
    if distributed.highest(progress) != -distributed.highest(-progress):
        raise FileError(f"not all processes see the same checkpoint in {folder}: start them again.")


def load(folder: str | Path, kind: type[T]) -> T:
    """Loads the description of the run in a folder.

    Args:
      folder: path of the folder.
      kind: type of the description, see `envcore_runs.records`.

    Raises:
      FileError: the folder contains no run, or its file is damaged.
    """
    path = Path(folder) / RUN
    if not path.exists():
        raise FileError(f"{folder} holds no run: there is no {RUN} in it.")
    return File(path).read(kind)


def create(folder: Path) -> None:
    """Creates a folder, if it does not exist.

    Raises:
      FileError: it cannot be created, or is something else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileError(f"{folder} is not a folder. Choose an empty or a new folder.") from None
    except OSError as error:
        raise FileError(f"cannot create {folder}: {error.strerror or error}.") from error


@contextlib.contextmanager
def _claimed(folder: Path, run: Mapping[str, Any]) -> Generator[None]:
    create(folder)
    with locked(folder) as is_locked:
        wanted = json.loads(json.dumps(run))
        remove_unfinished(folder)
        files = {each.name for each in folder.iterdir()}
        if files and RUN not in files:
            raise FileError(f"{folder} holds other files. Choose an empty or a new folder.")
        found = load(folder, dict[str, Any]) if files else None
        if found and found != wanted and (len(files) > 1 or not is_locked):
            difference = _first_difference(found, wanted)
            raise FileError(f"{folder} holds another run: its {difference}. Choose another folder.")
        if found != wanted:  # the folder is new, or nothing has been saved in it yet
            replace(folder / RUN, (json.dumps(wanted, indent=1) + "\n").encode())
        yield


def _first_difference(found: Mapping[str, Any], wanted: Mapping[str, Any], place: str = "") -> str:
    """Returns a description of the first value that differs, or an empty string."""
    for name in {**wanted, **found}:
        there, here = found.get(name), wanted.get(name)
        if there == here:
            continue
        if isinstance(there, list) and isinstance(here, list) and len(there) == len(here):
            there, here = dict(enumerate(there)), dict(enumerate(here))
        if isinstance(there, Mapping) and isinstance(here, Mapping):
            return _first_difference(there, here, f"{place}{name}.")
        return f"{place}{name} is {_SHORT.repr(there)}, not {_SHORT.repr(here)}"
    return ""
