"""Tests on Stable-Baselines3 are not collected where it is not installed; CI's step `clients` installs it."""

from __future__ import annotations

import importlib.util

collect_ignore = [] if importlib.util.find_spec("stable_baselines3") else ["test_sb3.py"]
