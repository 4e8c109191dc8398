"""Learning curves as numbers, CSV and picture."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest
from envcore_baselines.curve import Curve
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


def test_the_picture_has_a_line_for_each_group(curve: Curve) -> None:
    curve = curve.with_point(500, totals([4, 2], [1, 1]))
    colors = []
    for groups in (("",), ("low", "high")):
        with Image.open(io.BytesIO(curve.to_png("ppo in Toy", groups))) as image:
            pixels = np.asarray(image.convert("RGB")).astype(int)
        colors.append((pixels[..., 0] - pixels[..., 2] > 100).any())  # the second line is orange
    assert colors == [False, True]


def test_the_picture_of_infinite_returns() -> None:
    curve = Curve(2).with_point(1, totals([math.inf, 0], [1, 0])).with_point(2, totals([1, -math.inf], [1, 1]))
    assert curve.to_png("ppo in Toy")
