"""Tests of programs that are not installed here are not collected; CI's step `clients` installs them."""

from __future__ import annotations

import importlib.util

collect_ignore = [] if importlib.util.find_spec("rejax") is not None else ["test_programs.py"]
