"""Folders of sweeps in which anything may stand: a sweep says what is wrong before it starts anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hostile_files
import jax
import pytest
from envcore_baselines import training
from envcore_baselines.training import CHECKPOINT, Training
from envcore_ray.training import plan, train
from envcore_runs import checkpoint
from envcore_runs.folder import RUN as RUN_JSON

SETTINGS = {"total_steps": 96, "num_envs": 2, "rollout_steps": 4, "epochs": 1, "minibatches": 2, "hidden": [2]}
RUNS = plan("ppo", ["CartPole-v1"], settings=SETTINGS)
NAME = next(iter(RUNS))

pytestmark = pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)


class Nobody:
    """Workers that do nothing."""

    def run(self, tasks: Any, *_: Any) -> None:
        assert set(tasks) == {NAME}


@pytest.fixture(autouse=True)
def standard_promotion() -> Iterator[None]:
    """JAX's default promotion of dtypes and ranks: optax relies on it."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a sweep that was interrupted after two of three points of the curve."""
    monkeypatch.setattr(training, "_POINTS", 3)
    run = RUNS[NAME]
    with run.claimed(tmp_path / NAME):
        found = Training(run.learner(*run.make()), run, tmp_path / NAME)
        found.advance()
        found.advance()
        found.save()
    return tmp_path


def go_on(sweep: Path) -> None:
    train(RUNS, sweep, Nobody())  # pyright: ignore[reportArgumentType]


@pytest.mark.slow
def test_run_json(sweep: Path, mutations: int) -> None:
    path = sweep / NAME / RUN_JSON

    def read(content: bytes) -> None:
        path.write_bytes(content)
        go_on(sweep)

    hostile_files.check(read, hostile_files.of_json(json.loads(path.read_bytes())), mutations)


def test_checkpoints_with_a_valid_digest(sweep: Path, mutations: int) -> None:
    path = sweep / NAME / CHECKPOINT
    arrays, about = checkpoint.load(path, dict[str, Any])

    def read(about: Any) -> None:
        path.write_bytes(hostile_files.sealed(arrays, about))
        go_on(sweep)

    hostile_files.check(read, hostile_files.of_value(about), mutations)


def test_bytes_of_a_checkpoint(sweep: Path, mutations: int) -> None:
    path = sweep / NAME / CHECKPOINT

    def read(content: bytes) -> None:
        path.write_bytes(content)
        go_on(sweep)

    hostile_files.check(read, hostile_files.of_bytes(path.read_bytes()), mutations)
