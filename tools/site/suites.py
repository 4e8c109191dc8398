"""The environments of our suites, which the site has pages of."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tempfile
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import envcore
from envcore.catalogue import Registration

SUITES = {
    "envcore-classic-control": "Classic control",
    "envcore-minatar": "MinAtar",
    "envcore-bsuite": "bsuite",
    "envcore-misc": "Misc",
}
NEEDS_DATA = ("MNISTBandit-bsuite",)
"""Environments that download data when they are made."""
_SUPPORT = Path(__file__).parents[2] / "tests" / "support"


def our_environments() -> list[Registration]:
    """The environments of our suites, but for bsuite's settings."""
    return [each for each in envcore.registry.values() if each.distribution in SUITES and not each.spec.family]


@contextlib.contextmanager
def without_downloads(env_id: str) -> Generator[None, None, None]:
    """A context in which an environment that needs MNIST is made with random images."""
    if env_id not in NEEDS_DATA:
        yield
        return
    if str(_SUPPORT) not in sys.path:
        sys.path.append(str(_SUPPORT))
    mnist_files = importlib.import_module("mnist_files")
    with tempfile.TemporaryDirectory() as folder, mnist_files.published(Path(folder)):
        yield


def write_by_id(path: Path, found: Mapping[str, Any]) -> None:
    """Writes what was found of each environment as JSON, sorted, a line each."""
    lines = [f" {json.dumps(env_id)}: {json.dumps(row)}" for env_id, row in sorted(found.items())]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
