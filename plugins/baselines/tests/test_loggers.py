"""What loggers write, read again as their users do."""

from __future__ import annotations

import dataclasses
import math
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from envcore.errors import EnvcoreError
from envcore.suggestions import how_to_install
from envcore_baselines.curve import Point
from envcore_baselines.loggers import TensorBoard, scalars

if TYPE_CHECKING:
    from command_line import Run


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


def test_without_tensorboard_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    message = "needs tensorboardX, which is not installed: " + how_to_install("envcore-baselines[tensorboard]")
    with pytest.raises(EnvcoreError, match=re.escape(message)):
        TensorBoard(tmp_path)


@pytest.mark.slow
def test_the_command_logs(run: Run, tmp_path: Path) -> None:
    settings = ("--setting", "total_steps=64", "--setting", "num_envs=4", "--setting", "rollout_steps=8")
    code, _, err = run("train", "ppo", "Counter-v0", *settings, "--out", str(tmp_path), "--tensorboard")
    assert (code, err) == (0, "")
    assert len(list((tmp_path / "tensorboard").iterdir())) == 1
