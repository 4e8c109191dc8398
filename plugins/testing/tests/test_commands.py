"""`envcore check` in this process, with toy environments; and Ctrl-C, in a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from envcore import registry

if TYPE_CHECKING:
    from command_line import Run


def test_check(run: Run) -> None:
    code, out, _ = run("check", "Counter-v0")
    assert code == 0
    assert "Counter-v0 keeps the contract." in out


def test_broken_rules_are_shown_and_may_be_excepted(run: Run) -> None:
    registry.register("Careless-v0", "broken:MixedDtypes")
    code, out, err = run("check", "Careless-v0")
    assert code == 1
    assert err == "error: Careless-v0 breaks 1 of the rules: strict_dtype_promotion.\n"
    assert "broken strict_dtype_promotion" in out
    assert re.search(r"  transition: TypePromotionError: .*\n    .*broken\.py:\d+: return .*\n  Fix: cast one ", out)
    code, out, err = run("check", "Careless-v0", "--except-for", "strict_dtype_promotion")
    assert (code, err) == (0, "")
    assert "excepted strict_dtype_promotion" in out
    assert "keeps the contract, except for strict_dtype_promotion." in " ".join(out.split())
    code, _, err = run("check", "Careless-v0", "--except-for", "strict_dtype")
    assert code == 1
    assert err.startswith("error: there is no rule 'strict_dtype'. Did you mean 'strict_dtype_promotion'")


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("boni=1", "has no param 'boni'"),
        ("bonus=nan", "Counter's params.bonus must be finite, got nan."),
    ],
)
def test_errors_are_one_line(run: Run, setting: str, message: str) -> None:
    code, _, err = run("check", "Counter-v0", "--set", setting)
    assert code == 1
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err
