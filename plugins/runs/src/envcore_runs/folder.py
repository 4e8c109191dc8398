"""Folders that hold the results of one run each, so that a command that is given again continues it."""

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
"""The file that says what a folder holds the results of."""


@contextlib.contextmanager
def claimed(folder: str | Path, run: Mapping[str, Any]) -> Generator[None]:
    """Creates the folder of a run, or checks that it is this run's, and locks it until the end of the block.

    Every process of the command calls it.

    Args:
      folder: the folder.
      run: what decides the results of the run, as JSON can hold it.

    Raises:
      FileError: the folder holds another run or other files, another command is writing there, it cannot be written,
        or it is not seen by all processes.
    """
    folder = Path(folder)
    with _claimed(folder, run) if distributed.is_first() else contextlib.nullcontext():
        distributed.any_says(False)  # the others look after that
        if distributed.any_says(not (folder / RUN).exists()):
            raise FileError(f"not all processes see {folder}: the folder must be on a file system that they share.")
        yield


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


def check_agreed(folder: Path, progress: int) -> None:
    """Checks that all processes continue from the same checkpoint.

    Args:
      folder: of the run, for the error.
      progress: how far this process's checkpoint has come.

    Raises:
      FileError: another process has found another one.
    """
    if distributed.highest(progress) != -distributed.highest(-progress):
        raise FileError(f"not all processes see the same checkpoint in {folder}: start them again.")


def load(folder: str | Path, kind: type[T]) -> T:
    """What a folder holds the results of.

    Args:
      folder: the folder.
      kind: the description of it; see `envcore_runs.records`.

    Raises:
      FileError: the folder holds no run, or its file is damaged.
    """
    path = Path(folder) / RUN
    if not path.exists():
        raise FileError(f"{folder} holds no run: there is no {RUN} in it.")
    return File(path).read(kind)


@contextlib.contextmanager
def _claimed(folder: Path, run: Mapping[str, Any]) -> Generator[None]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise FileError(f"{folder} is not a folder. Choose an empty or a new folder.") from None
    except OSError as error:
        raise FileError(f"cannot create {folder}: {error.strerror or error}.") from error
    with locked(folder):
        wanted = json.loads(json.dumps(run))
        remove_unfinished(folder)
        if (folder / RUN).exists():
            if difference := _first_difference(load(folder, dict[str, Any]), wanted):
                raise FileError(f"{folder} holds another run: its {difference}. Choose another folder.")
        elif any(folder.iterdir()):
            raise FileError(f"{folder} holds other files. Choose an empty or a new folder.")
        else:
            replace(folder / RUN, (json.dumps(wanted, indent=1) + "\n").encode())
        yield


def _first_difference(found: Mapping[str, Any], wanted: Mapping[str, Any], place: str = "") -> str:
    """The first value that differs, by its name and those of what it is in; empty if there is none."""
    for name in {**wanted, **found}:
        there, here = found.get(name), wanted.get(name)
        if there == here:
            continue
        if isinstance(there, Mapping) and isinstance(here, Mapping):
            return _first_difference(there, here, f"{place}{name}.")
        return f"{place}{name} is {reprlib.repr(there)}, not {reprlib.repr(here)}"
    return ""
