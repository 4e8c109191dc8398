from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from envcore.errors import FileError
from envcore_runs.records import File


@dataclasses.dataclass(frozen=True)
class Record:
    name: str
    sizes: list[int]
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not self.sizes:
            raise ValueError("it has no sizes")


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.json", '{"name": "x", "sizes": [1, 2], "scale": 3}'), ("a.toml", 'name = "x"\nsizes = [1, 2]\nscale = 3')],
)
def test_a_file_becomes_what_describes_it(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert File(tmp_path / name).read(Record) == Record("x", [1, 2], 3.0)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, message in ((tmp_path / "absent", "does not exist"), (tmp_path, "cannot be read: Is a directory")):
        with pytest.raises(FileError, match=message):
            File(path).read(dict[str, Any])
    (tmp_path / "a.json").write_bytes(b"\xff")
    with pytest.raises(FileError, match="can't decode"):
        File(tmp_path / "a.json").read(dict[str, Any])
