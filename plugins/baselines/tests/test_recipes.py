"""The recipes for clusters, run here: with a stand-in for `srun`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

RECIPES = Path(__file__).parents[1] / "recipes"
FILES = ["checkpoint.safetensors", "curve.csv", "curve.png", "run.json"]
SHORT = ["--setting", "total_steps=20000"]

SRUN = """#!/bin/bash
# Starts the command twice, as `srun` does with two tasks.
export SLURM_JOB_ID=$$ SLURM_STEP_NODELIST=127.0.0.1 SLURM_NTASKS=2
for rank in 0 1; do
  SLURM_PROCID=$rank SLURM_LOCALID=$rank "$@" &
  started+=($!)
done
for each in "${started[@]}"; do wait "$each" || status=$?; done
exit ${status-0}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, and the command `envcore` on the path, with one CPU device in each process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    monkeypatch.setenv("JAX_NUM_CPU_DEVICES", "1")
    return tmp_path


@pytest.mark.slow
def test_sbatch(folder: Path) -> None:
    (folder / "srun").write_text(SRUN)
    (folder / "srun").chmod(0o755)
    settings = {"ID": "CartPole-v1", "SEEDS": "2", "OUT": "out", "CACHE": "programs", "SETTINGS": " ".join(SHORT)}
    done = subprocess.run(
        ["bash", RECIPES / "train.sbatch"], env={**os.environ, **settings}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "out: 2 agents, " in done.stdout
    assert sorted(path.name for path in Path("out").iterdir()) == FILES
    assert list(Path("programs").iterdir())


def test_jobset(run: Any) -> None:
    found = yaml.safe_load((RECIPES / "jobset.yaml").read_text())
    assert (found["apiVersion"], found["kind"]) == ("jobset.x-k8s.io/v1alpha2", "JobSet")
    (workers,) = found["spec"]["replicatedJobs"]
    job = workers["template"]["spec"]
    # What JAX needs to find the other pods.
    assert job["completionMode"] == "Indexed"
    assert job["parallelism"] == job["completions"] > 1
    (container,) = job["template"]["spec"]["containers"]
    name, *arguments = container["command"]
    assert name == "envcore"
    arguments[arguments.index("Breakout-MinAtar")] = "Counter-v0"
    status, out, err = run(*arguments, "--show")
    assert (status, err) == (0, "")
    assert out.startswith("[ppo]")
