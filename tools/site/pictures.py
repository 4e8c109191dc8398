"""Animations for the pages of the environments: of the baselines' trained agents, or of random play."""

from __future__ import annotations

import concurrent.futures
import os
import subprocess
import sys
from pathlib import Path

from envcore_baselines.trained import names
from suites import NEEDS_DATA, our_environments

_OPTIONS = ("--height", "160")


def make(folder: Path) -> None:
    """Makes `ID.webp` for every environment of our suites that has none yet; those without data are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    trained = set(names())
    ids = [each.spec.id for each in our_environments() if each.spec.id not in NEEDS_DATA]
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
