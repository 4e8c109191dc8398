"""Learning curves as numbers, CSV and picture."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from envcore_baselines.curve import Curve
from envcore_runs.records import File
from PIL import Image

NAMES = ["seed_0", "seed_1"]


def totals(returns: list[float], episodes: list[int], **metrics: list[float]) -> dict[str, Any]:
    measured = {name: np.array(values, np.float32) for name, values in metrics.items()}
    return {"returns": np.array(returns, np.float32), "episodes": np.array(episodes, np.int32), **measured}


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
    np.testing.assert_array_equal(curve.array(), [[np.nan] * 2, [1.5, np.nan], [2, 3], [np.nan] * 2])
    np.testing.assert_array_equal(curve.last_returns, [2, 3])


def test_a_longer_curve_leaves_the_shorter_one(curve: Curve) -> None:
    longer = curve.with_point(500, totals([1, 1], [1, 1]))
    assert (len(longer), len(curve)) == (5, 4)


def test_csv() -> None:
    curve = Curve(2).with_point(100, totals([3, 0], [2, 0], loss=[0.5, 0.25], kl=[1, math.nan]))
    curve = curve.with_point(200, totals([1, 2], [1, 1], loss=[4, 8], kl=[math.inf, 2]))
    assert curve.to_csv(NAMES).splitlines() == [
        "steps,agent,return,loss,kl",
        "100,seed_0,1.5,0.5,1.0",
        "100,seed_1,,0.25,",
        "200,seed_0,1.0,4.0,inf",
        "200,seed_1,2.0,8.0,2.0",
    ]


def test_json_keeps_every_bit() -> None:
    curve = Curve(2).with_point(500, totals([0.1, 1e-30], [3, 7], loss=[math.inf, math.nan]))
    found = File(Path("a")).parsed(json.dumps(dataclasses.asdict(curve)), Curve)
    assert (found.num_agents, found.steps, list(found.columns)) == (2, [500], ["return", "loss"])
    for name in found.columns:
        np.testing.assert_array_equal(found.array(name), curve.array(name))


def test_the_picture_has_a_line_for_each_group(curve: Curve) -> None:
    curve = curve.with_point(500, totals([4, 2], [1, 1]))
    colors = []
    for groups in (("",), ("low", "high")):
        with Image.open(io.BytesIO(curve.to_png("ppo in Toy", groups))) as image:
            pixels = np.asarray(image.convert("RGB")).astype(int)
        colors.append((pixels[..., 0] - pixels[..., 2] > 100).any())  # the second line is orange
    assert colors == [False, True]


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


def test_the_picture_of_infinite_returns() -> None:
    curve = Curve(2).with_point(1, totals([math.inf, 0], [1, 0])).with_point(2, totals([1, -math.inf], [1, 1]))
    assert curve.to_png("ppo in Toy")
