"""Imports the tools of this repository, which are not packages, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).parents[2] / "tools"


def load_tool(path: str) -> Any:
    """Imports a file in `tools`, such as "site/docstrings.py"."""
    spec = importlib.util.spec_from_file_location(path.removesuffix(".py").replace("/", "_"), TOOLS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
