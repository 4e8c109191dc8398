"""`envcore info`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from command_line import Run


def test_info(run: Run) -> None:
    code, out, _ = run("info", "Counter-v0")
    assert code == 0
    for part in ("Counter-v0", "made up", "Discrete(2)", "goal=3", "bonus=0.5", "max_steps_in_episode=10"):
        assert part in out
    assert out.endswith("\nAction 1 counts, action 0 waits; the episode ends at `goal`. Draws nothing.\n")


def test_info_shows_what_set_and_option_change(run: Run) -> None:
    code, out, _ = run(
        "info", "Counter-v0", "--set", "bonus=0.3", "--option", "goal=5", "--set", "max_steps_in_episode=7"
    )
    assert code == 0
    for part in ("goal=5", "max_steps_in_episode=7", "(6,)"):
        assert part in out
    assert re.search(r"bonus=0\.3\s", out)  # not float32's 0.30000001192092896
