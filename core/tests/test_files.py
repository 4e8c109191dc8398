"""Files that are replaced in one step."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from envcore.errors import FileError
from envcore.files import remove_unfinished, replace

KILLED = """
import os, sys
from pathlib import Path
from envcore.files import replace
os.fsync = lambda descriptor: os.kill(os.getpid(), 9)
replace(Path(sys.argv[1]), b"new")
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    replace(tmp_path / "a.json", b"old")
    return tmp_path / "a.json"


def test_a_file_is_replaced(path: Path) -> None:
    replace(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FileError, match=r"cannot write .*a\.json: No space left on device\.$"):
        replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_an_interrupt_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_what_a_kill_leaves_can_be_removed(path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert path.read_bytes() == b"old"
    assert len(list(path.parent.iterdir())) == 2
    (path.parent / ".hidden").touch()
    remove_unfinished(path.parent)
    assert sorted(each.name for each in path.parent.iterdir()) == [".hidden", "a.json"]
