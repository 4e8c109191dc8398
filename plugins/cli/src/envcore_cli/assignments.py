"""Parses NAME=VALUE options, and the environment chosen by `--option` and `--set`. Imports no JAX."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterable, Sequence
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
"""Values that are not Python literals, in lower case."""


def choose(
    env_id: str, options: Sequence[str] = (), params: Sequence[str] = (), randomize: Sequence[str] = ()
) -> Choice:
    """Looks up an id and parses `--option`, `--set` and `--randomize`, before importing anything heavy.

    Raises:
      UnknownEnvironmentError: as for `envcore_runs.choice.choose`.
      InvalidArgumentError: an argument is not NAME=VALUE, or a name is given twice.
    """
    found = choice.choose(env_id)
    return dataclasses.replace(
        found,
        options=assignments("--option", options, InvalidArgumentError),
        params=assignments("--set", params, InvalidParamsError),
        randomize=assignments("--randomize", randomize, InvalidParamsError),
    )


def assignments(flag: str, texts: Iterable[str], error: type[EnvcoreError]) -> dict[str, Any]:
    """Returns the values of a repeatable NAME=VALUE option, by name.

    Raises:
      error: a text is not NAME=VALUE, or a name is given twice.
    """
    values: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not name.isidentifier():
            raise error(f"{flag} must be NAME=VALUE, as in {flag} size=8, got {text!r}.")
        if name in values:
            raise error(f"{flag} gives {name!r} twice.")
        values[name] = parse_value(value)
    return values


def parse_value(text: str) -> Any:
    """Parses a Python literal, or true, false, none, inf or nan. Any other text is returned as a string."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
