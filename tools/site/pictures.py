"""Animations for the pages of the environments: of the baselines' trained agents, or of random play.

Those of environments that need data are kept in `data/pictures`. With a run of `envcore train` in DIR they are made by

    envcore render ID --policy trained:DIR --height 320 --out tools/site/data/pictures/ID.webp
"""

from __future__ import annotations

import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path

from envcore_baselines.trained import names
from suites import our_environments

_KEPT = Path(__file__).with_name("data") / "pictures"
_OPTIONS = ("--height", "320")


def make(folder: Path) -> None:
    """Makes `ID.webp` for every environment of our suites that has none yet, or copies the one that is kept."""
    shutil.copytree(_KEPT, folder, dirs_exist_ok=True)
    trained = set(names())
    ids = [each.spec.id for each in our_environments()]
    missing = [env_id for env_id in ids if not (folder / f"{env_id}.webp").exists()]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for _ in pool.map(lambda env_id: _render(folder, env_id, env_id in trained), missing):
            pass


def _render(folder: Path, env_id: str, is_trained: bool) -> None:
    command = [
        Path(sys.executable).with_name("envcore"),
        "render",
        env_id,
        "--out",
        folder / f"{env_id}.webp",
        *_OPTIONS,
    ]
    done = subprocess.run(
        [*command, *(("--policy", "trained") if is_trained else ())], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"error: no picture of {env_id}: {done.stderr.strip()}")
