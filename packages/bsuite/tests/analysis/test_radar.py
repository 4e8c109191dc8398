from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from envcore_bsuite.analysis import plot_radar
from envcore_bsuite.errors import ResultsError

SCORES = {"noise": 0.5, "credit_assignment": 1.1, "basic": 0.01}


def test_every_agent_has_an_outline() -> None:
    first = pd.Series(SCORES, name="score").rename_axis("tag")
    figure = plot_radar({"dqn": first, "random": dict.fromkeys(reversed(SCORES), 0.25)})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["Basic", "Credit\nAssignment", "Noise"]
    assert list(axes.get_yticks()) == [0.25, 0.5, 0.75, 1.0]
    dqn, random = axes.lines
    np.testing.assert_allclose(np.asarray(dqn.get_xdata()), [0, 2 * np.pi / 3, 4 * np.pi / 3, 0])
    np.testing.assert_allclose(np.asarray(dqn.get_ydata()), [0.05, 1, 0.5, 0.05])
    np.testing.assert_allclose(np.asarray(random.get_ydata()), 0.25)
    assert dqn.get_color() != random.get_color()
    assert dqn.get_marker() != random.get_marker()
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["dqn", "random"]


@pytest.mark.parametrize(
    ("tag_scores", "message"),
    [
        ({}, "shows 1 to 7 agents, got 0"),
        ({"dqn": {"noise": 1.0, "scale": 1.0}}, "needs at least 3 tags, got noise, scale"),
        ({"dqn": SCORES | {"memory": np.nan}}, "dqn has no score for memory"),
    ],
)
def test_bad_scores(tag_scores: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        plot_radar(tag_scores)
