"""The numbers that a key gives do not change by accident."""

from __future__ import annotations

import json

import pytest
import streams

RECORDED = json.loads(streams.RECORDED.read_text())


def test_every_environment_is_recorded() -> None:
    assert set(RECORDED) == set(streams.IDS)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", streams.IDS)
def test_a_key_gives_the_recorded_numbers(env_id: str) -> None:
    assert streams.summary(env_id) == pytest.approx(RECORDED[env_id], rel=1e-3, abs=1e-3), (
        "if this is on purpose, say so in the change log, and run `uv run python tests/support/streams.py`"
    )
