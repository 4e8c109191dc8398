"""The measurement of pixel observations, on a few tiny frames: that it runs, not how fast."""

from __future__ import annotations

import importlib.util
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools" / "pixels" / "__main__.py"


def test_every_program_is_measured() -> None:
    spec = importlib.util.spec_from_file_location("pixels", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rates = module.measure("CartPole-v1", size=12, num_envs=2, frames=4, gymnasium_frames=2, repeats=1)
    assert list(rates) == [
        "gymnasium, its own size",
        "envcore, 12 x 12",
        "envcore, 12 x 12 grey, 4 stacked",
        "envcore, 12 high, its own width",
    ]
    assert all(rate > 0 for rate in rates.values())
