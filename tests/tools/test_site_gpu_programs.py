"""The page about programs for GPUs: what is kept of the benchmark's rows, and its tables."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from tool_modules import TOOLS

FOUND: dict[str, Any] = {
    "id": "Pong-misc",
    "num_envs": 2048,
    "program": "rewards only",
    "target": "h100",
    "jax": "0.10.2",
    "kernels": 9.0,
    "starts": 12.0,
    "inner_loops": 1.0,
    "copies": 2.0,
    "bytes": 2048e4,
    "temporary": 3_000_000,
    "compile_seconds": 1.2345,
    "us_h200": 10.244,
}
US = {("Pong-misc", 2048, "rewards only"): 31.4}


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS / "site"))
    return importlib.import_module("gpu_programs")


def test_what_is_kept_of_a_row(programs: Any) -> None:
    kept = programs.row(FOUND)
    assert (kept["kernels"], kept["bytes"], kept["compile_seconds"], kept["us_h200"]) == (9.0, 10_000, 1.23, 10.2)
    assert programs.row({**FOUND, "error": "no ptxas"})["error"] == "no ptxas"


def test_the_kernels_of_the_programs(programs: Any) -> None:
    rows = [FOUND, FOUND | {"program": "PPO", "starts": 2_345.0}, FOUND | {"num_envs": 65_536, "kernels": 99.0}]
    header, _, line = programs.kernels(rows)
    assert header.startswith("| 2,048 environments | gymnax's loop | ")
    assert line == "| Pong-misc |  |  |  | 9, 1 loops inside |  |  |  | 2,345 |"


def test_computed_times_are_beside_measured_ones(programs: Any) -> None:
    rows = [programs.row(FOUND)]
    _, _, line = programs.loop(rows, US, {})
    assert line == "| Pong-misc | 9 | 2 | 10,000 | 3 | 1.23 | 10.2 | 31.4 |"
    assert programs.model(rows, US).startswith(
        "The measured time is 3.08 times the computed one (3.08 to 3.08) with 2,048"
    )
    header, _, line = programs.loop(rows, {}, {"Pong-misc": {"registers": 40, "spilled_bytes": 0, "instructions": 463}})
    assert header.endswith("| registers, fused | spilled bytes | instructions |")
    assert line.endswith("| 10.2 |  | 40 | 0 | 463 |")


def test_updates_of_ppo_are_beside_purejaxrls(programs: Any) -> None:
    update = {"program": "PPO", "temporary": 3e9, "us_h200": 12_345.0}
    rows = [FOUND, FOUND | update, FOUND | update | {"num_envs": 65_536}]
    rows.append(FOUND | update | {"program": "PureJaxRL's PPO", "us_h200": 23_456.0})
    lines = programs._updates(rows)
    assert lines[1] == "````{dropdown} PPO, 2,048 environments"
    assert lines[4] == "| Pong-misc | 3 | 3 |  | 12.3 | 23.5 |  |"
    assert lines[7:8] + lines[10:11] == [
        "````{dropdown} PPO, 65,536 environments",
        "| Pong-misc | 3 |  |  | 12.3 |  |  |",
    ]


def test_the_page_has_every_environment(programs: Any, tmp_path: Path) -> None:
    page = tmp_path / "gpu_programs.md"
    programs.write_page(page, TOOLS / "site/pages/about/gpu_programs.md")
    text = page.read_text()
    assert "<!--" not in text
    ids = {row["id"] for row in json.loads((TOOLS / "site/data/programs.json").read_text())}
    assert len(ids) >= 33
    learners = {env_id for env_id in ids if not env_id.startswith("Nothing")}
    # Kernels, two programs of three sizes, and PPO in three sizes.
    assert all(text.count(f"| {env_id} | ") == 7 + 3 * (env_id in learners) for env_id in ids)
    assert programs.computed("Pong-misc", 2048, "envcore") != programs.computed("Pong-misc", 2048, "no program") == ""
