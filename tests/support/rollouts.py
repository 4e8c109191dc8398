"""Rollouts in folders, which tests stop and compare."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from envcore_runs.loop import Loop
from envcore_runs.run import RolloutResult, rollout

RECORD = ("state", "obs", "action", "reward", "terminated", "truncated")


def saved(folder: Path, env_id: str = "Counter-v0", **arguments: object) -> RolloutResult:
    """A rollout of 100 steps in a folder."""
    given: dict[str, object] = {"num_envs": 6, "steps": 100, "seed": 3, "out": folder, **arguments}
    return rollout(env_id, **given)  # pyright: ignore[reportArgumentType]


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def recorded(folder: Path) -> dict[str, np.ndarray]:
    """All that a folder's manifest lists, read in a process that cannot import this library."""
    program = """
import json, pathlib, sys
import numpy as np
from safetensors.numpy import load_file
sys.modules["envcore"] = sys.modules["jax"] = None
folder = pathlib.Path(sys.argv[1])
manifest = json.loads((folder / "manifest.json").read_text())
shape = manifest["steps_recorded"], manifest["num_envs"]
found = {name: np.empty((*shape, *x["shape"]), x["dtype"]) for name, x in manifest["arrays"].items()}
for shard in manifest["shards"]:
    steps = slice(shard["first_step"], shard["first_step"] + shard["num_steps"])
    envs = slice(shard["first_env"], shard["first_env"] + shard["num_envs"])
    for name, array in load_file(folder / shard["file"]).items():
        found[name][steps, envs] = array
np.savez(sys.argv[2], **found)
"""
    out = folder.parent / "read.npz"
    subprocess.run([sys.executable, "-c", program, str(folder / "trajectories"), str(out)], check=True)
    with np.load(out) as read:
        return dict(read)


def stops_after(monkeypatch: pytest.MonkeyPatch, chunks: int, error: BaseException) -> None:
    """Lets a rollout fail after some chunks."""
    advance, left = Loop.advance, [chunks]

    def stopping(self: Loop, limit: int) -> list[Any]:
        left[0] -= 1
        if left[0] < 0:
            raise error
        return advance(self, limit)

    monkeypatch.setattr(Loop, "advance", stopping)
