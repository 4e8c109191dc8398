"""What a process says while it waits; `test_link` shows when."""

from __future__ import annotations

import pytest
from envcore_runs import notes


def test_those_that_are_late_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    notes.say_late([], 10)
    notes.say_late([3], 10)
    notes.say_late([0, 2], 70.4)
    assert capsys.readouterr().err.splitlines() == [
        "note: waiting for process 3, 10 s so far.",
        "note: waiting for processes 0, 2, 70 s so far.",
    ]
