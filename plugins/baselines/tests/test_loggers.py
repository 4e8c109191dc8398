"""What loggers write, read again as their users do."""

from __future__ import annotations

import dataclasses
import math
import re
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from envcore.errors import EnvcoreError
from envcore.suggestions import how_to_install
from envcore_baselines.curve import Point
from envcore_baselines.loggers import TensorBoard, WeightsAndBiases, scalars

if TYPE_CHECKING:
    from command_line import Run

SMALL = ("--setting", "total_steps=384", "--setting", "num_envs=4", "--setting", "rollout_steps=32")


def point(steps: int, *returns: float, loss: float = 0.5) -> Point:
    names = [f"seed_{number}" for number in range(len(returns))]
    return Point(steps, names, np.array(returns), {"loss": np.full(len(returns), loss)}, 1000.0, 0.5)


def test_numbers_of_a_point() -> None:
    assert scalars(point(1, 3.0)) == {"steps_per_second": 1000.0, "return": 3.0, "loss": 0.5}
    assert scalars(point(1, 3.0, math.nan, loss=math.nan)) == {
        "steps_per_second": 1000.0,
        "return": 3.0,
        "seed_0/return": 3.0,
    }
    assert scalars(point(1, 2.0, 4.0))["return"] == 3.0


def test_tensorboard(tmp_path: Path) -> None:
    from tensorboardX.proto.event_pb2 import Event  # pyright: ignore[reportMissingTypeStubs, reportAttributeAccessIssue]

    with TensorBoard(tmp_path) as log:
        log(dataclasses.replace(point(50, 5.0, 6.0), names=["clip=0.1 seed_0", "clip=0.1 seed_1"]))
        log(point(100, 1.0, 2.0))
        log(point(200, 3.0, 4.0))
    (path,) = tmp_path.iterdir()
    found: dict[tuple[int, str], float] = {}
    content = path.read_bytes()
    while content:  # TFRecord: length, its checksum, an event, its checksum
        size = int.from_bytes(content[:8], "little")
        event: Any = Event.FromString(content[12 : 12 + size])
        found |= {(event.step, value.tag): value.simple_value for value in event.summary.value}
        content = content[16 + size :]
    assert found[50, "clip_0.1_seed_1/return"] == 6.0
    assert found[100, "return"] == 1.5
    assert found[200, "seed_1/return"] == 4.0
    assert found[200, "loss"] == 0.5


@pytest.mark.slow
def test_weights_and_biases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with WeightsAndBiases({"algorithm": "ppo"}, tmp_path, name="a run") as log:
        log(point(100, 1.0))
        log(point(200, 3.0))
    (path,) = tmp_path.glob("wandb/offline-run-*/*.wandb")
    deadline = time.monotonic() + 60  # wandb writes in a process of its own, which may not be at its end
    while missing := [text for text in (b"algorithm", b"a run", b"return", b"loss") if text not in path.read_bytes()]:
        assert time.monotonic() < deadline, missing
        time.sleep(0.05)


def test_weights_and_biases_without_a_login(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_login(**options: Any) -> None:
        raise KeyError("No API key\nconfigured")

    wandb = SimpleNamespace(init=no_login, Error=KeyError)  # which is not installed everywhere
    monkeypatch.setattr("envcore_baselines.loggers.importlib.import_module", lambda name: wandb)
    log = WeightsAndBiases(folder=tmp_path)
    with pytest.raises(EnvcoreError, match=r"^Weights & Biases cannot log: KeyError: .No API key"):
        log(point(100, 1.0))


def test_a_logger_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr("envcore_baselines.loggers.importlib.import_module", missing)
    message = "needs {}, which is not installed: " + how_to_install("envcore-baselines[{}]")
    with pytest.raises(EnvcoreError, match=re.escape(message.format("tensorboardX", "tensorboard"))):
        TensorBoard(tmp_path)
    with pytest.raises(EnvcoreError, match=re.escape(message.format("wandb", "wandb"))):
        WeightsAndBiases()


@pytest.mark.slow
def test_the_command_logs(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "run"
    arguments = ("train", "ppo", "Counter-v0", *SMALL, "--seeds", "2", "--evaluate", "3", "--out", str(out))
    code, text, err = run(*arguments, "--log", "tensorboard")
    assert (code, err) == (0, "")
    assert len(list((out / "tensorboard").iterdir())) == 1
    code, text, err = run(*arguments, "--log", "paper")
    assert (code, text, err) == (1, "", "error: --log must be tensorboard or wandb, got 'paper'.\n")
