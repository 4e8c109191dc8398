"""Options that take NAME=VALUE, and the environment that `--option` and `--set` choose. Imports no JAX."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envcore.errors import EnvcoreError, InvalidArgumentError, InvalidParamsError
from envcore_runs import choice
from envcore_runs.choice import Choice

_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "inf": float("inf"),
    "-inf": float("-inf"),
    "nan": float("nan"),
}
"""Spellings of values that are not Python literals, in lower case."""

_NUMBERS, _DIGITS = re.compile(r"[-+\d_.,e\[\]() ]+"), re.compile(r"\d{1000}")


def choose(
    env_id: str, options: Sequence[str] = (), params: Sequence[str] = (), randomize: Sequence[str] = ()
) -> Choice:
    """Looks up an id and parses `--option`, `--set` and `--randomize`, before anything heavy is imported.

    Raises:
      UnknownEnvironmentError: as for `envcore_runs.choice.choose`.
      InvalidArgumentError: an argument is not NAME=VALUE, a name is given twice, or a number overflows float64.
    """
    found = choice.choose(env_id)
    return dataclasses.replace(
        found,
        options=assignments("--option", options, InvalidArgumentError),
        params=assignments("--set", params, InvalidParamsError),
        randomize=assignments("--randomize", randomize, InvalidParamsError),
    )


def assignments(flag: str, texts: Iterable[str], error: type[EnvcoreError]) -> dict[str, Any]:
    """The values of an option that takes NAME=VALUE and may be given several times, by name.

    Raises:
      whatever `error` is: a text is not NAME=VALUE, a name is given twice, or a number overflows float64.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier():
            raise error(f"{flag} must be NAME=VALUE, as in {flag} size=8, got {text!r}.")
        if name in values:
            raise error(f"{flag} gives {name!r} twice.")
        try:
            values[name] = parse_value(value)
        except OverflowError:
            shown = value if len(value) <= 20 else f"{value[:20]}..."
            raise error(f"{flag} {name} must be within the range of float64, 1.8e308, got {shown}") from None
    return values


def parse_value(text: str) -> Any:
    """The value of a Python literal, or of true, false, none, inf or nan; any other text is a string.

    Raises:
      OverflowError: it contains a number beyond the range of float64, with which arithmetic would fail.
    """
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        if not _NUMBERS.fullmatch(text) or not _DIGITS.search(text):
            return text
        raise OverflowError from None  # Python does not read integers of thousands of digits
    if _overflows(value):
        raise OverflowError
    return value


def _overflows(value: Any) -> bool:
    """Whether a literal contains a number beyond the range of float64; one with an exponent has become infinite."""
    if isinstance(value, Mapping):
        return any(map(_overflows, [*value, *value.values()]))
    if isinstance(value, list | tuple | set):
        return any(map(_overflows, value))
    return isinstance(value, int | float | complex) and not abs(value) <= sys.float_info.max
