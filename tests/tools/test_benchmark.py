"""The benchmark's report; its measurements need gymnax, which this environment has not."""

from __future__ import annotations

from tool_modules import load_tool


def test_one_line_a_row() -> None:
    row = {
        "id": "CartPole-v1",
        "num_envs": 2048,
        "variant": "envcore",
        "steps_per_second": 42.683e6,
        "ratio": 4.9012,
        "baseline": "gymnax",
        "compile_seconds": 1.234,
    }
    lines = load_tool("benchmark/report.py").markdown([row, {**row, "ratio": None}], header=True).splitlines()
    assert lines[0] == "| id | environments | program | M steps/s | ratio | to | compile s |"
    assert set(lines[1]) == {"|", "-"}
    assert lines[2] == "| CartPole-v1 | 2,048 | envcore | 42.68 | 4.90 | gymnax | 1.23 |"
    assert lines[3] == "| CartPole-v1 | 2,048 | envcore | 42.68 |  | gymnax | 1.23 |"
