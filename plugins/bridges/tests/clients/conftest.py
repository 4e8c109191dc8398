"""Tests of libraries that are not installed here are not collected; `.ci/run exhaustive` installs one at a time."""

from __future__ import annotations

from envcore_bridges.libraries import is_installed

collect_ignore = [f"test_{library}.py" for library in ("craftax",) if not is_installed(library)]
