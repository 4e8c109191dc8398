"""Tests of programs that are not installed here are not collected; CI's step `clients` installs them."""

from __future__ import annotations

import importlib.util

collect_ignore = [
    f"test_{name}.py" for name in ("moviepy", "stable_baselines3", "torch") if importlib.util.find_spec(name) is None
]
