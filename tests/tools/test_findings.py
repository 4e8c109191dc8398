"""What is found in other libraries: the tool that looks for it, and its data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from envcore_bridges.libraries import BY_FAMILY
from envcore_testing import Breach, ConformanceError
from envcore_testing.kit import Result
from tool_modules import TOOLS, load_tool
from walk import FromTheirs, TheirWalk, play

DATA = TOOLS / "site" / "data"


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(TOOLS / "findings")
    return load_tool("findings/__main__.py")


@pytest.mark.parametrize(("gain", "is_equal"), [(1.0, True), (2.0, False)])
def test_the_lockstep_counts_episodes_or_says_what_differs(
    findings: Any, monkeypatch: pytest.MonkeyPatch, gain: float, is_equal: bool
) -> None:
    loop = findings.LOOPS["pgx"](None)._replace(**play(gain), own_limit=False)
    monkeypatch.setitem(findings.LOOPS, "walks", lambda library_env: loop)
    env = FromTheirs(TheirWalk)
    found = findings.lockstep("walks", env, env.default_params, 50)
    assert found["steps"] == 50
    if is_equal:
        assert found["ended"] >= 2  # by the limit of 20 steps
    else:
        assert "reward" in found["difference"]
    assert findings.lockstep("no_library", env, env.default_params, 50) == {}


def test_rules_that_apply_are_counted_and_broken_ones_are_quoted(
    findings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = [
        Result("kept", "", None, None),
        Result("skipped", "", None, "it does not apply"),
        Result("broken", "", ConformanceError("2 places"), None, (Breach("wrong\n  here"), Breach("and there"))),
    ]
    monkeypatch.setattr(findings, "check_rules", lambda env, params, num_steps: iter(results))
    assert findings.rules(None, None) == {"kept": 1, "broken": {"broken": "wrong here"}}


def test_lines_print_or_end_the_tool(findings: Any) -> None:
    assert findings.output_of("print('Module a')\nprint(1)\nprint(2)") == "1\n2"
    with pytest.raises(SystemExit, match=r"(?s)error: these lines fail:\nno_name\n.*NameError"):
        findings.output_of("no_name")


def test_rows_are_added(findings: Any, tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    for rows in ({"b": {"kept": 1}}, {"a": {"kept": 2}}, {"b": {"kept": 3}}):
        findings.add(path, rows)
    assert list(json.loads(path.read_text()).items()) == [("a", {"kept": 2}), ("b", {"kept": 3})]


def test_every_finding_was_shown(findings: Any) -> None:
    found = json.loads((DATA / "findings.json").read_text())
    assert {(row["summary"], row["code"]) for row in found.values()} == {
        (each.summary, each.code) for each in findings.FINDINGS
    }
    for row in found.values():
        imports, _, lines = row["code"].partition("\n\n")
        assert all("import" in line for line in imports.splitlines())
        assert len(lines.splitlines()) <= 5
        assert row["output"]


def test_what_was_checked_is_announced() -> None:
    for env_id, row in json.loads((DATA / "libraries.json").read_text()).items():
        family, _, name = env_id.partition("/")
        assert name in BY_FAMILY[family].environments()
        assert set(row["versions"]) == {family, "jax"}
