"""Files are replaced in one step, or stay as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from envcore.errors import FileError
from envcore.files import remove_unfinished, replace, replacing

KILLED = """
import os, sys
from envcore.files import replace
os.fsync = lambda descriptor: os.kill(os.getpid(), 9)
replace(sys.argv[1], b"new")
"""


@pytest.fixture(params=["new", "old"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The path of a file that exists, or of one that does not."""
    path = tmp_path / "file.csv"
    if request.param == "old":
        path.write_bytes(b"old")
    return path


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def test_a_file_is_replaced(path: Path) -> None:
    replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    before = content(path)
    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(FileError, match=r"^cannot write .*file\.csv: No space left on device\.$"):
        replace(path, b"new")
    assert content(path) == before
    assert len([*path.parent.iterdir()]) == (before is not None)


def test_a_block_that_fails_leaves_the_old_file(path: Path) -> None:
    before = content(path)

    def write() -> None:
        with replacing(path) as file:
            file.write(b"ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert content(path) == before
    assert len([*path.parent.iterdir()]) == (before is not None)


def test_what_a_kill_leaves_can_be_removed(path: Path) -> None:
    before = content(path)
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -9
    assert content(path) == before
    assert len([*path.parent.iterdir()]) == (before is not None) + 1
    remove_unfinished(path.parent)
    assert len([*path.parent.iterdir()]) == (before is not None)


@pytest.mark.parametrize("name", [".", "missing/file.csv"])
def test_what_cannot_be_written_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileError, match=r"^cannot write .*\.$"):
        replace(tmp_path / name, b"new")
