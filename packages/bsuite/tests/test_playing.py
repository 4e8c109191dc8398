"""Lanes that are played to their ends, from the beginning or from a checkpoint."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import hostile_files
import pytest
from envcore_bsuite import checkpoints, csv_log, playing
from envcore_bsuite.agents import random_agent
from envcore_bsuite.csv_log import Row
from envcore_bsuite.errors import RunError
from envcore_bsuite.playing import Play
from envcore_bsuite.programs import Lane
from envcore_bsuite.sweep import EPISODES
from envcore_runs import checkpoint

SHORT, LONG = Lane("memory_len/0", 0), Lane("memory_len/2", 0)  # of two steps, and of four
PLAY = Play(random_agent, 0, {}, (SHORT, LONG), Path("a.safetensors"))


def rows_of(play: Play, state: bytes | None = None) -> dict[Lane, list[Row]]:
    """The rows of all lanes that have grown from here to the end."""
    rows: dict[Lane, list[Row]] = {}
    for update, _ in play(state):
        rows |= update.rows
    return rows


@pytest.fixture(scope="module")
def whole() -> dict[Lane, list[Row]]:
    return rows_of(PLAY)


@pytest.fixture(scope="module")
def state() -> bytes:
    """A checkpoint after some episodes."""
    return next(save for update, save in PLAY(None) if all(number >= 3 for number in update.episodes.values()))()


def test_every_logged_episode_has_a_row(whole: dict[Lane, list[Row]]) -> None:
    for lane, rows in whole.items():
        assert [row["episode"] for row in rows] == list(csv_log.logged_episodes(EPISODES[lane.bsuite_id]))
    assert set(whole) == {SHORT, LONG}


def test_updates_name_what_has_grown_and_count_episodes() -> None:
    known: dict[Lane, list[Row]] = {}
    episodes = dict.fromkeys((SHORT, LONG), 0)
    for update, _ in PLAY(None):
        for lane, rows in update.rows.items():
            assert rows[:-1] == known.get(lane, [])
            known[lane] = rows
        assert all(update.episodes[lane] >= episodes[lane] for lane in episodes)
        episodes = update.episodes
    assert episodes == {lane: EPISODES[lane.bsuite_id] for lane in (SHORT, LONG)}


def test_a_checkpoint_goes_on_as_if_nothing_had_been(whole: dict[Lane, list[Row]], state: bytes) -> None:
    assert rows_of(PLAY, state) == whole


def test_a_smaller_program_goes_on_without_what_has_ended(
    whole: dict[Lane, list[Row]], monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    play = dataclasses.replace(PLAY, make_agent=lambda env: made.append(env) or random_agent(env))
    monkeypatch.setattr(playing, "_WORTH_COMPILING", 0)
    saved = [checkpoints.load(save(), PLAY.path).lanes for _, save in play(None)]
    assert (saved[0], saved[-1], len(made)) == ((SHORT, LONG), (LONG,), 2)
    assert rows_of(play) == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda about: about["lanes"].__setitem__(1, ["cartpole/0", 0]), "no program plays all its lanes"),
        (lambda about: about["rows"][0].pop(), "its rows are not those of its episodes"),
        (lambda about: [row.pop("total_regret") for row in about["rows"][0]], "its rows are not those of its episodes"),
    ],
)
def test_a_checkpoint_that_no_program_continues(state: bytes, change: Any, message: str) -> None:
    arrays, about = checkpoint.unpacked(checkpoints.file_of(PLAY.path), state, dict[str, Any])
    change(about)
    with pytest.raises(RunError, match=rf"^a\.safetensors is damaged: {message}"):
        list(PLAY(hostile_files.sealed(arrays, about)))
