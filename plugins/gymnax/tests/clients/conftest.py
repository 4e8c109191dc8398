"""Tests of programs that are not installed here are not collected; CI's step `clients` installs them."""

from __future__ import annotations

import importlib.util

_NEEDS = {"test_envelope.py": "envelope", "test_gymnaxs_own_tests.py": "rejax", "test_programs.py": "rejax"}

collect_ignore = [name for name, module in _NEEDS.items() if importlib.util.find_spec(module) is None]
