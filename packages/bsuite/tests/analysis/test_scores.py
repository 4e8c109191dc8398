"""The scores equal those of bsuite's analysis of the same logs, tests/golden/bsuite_scores."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from envcore_bsuite.analysis import load_results, score, score_by_tag
from envcore_bsuite.errors import ResultsError
from envcore_bsuite.sweep import EXPERIMENTS

GOLDEN = Path(__file__).parents[4] / "tests" / "golden" / "bsuite_scores"
AGENTS = ("random", "quick", "slow", "unfinished", "overlong", "perfect", "hopeless")


def recorded(agent: str) -> dict[str, Any]:
    """The recorded results of bsuite's analysis."""
    with np.load(GOLDEN / f"{agent}.npz", allow_pickle=False) as file:
        return json.loads(str(file["meta"]))


def load(agent: str, folder: Path) -> pd.DataFrame:
    """Writes the agent's logs, and reads them as a user would."""
    with np.load(GOLDEN / f"{agent}.npz", allow_pickle=False) as file:
        rows = pd.DataFrame({name: file[name] for name in file.files if name != "meta"})
    for number, name in enumerate(recorded(agent)["logs"]):
        log = rows[rows["log"] == number].drop(columns="log").dropna(axis="columns")
        log.to_csv(folder / f"{name}.csv", index=False)
    return load_results(folder)


def a_log(name: str, *rows: Mapping[str, float], number: int = 0, **settings: float) -> pd.DataFrame:
    """Results of one run."""
    return pd.DataFrame([dict(row) for row in rows]).assign(bsuite_env=name, bsuite_id=f"{name}/{number}", **settings)


@pytest.mark.parametrize("agent", [AGENTS[0], *(pytest.param(agent, marks=pytest.mark.slow) for agent in AGENTS[1:])])
def test_recorded_scores(agent: str, tmp_path: Path) -> None:
    official = pd.DataFrame(recorded(agent)["scores"])
    ours = score(load(agent, tmp_path))
    assert list(ours) == list(official) == ["bsuite_env", "score", "type", "tags", "finished"]
    np.testing.assert_allclose(ours["score"], official["score"], rtol=0, atol=1e-9)
    for column in ("bsuite_env", "type", "finished"):
        assert ours[column].tolist() == official[column].tolist()
    assert ours["tags"].map(str).tolist() == official["tags"].tolist()
    means, tags = recorded(agent)["tags"], score_by_tag(ours)
    assert (tags.name, tags.index.name, tags.index.tolist()) == ("score", "tag", sorted(means))
    np.testing.assert_allclose(tags, [means[tag] for tag in tags.index], rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "row", "expected"),
    [
        ("deep_sea", {"episode": 1_123, "total_bad_episodes": 0}, 1),
        ("deep_sea", {"episode": 1_124, "total_bad_episodes": 0}, 0),
        ("deep_sea", {"episode": 100, "total_bad_episodes": 90}, 0),
        ("deep_sea", {"episode": 100, "total_bad_episodes": 89}, 1),
        ("deep_sea_stochastic", {"episode": 100, "total_bad_episodes": 79}, 1),
        ("deep_sea_stochastic", {"episode": 100, "total_bad_episodes": 80}, 0),
        ("deep_sea_stochastic", {"episode": 99, "total_bad_episodes": 0}, np.nan),
        ("memory_len", {"episode": 800, "total_perfect": 500}, 0),
        ("memory_len", {"episode": 800, "total_perfect": 501}, 1),
        ("umbrella_length", {"episode": 800, "total_regret": 400}, 0),
        ("umbrella_length", {"episode": 800, "total_regret": 399}, 1),
        ("cartpole", {"episode": 800, "raw_return": 0, "best_episode": 500}, 0),
        ("cartpole", {"episode": 800, "raw_return": 0, "best_episode": 501}, 0.5),
        ("cartpole", {"episode": 1_200, "raw_return": 0, "best_episode": 501}, np.nan),
        ("cartpole_swingup", {"episode": 800, "total_return": 0, "best_episode": 100}, 0),
        ("cartpole_swingup", {"episode": 800, "total_return": 0, "best_episode": 101}, 0.5),
        ("cartpole_swingup", {"episode": 1_200, "total_return": 0, "best_episode": 101}, np.nan),
        ("discounting_chain", {"episode": 1_000, "total_return": 1_050}, 0.5),
        ("mountain_car", {"episode": 1_000, "raw_return": -600_000}, 0.5),
        ("mountain_car", {"episode": 1_000, "raw_return": -50_000}, 1),
    ],
)
def test_thresholds(name: str, row: dict[str, float], expected: float) -> None:
    settings: Any = {key: value for key, value in EXPERIMENTS[name].settings[0].items() if key != "seed"}
    assert score(a_log(name, row, **settings))["score"].item() == pytest.approx(expected, nan_ok=True)


def test_mnist_scores_accuracy_at_the_end() -> None:
    rows = [{"episode": 9_000, "total_regret": 9_000}, {"episode": 10_000, "total_regret": 9_500}]
    regret, accuracy = 1 - 0.95 / 1.8, 0.75
    assert score(a_log("mnist", *rows))["score"].item() == pytest.approx((regret + accuracy) / 2)
    assert np.isnan(score(a_log("mnist", rows[0]))["score"].item())
    assert np.isnan(score(a_log("mnist", rows[1], rows[1]))["score"].item())  # no episode between them


def test_tag_means_need_only_names_and_scores() -> None:
    scores = pd.DataFrame({"bsuite_env": ["memory_len", "memory_size", "catch"], "score": [0.5, np.nan, 0.25]})
    tags = score_by_tag(scores)
    assert tags["memory"] == 0.5
    assert tags["basic"] == tags["credit_assignment"] == 0.25
    assert set(tags.index[tags.isna()]) == {"exploration", "generalization", "noise", "scale"}


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (pd.DataFrame({"episode": [1]}), "no column bsuite_env, bsuite_id among episode"),
        (a_log("cacth", {"episode": 1, "total_regret": 1}), "unknown experiments: cacth"),
        (
            a_log("catch", {"episode": 1, "total_regret": np.nan}),
            "the log of catch/0 has a row without a number in column total_regret",
        ),
        (a_log("memory_len", {"episode": 1, "total_perfect": 1}), "results of memory_len: no column memory_length"),
    ],
)
def test_bad_results(results: pd.DataFrame, message: str) -> None:
    with pytest.raises(ResultsError, match=message):
        score(results)


def test_bad_scores() -> None:
    with pytest.raises(ResultsError, match="scores: no column score"):
        score_by_tag(a_log("catch", {"episode": 1}))
