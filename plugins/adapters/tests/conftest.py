"""Tests on Stable-Baselines3 are not collected where it is not installed; CI's step `clients` installs it."""

from __future__ import annotations

import importlib.util
import os

collect_ignore = [] if importlib.util.find_spec("stable_baselines3") else ["test_sb3.py"]

# PyTorch's threads wait in loops: several processes with a thread for each core take ten times as long if it is busy.
os.environ.setdefault("OMP_NUM_THREADS", "1")
