"""The documentation is built without warnings, and the READMEs have the figures of its data."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tool_modules import TOOLS

SITE = TOOLS / "site"
ROOT = TOOLS.parent
FIRST = {
    "GPU": "howto/gpu",
    "custom environment": "tutorials/own_environment",
    "multiagent": "howto/questions",
    "early stopping": "howto/train_longer",
    "continue training": "howto/train_longer",
    "checkpoint": "howto/checkpoints",
    "wandb": "howto/logging",
    "install": "install",
    "cite": "about/citing",
    "Atari": "howto/bridges",
    "MuJoCo": "howto/bridges",
    "stable baselines": "howto/other_libraries",
}
"""What people search for, and the page that comes first."""


@pytest.fixture
def performance(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SITE))
    return importlib.import_module("performance")


def test_the_readme_has_the_chart_and_the_ratios_of_the_measurements(performance: Any) -> None:
    assert (ROOT / ".github" / "speed.svg").read_text() == performance.readme_chart()
    readme = " ".join((ROOT / "README.md").read_text().split())
    for variant in ("envcore, same loop", "envcore rollout"):
        ratios = [row[variant] / row["gymnax"] for row in performance._beside_gymnax().values()]
        low, high, median = min(ratios), max(ratios), statistics.median(ratios)
        said = f"{low:.0f} to {high:.0f} times( as fast( as gymnax's)?)? \\(median {median:.2g}\\)"
        assert re.search(said, readme), variant


def test_the_readme_of_the_baselines_has_the_returns_of_the_site() -> None:
    readme = (ROOT / "plugins" / "baselines" / "README.md").read_text()
    for env_id, row in json.loads((SITE / "data" / "returns.json").read_text()).items():
        assert re.search(rf"^\| `{env_id}`.*\| {re.escape(row['return'])} \|", readme, re.MULTILINE), env_id


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    command = [sys.executable, SITE, "--quick", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "environments" / "Breakout-MinAtar.html").read_text().lower()
    for part in ("break bricks", "<td><p>the paddle</p></td>", "sticky_action_prob", "minatar 1.0.15"):
        assert part in page
    if node := shutil.which("node"):
        search = [node, Path(__file__).with_name("search.js"), tmp_path / "html", *FIRST]
        pages = subprocess.run(search, capture_output=True, text=True, check=True).stdout.split()
        assert dict(zip(FIRST, pages, strict=True)) == FIRST
