"""Folders of runs; that several processes share one is tested with training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from envcore.errors import FileError
from envcore_cli import run_folder


def test_a_folder_is_claimed_once_and_found_again(tmp_path: Path) -> None:
    folder, run = tmp_path / "new" / "run", {"seed": 3, "sizes": (1, 2)}
    run_folder.claim(folder, run)
    before = (folder / run_folder.RUN).stat()
    run_folder.claim(folder, run)
    after = (folder / run_folder.RUN).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)  # it may have been read
    assert run_folder.load(folder) == {"seed": 3, "sizes": [1, 2]}


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ({"seed": 4}, "its seed is 3, not 4"),
        ({}, "its seed is 3, not None"),
        ({"seed": 3, "steps": 5}, "its steps is None, not 5"),
    ],
)
def test_a_folder_of_another_run(tmp_path: Path, run: dict[str, Any], message: str) -> None:
    run_folder.claim(tmp_path, {"seed": 3})
    with pytest.raises(FileError, match=f"holds another run: {message}. Choose another folder"):
        run_folder.claim(tmp_path, run)


def test_what_a_kill_left_is_removed(tmp_path: Path) -> None:
    run_folder.claim(tmp_path, {"seed": 3})
    (tmp_path / ".checkpoint.safetensors.123.unfinished").touch()
    run_folder.claim(tmp_path, {"seed": 3})
    assert [path.name for path in tmp_path.iterdir()] == [run_folder.RUN]
