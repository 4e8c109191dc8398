"""Learning curves as numbers, CSV and picture."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from pathlib import Path

import numpy as np
import pytest
from envcore.errors import FileError
from envcore_baselines.curve import Curve, CurveRecord
from envcore_baselines.learner import Totals
from envcore_runs.records import File
from PIL import Image


def totals(returns: list[float], episodes: list[int]) -> Totals:
    return {"returns": np.array(returns, np.float32), "episodes": np.array(episodes, np.int32)}  # type: ignore[dict-item]


@pytest.fixture
def curve() -> Curve:
    found = Curve(2)
    found = found.with_point(100, totals([0, 0], [0, 0]))
    found = found.with_point(200, totals([3, 0], [2, 0]))
    found = found.with_point(300, totals([10, 30], [5, 10]))
    return found.with_point(400, totals([0, 0], [0, 0]))


def test_points_are_means_over_episodes(curve: Curve) -> None:
    assert len(curve) == 4
    assert curve.steps == [100, 200, 300, 400]
    np.testing.assert_array_equal(curve.returns, [[np.nan] * 2, [1.5, np.nan], [2, 3], [np.nan] * 2])
    assert curve.last == 2.5
    assert math.isnan(Curve(1).last)


def test_a_longer_curve_leaves_the_shorter_one(curve: Curve) -> None:
    before = curve.to_record()
    longer = curve.with_point(500, totals([1, 1], [1, 1]))
    assert (len(longer), curve.to_record()) == (5, before)


def test_csv(curve: Curve) -> None:
    assert curve.to_csv().splitlines() == [
        "steps,mean,std,seed_0,seed_1",
        "100,,,,",
        "200,1.5,0.0,1.5,",
        "300,2.5,0.5,2.0,3.0",
        "400,,,,",
    ]
    assert curve.to_csv(7).splitlines()[0] == "steps,mean,std,seed_7,seed_8"


def test_json_keeps_every_bit(curve: Curve) -> None:
    curve = curve.with_point(500, totals([0.1, 1e-30], [3, 7]))
    read = File(Path("a")).parsed(json.dumps(dataclasses.asdict(curve.to_record())), CurveRecord)
    found = Curve.of_record(read)
    assert found.to_csv() == curve.to_csv()
    assert found.to_record() == curve.to_record()


@pytest.mark.parametrize("is_empty", [False, True])
def test_the_picture_shows_the_curve(curve: Curve, is_empty: bool) -> None:
    curve = curve.with_point(500, totals([4, 2], [1, 1]))
    with Image.open(io.BytesIO((Curve(2) if is_empty else curve).to_png("ppo in Toy"))) as image:
        assert image.size == (900, 600)
        blue = np.asarray(image.convert("RGB")).astype(int)
    assert (blue[..., 2] - blue[..., 0] > 60).any() == (not is_empty)


def test_the_picture_shows_a_point_that_one_seed_lacks() -> None:
    found = Curve(2).with_point(100, totals([3, 0], [2, 0]))
    with Image.open(io.BytesIO(found.to_png("ppo in Toy"))) as image:
        blue = np.asarray(image.convert("RGB")).astype(int)
    assert (blue[..., 2] - blue[..., 0] > 60).any()


LARGEST = float(np.finfo(np.float32).max)


def test_returns_are_float32s(tmp_path: Path) -> None:
    file = File(tmp_path / "curve.json")
    for value in (1e308, -1e308, 2 * LARGEST):
        with pytest.raises(FileError, match="has a return that float32 does not hold"):
            file.parsed(json.dumps({"num_seeds": 1, "steps": [1], "returns": [[value]]}), CurveRecord)
    rows = [[0.0, math.inf], [LARGEST, -LARGEST], [LARGEST, LARGEST], [-math.inf, math.inf], [None, -math.inf]]
    for returns in (rows, *([row] for row in rows)):
        steps = [*range(1, len(returns) + 1)]
        text = json.dumps({"num_seeds": 2, "steps": steps, "returns": returns})
        assert Curve.of_record(file.parsed(text, CurveRecord)).to_png("a title")
