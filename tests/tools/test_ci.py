"""The workflows run the steps of .ci/run, and a release is published only after them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
STEPS = set(re.findall(r"^step_(\w+)\(\)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE))


def text(name: str) -> str:
    return (ROOT / ".github" / "workflows" / f"{name}.yml").read_text()


def jobs(name: str) -> Any:
    return yaml.safe_load(text(name))["jobs"]


def test_every_step_is_in_a_workflow() -> None:
    named = re.findall(r"\bsteps?: (.*)", text("ci") + text("scheduled"))
    assert set(re.findall(r"\w+", " ".join(named))) >= STEPS


def test_release_is_published_after_all_checks() -> None:
    assert jobs("release")["checks"] == {"uses": "./.github/workflows/ci.yml"}
    assert jobs("release")["publish"]["needs"] == ["checks", "build"]
    assert jobs("release")["publish"]["if"] == "github.event_name == 'push'"
