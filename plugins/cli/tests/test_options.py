from __future__ import annotations

from typing import Any

import pytest
import typer
from command_line import Run
from envcore_cli import options

HUGE = "1" + "0" * 400


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("-7", -7), ("1_000", 1000), (2048, 2048), (str(2**63 - 1), 2**63 - 1)]
)
def test_integers(text: Any, value: int) -> None:
    assert options.integer(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'' is not an integer."),
        ("nan", "'nan' is not an integer."),
        ("1e3", "'1e3' is not an integer."),
        ("9" * 5000, "'99999999999999999999...9999999999' is not an integer."),
        (HUGE, "'10000000000000000000...0000000000' has too many digits."),
        ("-" + "9" * 31, f"'-{'9' * 31}' has too many digits."),
    ],
)
def test_what_is_no_integer(text: str, message: str) -> None:
    with pytest.raises(typer.BadParameter) as caught:
        options.integer(text)
    assert caught.value.message == message


def test_numbers() -> None:
    assert options.number("0.5") == 0.5
    for text in ("", "nan", "-inf", "1e400", HUGE, "x"):
        with pytest.raises(typer.BadParameter):
            options.number(text)


@pytest.mark.parametrize("option", ["--num-envs", "--steps", "--seed", "--devices", "--num-processes", "--process-id"])
@pytest.mark.parametrize("value", [HUGE, "9" * 5000, "nan", ""])
def test_no_option_takes_a_number_that_nothing_can_count(run: Run, option: str, value: str) -> None:
    status, out, err = run("rollout", "Counter-v0", option, value)
    assert (status, out) == (2, "")
    assert f"Invalid value for '{option}'" in err
