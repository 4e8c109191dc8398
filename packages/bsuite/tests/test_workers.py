"""Threads that play tasks, with tasks that only count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from envcore_bsuite.errors import RunError
from envcore_bsuite.workers import Task, Threads


def count(state: int | None) -> Iterator[tuple[int, Any]]:
    """Counts to five."""
    for number in range(state or 0, 5):
        yield number, lambda number=number: number + 1


def played(num: int, tasks: dict[str, Task], seconds: float = 0) -> tuple[list[Any], list[str]]:
    events: list[Any] = []
    finished: list[str] = []
    Threads(num).run(tasks, seconds, lambda *event: events.append(event), finished.append)
    return events, finished


def test_a_task_is_played_from_its_state_to_its_end() -> None:
    assert played(1, {"a": Task(count)}) == ([("a", number, number + 1) for number in range(5)], ["a"])
    assert played(1, {"a": Task(count, 3)}) == ([("a", 3, 4), ("a", 4, 5)], ["a"])


def test_a_state_is_handed_in_every_few_seconds() -> None:
    assert [state for _, _, state in played(1, {"a": Task(count)}, seconds=1e9)[0]] == [None] * 5


def test_two_threads_play_two_tasks_at_a_time() -> None:
    running: list[str] = []

    def meets(state: None) -> Iterator[Any]:
        running.append("")
        until = time.monotonic() + 10
        while len(running) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        yield len(running), lambda: None

    events, finished = played(2, {"a": Task(meets), "b": Task(meets)})
    assert [update for _, update, _ in events] == [2, 2]
    assert sorted(finished) == ["a", "b"]


def test_when_one_fails_the_others_hand_in_their_states() -> None:
    events: list[Any] = []
    finished: list[str] = []

    def endless(state: None) -> Iterator[Any]:
        while True:
            yield 0, lambda: "state"
            time.sleep(0.01)

    def fails(state: None) -> Iterator[Any]:
        while not events:
            time.sleep(0.01)
        raise ValueError("made up")
        yield

    tasks = {"a": Task(endless), "b": Task(fails), "c": Task(count)}
    with pytest.raises(ValueError, match="made up"):
        Threads(2).run(tasks, 1e9, lambda *event: events.append(event), finished.append)
    assert events[-1] == ("a", 0, "state")
    assert finished == []


@pytest.mark.parametrize("num", [0, 1.5, "2", True])
def test_the_number_of_threads(num: Any) -> None:
    with pytest.raises(RunError, match="workers must be a positive integer"):
        Threads(num)
