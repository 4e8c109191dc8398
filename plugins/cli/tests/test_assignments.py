"""NAME=VALUE: what a value is read as."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from envcore_cli.assignments import parse_value

if TYPE_CHECKING:
    from command_line import Run


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2.5e3", -2500.0),
        ("True", True),
        ("false", False),
        ("None", None),
        ("(1, 2)", (1, 2)),
        ("'5'", "5"),
        ("-inf", float("-inf")),
        ("a/folder", "a/folder"),
        ("1/3", "1/3"),
        ("", ""),
        ("(" * 10_000, "(" * 10_000),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)


@pytest.mark.parametrize(
    "text", ["1" + "0" * 400, "-" + "9" * 5000, "1e400", "[1, 1e400]", "(2, {'a': 1" + "0" * 400 + "})", "1e400j"]
)
@pytest.mark.parametrize(("flag", "name"), [("--set", "bonus"), ("--option", "goal")])
def test_a_number_beyond_float64(run: Run, text: str, flag: str, name: str) -> None:
    with pytest.raises(OverflowError):
        parse_value(text)
    status, out, err = run("info", "Counter-v0", flag, f"{name}={text}")
    shown = text if len(text) <= 20 else f"{text[:20]}..."
    assert (status, out) == (1, "")
    assert err == f"error: {flag} {name} must be within the range of float64, 1.8e308, got {shown}\n"
