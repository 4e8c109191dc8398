"""Folders of runs; that several processes share one is tested with training."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from envcore.errors import FileError
from envcore_runs import run_folder
from envcore_runs.run_folder import locked

LOCKED = """
import os, sys
from pathlib import Path
from envcore_runs.run_folder import locked
with locked(Path(sys.argv[1])):
    print("locked", flush=True)
    sys.stdin.read()
"""


def claim(folder: Path, run: dict[str, Any]) -> None:
    with run_folder.claimed(folder, run):
        pass


def test_a_folder_is_claimed_once_and_found_again(tmp_path: Path) -> None:
    folder, run = tmp_path / "new" / "run", {"seed": 3, "sizes": (1, 2)}
    claim(folder, run)
    before = (folder / run_folder.RUN).stat()
    claim(folder, run)
    after = (folder / run_folder.RUN).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # it may have been read
    assert run_folder.load(folder, dict) == {"seed": 3, "sizes": [1, 2]}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"seed": 4, "config": {}}, "holds another run: its seed is 3, not 4"),
        ({"seed": 3, "config": {"steps": 5}}, "holds another run: its config.steps was not given, and is 5 now"),
        ({"seed": 3, "config": {"steps": None}}, "holds another run: its config.steps was not given, and is None now"),
        ({"seed": 3}, "holds a run of another command or version"),
    ],
)
def test_a_folder_of_another_run(tmp_path: Path, run: dict[str, Any], message: str) -> None:
    claim(tmp_path, {"seed": 3, "config": {}})
    with pytest.raises(FileError, match=f"{message}. Choose another folder"):
        claim(tmp_path, run)


@pytest.mark.parametrize(
    ("before", "now", "message"),
    [
        ("", "nets:Mine", "its network was not given, and is 'nets:Mine' now"),
        ("nets:Mine", "", "its network is 'nets:Mine', and is not given now"),
    ],
)
def test_an_empty_text_is_not_given(tmp_path: Path, before: str, now: str, message: str) -> None:
    claim(tmp_path, {"network": before})
    with pytest.raises(FileError, match=message):
        claim(tmp_path, {"network": now})


def test_a_folder_that_another_command_is_writing(tmp_path: Path) -> None:
    with run_folder.claimed(tmp_path, {"seed": 3}):
        (tmp_path / ".0123456789abcdef.unfinished").touch()
        for seed in (3, 4):
            with pytest.raises(FileError, match="another process is writing to"):
                claim(tmp_path, {"seed": seed})
        assert len(list(tmp_path.iterdir())) == 2


def test_a_claim_keeps_what_another_run_is_writing(tmp_path: Path) -> None:
    claim(tmp_path, {"seed": 3})
    (tmp_path / ".0123456789abcdef.unfinished").touch()
    with pytest.raises(FileError, match="holds another run: its seed is 3, not 4"):
        claim(tmp_path, {"seed": 4})
    assert run_folder.load(tmp_path, dict) == {"seed": 3}
    assert len(list(tmp_path.iterdir())) == 2


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    claim(tmp_path, {"seed": 3})
    (tmp_path / ".0123456789abcdef.unfinished").touch()
    claim(tmp_path, {"seed": 3})
    assert [path.name for path in tmp_path.iterdir()] == [run_folder.RUN]


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
