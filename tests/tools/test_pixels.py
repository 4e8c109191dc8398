"""The measurement of pixel observations runs, on a few tiny frames; speed is not tested."""

from __future__ import annotations

import pytest
from tool_modules import load_tool


@pytest.mark.slow
def test_every_program_is_measured() -> None:
    rates = load_tool("pixels/__main__.py").measure(
        "CartPole-v1", size=12, num_envs=2, frames=4, gymnasium_frames=2, repeats=1
    )
    assert list(rates) == [
        "gymnasium, its own size",
        "envcore, 12 x 12",
        "envcore, 12 x 12 gray, 4 stacked",
        "envcore, 12 high, its own width",
    ]
    assert all(rate > 0 for rate in rates.values())
