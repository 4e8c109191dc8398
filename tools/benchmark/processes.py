"""Programs in a process of their own, whose start is measured with the rest."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
import sysconfig
from typing import Any


def compile_modules() -> None:
    """Compiles installed modules to bytecode, as pip does when it installs them, and uv does not."""
    for folder in filter(os.path.isdir, sys.path):
        if folder != sysconfig.get_path("stdlib"):
            compileall.compile_dir(folder, quiet=2, workers=0)


def last_line(path: str, *arguments: str) -> Any:
    """What a Python file prints last, which is JSON; None if it fails."""
    # With this variable, every process compiles the modules of JAX again, for 2 s.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, path, *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None
