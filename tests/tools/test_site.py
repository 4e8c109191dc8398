"""The documentation: its generators, its code, and a build without warnings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tool_modules import TOOLS, load_tool

SITE = TOOLS / "site"
PAGES = SITE / "pages"
_CODE = re.compile(r"^```(?:python|\{code-cell\} ipython3)\n(.*?)^```", re.DOTALL | re.MULTILINE)
WITH_CODE = sorted(page for page in PAGES.rglob("*.md") if _CODE.search(page.read_text()))


@pytest.fixture(scope="module")
def docstrings() -> Any:
    return load_tool("site/docstrings.py")


def test_sections_of_a_docstring(docstrings: Any) -> None:
    text = """Walk: to the end.

    Observation: float32 (2,): place and
      speed.
    Reward: 1.
    Attributes:
      length: of the line,
        in steps.
      low, high: bounds.
    """
    parts = docstrings.sections(text)
    assert parts[""] == "Walk: to the end."
    assert parts["Observation"] == "float32 (2,): place and\nspeed."
    assert docstrings.attributes(text) == {
        "length": "of the line, in steps.",
        "low": "bounds.",
        "high": "bounds.",
    }
    assert docstrings.attributes(None) == {}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["`a` and `b`s, 2 * 3"], [r"``a`` and ``b``\ s, 2 \* 3"]),
        (["`f(*args)`"], ["``f(*args)``"]),
        (["So:", "", "    make(`x`)"], ["So:", "", "::", "", "    make(`x`)"]),
        (
            ["Returns:", "  obs: the `x`,", "    again.", "  state: it."],
            ["", "**Returns**", "", "- **obs**: the ``x``,", "  again.", "- **state**: it."],
        ),
        (["Returns:", "  The state."], ["Returns:", "  The state."]),
    ],
)
def test_docstrings_become_restructured_text(docstrings: Any, lines: list[str], expected: list[str]) -> None:
    assert docstrings.restructured(lines) == expected


def test_bars_are_as_long_as_their_logarithms() -> None:
    charts = load_tool("site/charts.py")
    svg = charts.bars([("a", 10.0, "10 x", "ours"), ("<b>", 100.0, "100 x", "peer"), ("c", 0.5, "", "ours")], "speed")
    short, long, none = (float(width) for width in re.findall(r'<rect [^>]*width="([\d.]+)"', svg))
    assert long == pytest.approx(2 * short, abs=0.1)
    assert none == 1
    assert "&lt;b&gt;" in svg


def test_every_row_of_the_recordings_is_counted(tmp_path: Path) -> None:
    fidelity = load_tool("site/fidelity.py")
    fidelity.write_page(tmp_path / "page.md", PAGES / "about" / "fidelity.md")
    text = (tmp_path / "page.md").read_text()
    rows = re.findall(r"^\| (\w+): (\S+) \| (\S+) ([\d.]+) \| ([\d,]+) \|", text, re.MULTILINE)
    assert ("minatar", "asterix", "minatar", "1.0.15") in {row[:4] for row in rows}
    assert all(int(row[4].replace(",", "")) > 0 for row in rows)
    total = sum(int(row[4].replace(",", "")) for row in rows)
    assert f"Together {total:,} transitions." in text


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path) -> None:
    program = tmp_path / "page.py"
    program.write_text("\n".join(_CODE.findall(page.read_text())))
    settings = {**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, program], cwd=tmp_path, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.slow
def test_the_site_is_built_without_warnings(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, SITE, "--quick", "--out", tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "html" / "environments" / "Breakout-MinAtar.html").read_text()
    for part in ("break bricks", "brick", "sticky_action_prob", "MinAtar 1.0.15", "best known return"):
        assert part.lower() in html.lower(), part
    assert "searchindex.js" in {path.name for path in (tmp_path / "html").iterdir()}
