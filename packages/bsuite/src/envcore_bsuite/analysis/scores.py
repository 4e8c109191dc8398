"""Computes bsuite's scores, from 0 to 1, for each experiment, and their means by tag.

Original: bsuite 0.3.6 `experiments/*/analysis.py` and `experiments/summary_analysis.py`, Osband et al. (2020),
"Behaviour suite for reinforcement learning".

A log contains sums over all episodes so far. Most scores use the averages after the last episode: the highest episode
that any run of the experiment logged, or the experiment's number of episodes if that is less. Only runs that logged
exactly this episode count. A score is nan if no row counts.

Deviations: none in the scores. As in the original, an mnist score compares every row that is past 90% of the episodes
with the row before it, even if that belongs to another run. If the first row of a run is past 90%, the score depends on
the order of the runs, and can be infinite or outside of 0 to 1. The column `tags` contains tuples instead of their
`str`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import pandas as pd

from envcore_bsuite.errors import ResultsError
from envcore_bsuite.sweep import EXPERIMENTS, TAGS

_Rule = Callable[[pd.DataFrame, int], float]  # of an experiment's rows and its number of episodes

_DITHERING_SLACK = 100
_BEST_CHAIN_RETURN = 1.1


def score(results: pd.DataFrame) -> pd.DataFrame:
    """Scores one agent in every experiment that has results.

    Args:
      results: rows from `load_results`. Runs may be unfinished, longer than necessary, or repeated.

    Returns:
      One row per experiment, sorted by name: `bsuite_env` (the name), `score`, `type` (the first tag), `tags` (tuple of
      str), and `finished` (bool, whether all its runs in the results have played their episodes).

    Raises:
      ResultsError: there are no rows, an experiment is unknown, or a column that its score needs is missing or has a
        row without a number.
    """
    _check_columns(results, ("bsuite_env", "bsuite_id"), "results")
    unknown = sorted(set(map(str, results["bsuite_env"])) - set(EXPERIMENTS))
    if unknown or results.empty:
        wrong = f"unknown experiments: {', '.join(unknown)}" if unknown else "no rows"
        raise ResultsError(f"results: {wrong}. Use load_results to read them from logs")
    with np.errstate(divide="ignore", invalid="ignore"):  # no episodes to average over
        return pd.DataFrame([_score_one(str(name), rows) for name, rows in results.groupby("bsuite_env")])


def score_by_tag(scores: pd.DataFrame) -> pd.Series:
    """Averages over the experiments of each tag.

    Args:
      scores: rows from `score`, of which the columns `bsuite_env` and `score` are used.

    Returns:
      The mean score by tag, sorted by tag, named "score". nan for a tag without experiments.

    Raises:
      ResultsError: one of these columns is missing.
    """
    _check_columns(scores, ("bsuite_env", "score"), "scores")
    names = {tag: [name for name, each in EXPERIMENTS.items() if tag in each.tags] for tag in sorted(TAGS)}
    means = {tag: scores.loc[scores["bsuite_env"].isin(names[tag]), "score"].mean() for tag in names}
    return pd.Series(means, name="score").rename_axis("tag")


def _check_columns(frame: pd.DataFrame, columns: Iterable[str], where: str) -> None:
    """Raises `ResultsError` if a column is missing. `where` describes the table for the message."""
    if missing := [column for column in columns if column not in frame]:
        there = ", ".join(map(str, frame))
        raise ResultsError(f"{where}: no column {', '.join(missing)} among {there[:300]}")


def _score_one(name: str, rows: pd.DataFrame) -> dict[str, object]:
    experiment, family = EXPERIMENTS[name], name.removesuffix("_noise").removesuffix("_scale")
    columns, rule = _RULES[family]
    settings = set(experiment.settings[0]) - {"seed"}
    _check_columns(rows, ("episode", *columns, *settings), f"results of {name}")
    for column in ("episode", *columns):
        is_number = np.isfinite(pd.to_numeric(rows[column], errors="coerce"))
        if not is_number.all():
            wrong = rows.loc[~is_number, "bsuite_id"].iloc[0]
            raise ResultsError(f"the log of {wrong} has a row without a number in column {column}")
    if name == family:
        value = rule(rows, experiment.episodes)
    else:
        (scale,) = settings - {"mapping_seed"}  # of the noise or the reward
        values = _by(rows, scale, rule, experiment.episodes)
        mean, spread = values.mean(skipna=False), values.std(ddof=0, skipna=False)
        value = (_clip(mean) + _clip(mean - spread)) / 2
    finished = rows.groupby("bsuite_id")["episode"].max().min() >= experiment.episodes
    return {
        "bsuite_env": name,
        "score": float(value),
        "type": experiment.tags[0],
        "tags": experiment.tags,
        "finished": bool(finished),
    }


def _clip(value: float) -> float:
    return float(np.clip(value, 0, 1))


def _by(rows: pd.DataFrame, setting: str, rule: _Rule, episodes: int) -> pd.Series:
    """Applies the rule to the rows of each value of a setting: float64."""
    return pd.Series([rule(each, episodes) for _, each in rows.groupby(setting)], dtype=np.float64)


def _average(rows: pd.DataFrame, sums: pd.Series, episodes: int) -> float:
    """Returns `sums` per episode, averaged over the runs that have logged the last episode."""
    last = np.minimum(rows["episode"].max(), episodes)
    return sums[rows["episode"] == last].mean() / last


def _below(rows: pd.DataFrame, regret: pd.Series, baseline: float, episodes: int) -> float:
    """Returns by which fraction of the baseline the regret per episode is below it."""
    return _clip((baseline - _average(rows, regret, episodes)) / baseline)


def _balance(column: str, baseline: float, good: float) -> _Rule:
    """Scores the regret of returns in `column`, and the fraction of runs with an episode above `good`, half each."""

    def rule(rows: pd.DataFrame, episodes: int) -> float:
        rows = rows[rows["episode"] <= episodes]
        best = rows.groupby("bsuite_id")["best_episode"].max()
        return (_below(rows, baseline * rows["episode"] - rows[column], baseline, episodes) + (best > good).mean()) / 2

    return rule


def _swingup(rows: pd.DataFrame, episodes: int) -> float:
    rule = _balance("total_return", baseline=700, good=100)
    return _by(rows[rows["episode"] <= episodes], "height_threshold", rule, episodes).mean(skipna=False)


def _deep_sea(first: int, threshold: float) -> _Rule:
    """Returns the fraction of runs whose rate of bad episodes, from episode `first` on, is below the threshold in time.

    In time means before dithering would find the treasure once, in about 2**size episodes plus a margin.
    """

    def rule(rows: pd.DataFrame, episodes: int) -> float:
        rows = rows[rows["episode"].between(first, episodes)]
        in_time: list[bool] = []
        for _, runs in rows.groupby("size"):
            solved = runs.loc[runs["total_bad_episodes"] / runs["episode"] < threshold, "episode"]
            episode = runs["episode"].max() if solved.empty else solved.min()
            passed = not solved.empty and episode < 2 ** runs["size"].iloc[0] + _DITHERING_SLACK
            in_time += [passed] * int((runs["episode"] == episode).sum())  # every run that logged it counts
        return pd.Series(in_time, dtype=float).mean()

    return rule


def _discounting_chain(rows: pd.DataFrame, episodes: int) -> float:
    return _clip(1 - 10 * (_BEST_CHAIN_RETURN - _average(rows, rows["total_return"], episodes)))


def _memory(setting: str) -> _Rule:
    """Returns the fraction of settings with less than 3/4 as many imperfect episodes as random guessing."""

    def failures(rows: pd.DataFrame, episodes: int) -> float:
        return _average(rows, (rows["episode"] - rows["total_perfect"]) / 0.5, episodes)

    return lambda rows, episodes: (_by(rows, setting, failures, episodes) < 0.75).mean()


def _mnist(rows: pd.DataFrame, episodes: int) -> float:
    """Scores the regret, and the accuracy in the last tenth of the episodes, half each."""
    reward = 1 - rows["total_regret"].diff() / rows["episode"].diff()
    accuracy = (reward[rows["episode"] > 0.9 * episodes].mean() + 1) / 2
    return (_below(rows, rows["total_regret"], 1.8, episodes) + accuracy) / 2


def _mountain_car(rows: pd.DataFrame, episodes: int) -> float:
    return _below(rows, -100 * rows["episode"] - rows["raw_return"], 1000, episodes)


def _umbrella(setting: str) -> _Rule:
    """Returns the fraction of settings in which the regret per episode is less than 1/2."""

    def regret(rows: pd.DataFrame, episodes: int) -> float:
        return _average(rows, rows["total_regret"], episodes)

    return lambda rows, episodes: (_by(rows, setting, regret, episodes) < 0.5).mean()


_REGRET = ("total_regret",)
_RULES: Mapping[str, tuple[tuple[str, ...], _Rule]] = {
    "bandit": (_REGRET, lambda rows, episodes: _below(rows, rows["total_regret"], 0.5, episodes)),
    "cartpole": (("raw_return", "best_episode"), _balance("raw_return", baseline=1000, good=500)),
    "cartpole_swingup": (("total_return", "best_episode"), _swingup),
    "catch": (_REGRET, lambda rows, episodes: _below(rows, rows["total_regret"], 1.6, episodes)),
    "deep_sea": (("total_bad_episodes",), _deep_sea(first=0, threshold=0.9)),
    "deep_sea_stochastic": (("total_bad_episodes",), _deep_sea(first=100, threshold=0.8)),
    "discounting_chain": (("total_return",), _discounting_chain),
    "memory_len": (("total_perfect",), _memory("memory_length")),
    "memory_size": (("total_perfect",), _memory("num_bits")),
    "mnist": (_REGRET, _mnist),
    "mountain_car": (("raw_return",), _mountain_car),
    "umbrella_distract": (_REGRET, _umbrella("n_distractor")),
    "umbrella_length": (_REGRET, _umbrella("chain_length")),
}
"""The columns that an experiment's score needs, and its rule, by experiment."""
