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
from envcore_runs import folder as run_folder
from envcore_runs.folder import locked

LOCKED = """
import sys
from pathlib import Path
from envcore_runs.folder import locked
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
    (folder / ".0123456789abcdef.unfinished").touch()  # of a kill
    claim(folder, run)
    after = (folder / run_folder.RUN).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # it may have been read
    assert run_folder.load(folder, dict) == {"seed": 3, "sizes": [1, 2]}
    assert [path.name for path in folder.iterdir()] == [run_folder.RUN]


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"seed": 4, "config": {}}, "its seed is 3, not 4"),
        ({"seed": 3, "config": {"steps": 5}}, "its config.steps is None, not 5"),
        ({"seed": 3}, "its config is {}, not None"),
        ({"seed": 3, "config": {}, "rewards": [0.0] * 9 + [1.0]}, r"its rewards\.9 is 0.0, not 1.0"),
    ],
)
def test_a_folder_of_another_run(tmp_path: Path, run: dict[str, Any], message: str) -> None:
    claim(tmp_path, {"seed": 3, "config": {}, **({"rewards": [0.0] * 10} if "rewards" in run else {})})
    (tmp_path / run_folder.CHECKPOINT).touch()
    with pytest.raises(FileError, match=f"holds another run: {message}. Choose another folder"):
        claim(tmp_path, run)


def test_another_run_takes_a_folder_in_which_nothing_has_been_saved(tmp_path: Path) -> None:
    for seed in (3, 4):
        claim(tmp_path, {"seed": seed})
        assert run_folder.load(tmp_path, dict) == {"seed": seed}


def test_folders_that_hold_no_run(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder, message in ((tmp_path, "holds other files"), (tmp_path / "file", "is not a folder")):
        with pytest.raises(FileError, match=message):
            claim(folder, {})
    with pytest.raises(FileError, match=r"holds no run: there is no run\.json in it"):
        run_folder.load(tmp_path, dict)


def test_a_folder_that_another_command_is_writing(tmp_path: Path) -> None:
    with run_folder.claimed(tmp_path, {"seed": 3}):
        (tmp_path / ".0123456789abcdef.unfinished").touch()
        for seed in (3, 4):
            with pytest.raises(FileError, match="another process is writing to"):
                claim(tmp_path, {"seed": seed})
        assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.skipif(os.name == "nt", reason="Windows has no locks for folders")
class TestLocked:
    def test_a_kill_unlocks(self, tmp_path: Path) -> None:
        command = [sys.executable, "-c", LOCKED, str(tmp_path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"locked\n"
            with pytest.raises(FileError, match=rf"another process is writing to {tmp_path}: wait until"):
                locked(tmp_path).__enter__()
            process.kill()
        with locked(tmp_path):
            pass

    def test_a_file_system_without_locks(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        import fcntl

        def unsupported(*args: object) -> None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))

        monkeypatch.setattr(fcntl, "flock", unsupported)
        with locked(tmp_path) as first, locked(tmp_path) as second:
            assert not first
            assert not second
        claim(tmp_path, {"seed": 3})
        with pytest.raises(FileError, match="holds another run: its seed is 3, not 4"):  # which may be starting
            claim(tmp_path, {"seed": 4})
