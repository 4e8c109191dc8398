"""NAME=VALUE: what a value is read as."""

from __future__ import annotations

from typing import Any

import pytest
from envcore_cli.assignments import parse_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2.5e3", -2500.0),
        ("True", True),
        ("false", False),
        ("(1, 2)", (1, 2)),
        ("'5'", "5"),
        ("1/3", "1/3"),
        ("", ""),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert parse_value(text) == value
    assert type(parse_value(text)) is type(value)
