"""Files that are replaced in one step, and folders that are locked."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from envcore.errors import FileError
from envcore.files import locked, remove_unfinished, replace

KILLED = """
import os, sys
from pathlib import Path
from envcore.files import replace
os.fsync = lambda descriptor: os.kill(os.getpid(), 9)
replace(Path(sys.argv[1]), b"new")
"""


LOCKED = """
import os, sys
from pathlib import Path
from envcore.files import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
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


@pytest.mark.skipif(os.name == "nt", reason="Windows has no locks for folders")
class TestLocked:
    def test_one_block_at_a_time(self, tmp_path: Path) -> None:
        for _ in range(2):
            with locked(tmp_path):
                with pytest.raises(FileError, match=rf"another process is writing to {tmp_path}: wait until"):
                    locked(tmp_path).__enter__()
                with pytest.raises(FileError):  # the refused one did not unlock it
                    locked(tmp_path).__enter__()
        assert list(tmp_path.iterdir()) == []

    def test_a_kill_unlocks(self, tmp_path: Path) -> None:
        command = [sys.executable, "-c", LOCKED, str(tmp_path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"locked\n"
            with pytest.raises(FileError, match="another process"):
                locked(tmp_path).__enter__()
            process.kill()
        with locked(tmp_path):
            pass

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(FileError, match=r"cannot open .*absent: No such file or directory\.$"):
            locked(tmp_path / "absent").__enter__()

    def test_a_file_system_without_locks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import fcntl

        def unsupported(*args: object) -> None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

        monkeypatch.setattr(fcntl, "flock", unsupported)
        with locked(tmp_path), locked(tmp_path):
            pass
