"""The environment that a command works on: an id, with `--option` and `--set`. Imports no JAX before `make`."""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envcore import registry
from envcore.catalogue import Registration
from envcore.errors import EnvcoreError, InvalidArgumentError, InvalidParamsError
from envcore.making import construct
from envcore.plugins import one_line

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


@dataclasses.dataclass(frozen=True)
class Choice:
    """The environment that a user chose, with options and params.

    Attributes:
      title: the id as the user typed it.
      found: its registration.
      options: the constructor options of `--option`.
      params: the params of `--set`, which replace its defaults.
    """

    title: str
    found: Registration
    options: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])
    params: Mapping[str, Any] = dataclasses.field(default_factory=dict[str, Any])

    @property
    def is_changed(self) -> bool:
        """Whether any options or params were given."""
        return bool(self.options or self.params)

    def make(self) -> tuple[Any, Any]:
        """Returns the environment and its params.

        Raises:
          InvalidArgumentError: the environment does not have an option, or refuses its value.
          InvalidParamsError: the environment does not have a param, or a value has the wrong shape or dtype.
          EnvcoreError: as for `envcore.make`.
        """
        from envcore.engine.arguments import device_params

        try:
            env = construct(self.found, dict(self.options))
            params = device_params(env)
            if self.options:
                self._check_options(env)
        except EnvcoreError:
            raise
        except Exception as error:  # an environment may fail in any way on an unexpected value
            if not self.options:
                raise
            given = " ".join(f"--option {name}={value!r}" for name, value in self.options.items())
            raise InvalidArgumentError(f"{self.title} does not work with {given}: {one_line(error)}") from error
        return env, self._with_params(env, params) if self.params else params

    def _check_options(self, env: Any) -> None:
        from envcore.engine.arguments import default_params, state_struct

        for name, value in self.options.items():
            if isinstance(getattr(type(env), name, None), bool) and not isinstance(value, bool):
                raise InvalidArgumentError(f"{self.title}'s option {name!r} must be True or False, got {value!r}.")
        params = default_params(env)
        state_struct(env)
        env.action_space(params)
        env.observation_space(params)

    def _with_params(self, env: Any, params: Any) -> Any:
        import numpy as np
        from envcore.engine.arguments import checked_params, param_names

        known = param_names(params)
        for name, value in self.params.items():
            if name not in known:
                hint = f" {name!r} is an option: --option {name}=..." if name in _options(env) else ""
                raise InvalidParamsError(f"{self.title} has no param {name!r}; its params: {', '.join(known)}.{hint}")
            if isinstance(value, str) or value is None:
                raise InvalidParamsError(f"{self.title}'s param {name!r} must be a number, got {value!r}.")
            try:
                given = np.asarray(value)
            except ValueError:  # rows of different lengths
                given = np.asarray(None)
            if given.dtype.kind not in "biuf":
                raise InvalidParamsError(f"{self.title}'s param {name!r} must be a number or an array, got {value!r}.")
            # A scalar stays a Python number, so that its value is checked.
            params = checked_params(env, params.replace(**{name: value if given.ndim == 0 else given}))
        return params


def choose(env_id: str, options: Sequence[str] = (), params: Sequence[str] = ()) -> Choice:
    """Looks up an id and parses `--option` and `--set`, before anything heavy is imported.

    Raises:
      UnknownEnvironmentError: as for `envcore.make`.
      InvalidArgumentError: an argument is not NAME=VALUE, a name is given twice, or a number overflows float64.
    """
    found = registry[env_id]
    return Choice(
        env_id,
        found,
        assignments("--option", options, InvalidArgumentError),
        assignments("--set", params, InvalidParamsError),
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


def _options(env: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(env) if field.init}
