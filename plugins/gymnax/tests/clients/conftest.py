"""Tests of programs and libraries that are not installed here are not collected; CI's step `clients` installs some."""

from __future__ import annotations

import importlib.util

from envcore_gymnax.plugin import is_installed

_HAS_PROGRAMS = importlib.util.find_spec("rejax") is not None  # they take envcore-gymnax for gymnax

collect_ignore = [] if _HAS_PROGRAMS else ["test_programs.py"]
collect_ignore += [
    f"test_bridge_{name}.py"
    for name, library in {
        "gymnax": "gymnax",
        "craftax": "craftax",
        "arcade": "popgym_arcade",
        "kinetix": "kinetix",
    }.items()
    if _HAS_PROGRAMS or not is_installed(library)
]
