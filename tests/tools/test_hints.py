"""The measurement of performance hints: what it replaces, and the table."""

from __future__ import annotations

import sys

from envcore.fusion import compute_once
from tool_modules import load_tool


def test_hints_are_replaced_in_the_rules_and_come_back() -> None:
    hints = load_tool("benchmark/hints.py")
    modules = hints.hinted("envcore_misc", "boundaries")
    assert sys.modules["envcore_misc.meta_maze"] in modules
    assert not [module for module in modules if ".render" in module.__name__]
    with hints.without_hints("envcore_misc", "boundaries"):
        for module in modules:
            assert vars(module).get("compute_once", None) is not compute_once
        assert sys.modules["envcore_misc.meta_maze"].compute_once(lambda x, y: x + y, 1, 2) == 3
    assert sys.modules["envcore_misc.meta_maze"].compute_once is compute_once


def test_rows_compare_both_programs_for_each_reader() -> None:
    hints, shown = load_tool("benchmark/hints.py"), []
    rows = hints.measure_all(["Catch-bsuite"], num_envs=2, num_steps=3, repeats=1, show=shown.append)
    assert rows == shown
    assert {(row["hints"], row["reader"]) for row in rows} >= {("boundaries", "sum"), ("boundaries", "dense")}
    assert all(row["with"] > 0 and row["without"] > 0 for row in rows)
    assert hints.markdown(rows, header=True).splitlines()[2].startswith("| Catch-bsuite | boundaries | sum | ")
