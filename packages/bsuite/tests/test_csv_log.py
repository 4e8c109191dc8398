"""Logs: when rows are written, and how."""

from __future__ import annotations

from pathlib import Path

import pytest
from bsuite.logging.csv_logging import Logger
from bsuite.utils.wrappers import _logarithmic_logging
from envcore_bsuite import csv_log

ROWS = [
    {"steps": 9, "episode": 1, "total_return": -1.0, "episode_len": 9, "episode_return": -1.0, "total_regret": 0},
    {"steps": 18, "episode": 2, "total_return": 1e-05, "episode_len": 9, "episode_return": 0.1, "total_regret": 0},
    {"steps": 27, "episode": 3, "total_return": 3e16, "episode_len": 9, "episode_return": 30.0, "total_regret": 2.0},
]


@pytest.mark.parametrize("num_episodes", [1, 9, 10, 999, 1_000, 10_000, 12_345])
def test_rows_are_written_when_bsuite_writes_them(num_episodes: int) -> None:
    expected = tuple(number for number in range(1, num_episodes + 1) if _logarithmic_logging(number))
    assert csv_log.logged_episodes(num_episodes) == expected


@pytest.mark.parametrize("number_of_rows", [1, 2, 3])
@pytest.mark.parametrize("bsuite_id", ["catch/3", "umbrella_length/22", "memory_size/0"])
def test_files_are_bsuites(tmp_path: Path, bsuite_id: str, number_of_rows: int) -> None:
    # Catch counts regret in floats, the others begin with the integer 0.
    zero = 0.0 if bsuite_id.startswith("catch") else 0
    rows = [{**row, "total_regret": row["total_regret"] or zero} for row in ROWS[:number_of_rows]]
    logger = Logger(bsuite_id, str(tmp_path / "theirs"))
    for row in rows:
        logger.write(row)
    (tmp_path / "ours").mkdir()
    for number in range(number_of_rows):
        floats = [{**row, "total_regret": float(row["total_regret"])} for row in rows[: number + 1]]
        csv_log.write(tmp_path / "ours", bsuite_id, floats)
    (theirs,), (ours,) = (tmp_path / "theirs").iterdir(), (tmp_path / "ours").iterdir()
    assert ours.name == theirs.name
    assert ours.read_bytes() == theirs.read_bytes()


def test_an_environment_without_info(tmp_path: Path) -> None:
    csv_log.write(tmp_path, "discounting_chain/0", [dict(zip(csv_log.COLUMNS, (100, 1, 1.0, 100, 1.0), strict=True))])
    assert csv_log.path_of(tmp_path, "discounting_chain/0").read_text() == (
        "steps,episode,total_return,episode_len,episode_return\n100,1,1.0,100,1.0\n"
    )


def test_last_episode(tmp_path: Path) -> None:
    assert csv_log.last_episode(tmp_path, "catch/3") == 0
    csv_log.write(tmp_path, "catch/3", ROWS)
    assert csv_log.last_episode(tmp_path, "catch/3") == 3


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    csv_log.write(tmp_path, "catch/3", ROWS[:1])
    before = csv_log.path_of(tmp_path, "catch/3").read_bytes()

    def killed(*args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        csv_log.write(tmp_path, "catch/3", ROWS)
    assert csv_log.path_of(tmp_path, "catch/3").read_bytes() == before
