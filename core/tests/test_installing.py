"""What messages say of how to install a distribution."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from envcore import installing
from envcore.installing import how_to_install

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("requirement", "clone", "index"),
    [
        ("envcore-minatar", "./core ./packages/minatar", "envcore-minatar"),
        ("envcore-viewer", "./core ./plugins/viewer", "envcore-viewer"),
        (
            "envcore-bsuite[analysis]",
            "./core './packages/bsuite[analysis]'",
            "'envcore-bsuite[analysis]'",
        ),
        (
            "envcore[all]",
            "./core ./packages/bsuite ./packages/classic-control ./packages/minatar ./packages/misc",
            "'envcore[all]'",
        ),
    ],
)
def test_our_distributions(requirement: str, clone: str, index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installing, "_IS_RELEASED", False)
    assert how_to_install(requirement) == f"pip install {clone} in a clone of envcore"
    for folder in re.findall(r"\./[\w/-]+", clone):
        assert (ROOT / folder / "pyproject.toml").exists()
    monkeypatch.setattr(installing, "_IS_RELEASED", True)
    assert how_to_install(requirement) == f"pip install {index}"


def test_those_of_others() -> None:
    assert how_to_install("warp-lang") == "pip install warp-lang"
