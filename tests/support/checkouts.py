"""Copies of this repository's files, for tools that change them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def copy_files(folder: Path) -> None:
    """Copies what git tracks or would track, as it is now, without its history."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (_ROOT / name).is_file():  # not deleted since
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(_ROOT / name, folder / name)
