"""Reads records from files: each is checked whole against one description, and what is wrong is said in one line.

A description is a type: a dataclass (a JSON object) or a `NamedTuple` (a JSON list) of described fields, `list[X]`,
`dict[str, X]`, `X | None`, `bool`, `int`, `float` (also integers), `str`, or `Any`. `Annotated` limits numbers to a
`Range`. What depends on several fields is a dataclass's `__post_init__` to check, whose ValueError completes the
sentence "its curve ...".

    @dataclasses.dataclass(frozen=True)
    class Shard:
        file: str
        num_steps: Positive

    shard = File(folder / "shard.json").read(Shard)

Imports nothing heavy.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import re
import reprlib
import sys
import tomllib
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from envcore.errors import EnvcoreError, FileError, one_line

T = TypeVar("T")

_MOST_LEVELS = 64
_DEEP_KEY = re.compile(r"""(?<![\w-])(?:(?:"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'|[\w-]++)[ \t]*+\.[ \t]*+){64}""")
"""A TOML key of so many parts, on which its reader spends a time that grows with their square."""
_NAMES = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
    types.NoneType: "null",
}


class Range(NamedTuple):
    """The numbers from `low` to `high`; NaN is none of them."""

    low: float
    high: float


Natural = Annotated[int, Range(0, 2**63 - 1)]
Positive = Annotated[int, Range(1, 2**63 - 1)]


@dataclasses.dataclass(frozen=True)
class File:
    """A file that may hold anything. Every method raises `error`, one line, if it does not hold what it should.

    Attributes:
      path: its path.
      advice: what to do if it is damaged, the last sentence of the error.
      error: the class of the errors.
    """

    path: str | Path
    advice: str = "Restore it, or choose another folder."
    error: type[EnvcoreError] = FileError

    def read(self, kind: type[T]) -> T:
        """The value that the file holds, JSON or (by its suffix) TOML.

        Args:
          kind: the description.
        """
        return self.parsed(self.content(), kind)

    @property
    def _is_toml(self) -> bool:
        return Path(self.path).suffix == ".toml"

    def content(self) -> bytes:
        """The bytes of the file."""
        try:
            return Path(self.path).read_bytes()
        except FileNotFoundError:
            raise self.error(f"{self.path} does not exist.") from None
        except (OSError, MemoryError) as problem:
            raise self.error(
                f"{self.path} cannot be read: {getattr(problem, 'strerror', None) or one_line(problem)}."
            ) from problem

    def parsed(self, text: bytes | str, kind: type[T]) -> T:
        """The value of a text in the file.

        Args:
          text: what is parsed; bytes are UTF-8.
          kind: the description.
        """
        parse = _parsed_toml if self._is_toml else _parsed_json
        try:
            value = parse(text if isinstance(text, str) else text.decode())
        except RecursionError:
            raise self.damaged("it is nested too deeply") from None
        except ValueError as error:  # JSON's and TOML's, UTF-8's, numbers of more than 4,300 digits
            raise self.damaged(str(error)) from error
        if isinstance(value, list | dict) and not _is_flat(value, _MOST_LEVELS):
            raise self.damaged("it is nested too deeply")
        return self.checked(value, kind)

    def checked(self, value: Any, kind: type[T]) -> T:
        """A value from the file that has been parsed.

        Args:
          value: of JSON's types.
          kind: the description.
        """
        try:
            return _checker(kind)(value)
        except _RecordError as wrong:
            raise self.damaged(f"its {wrong.place.lstrip('.') or 'content'} {wrong.what}") from None

    def damaged(self, what: str) -> EnvcoreError:
        """The error that says what is wrong."""
        return self.error(f"{self.path} is damaged: {what}. {self.advice}")


def shown(value: Any) -> str:
    """The value for an error: its `repr`, or the beginning and the end of a long one."""
    short = _Short()
    short.maxstring = short.maxother = 80
    short.maxlevel = 3
    return short.repr(value)


class _Short(reprlib.Repr):
    def repr_int(self, x: int, level: int) -> str:
        try:
            return super().repr_int(x, level)
        except ValueError:  # TOML's hexadecimal numbers may have more digits than Python prints
            return f"a number of {x.bit_length():,} bits"


def place_of(name: str) -> str:
    """The name of a value in an object for an error, which writes it after the place of the object."""
    return f".{name}" if name.isidentifier() and len(name) < 40 else f"[{shown(name)}]"


class _RecordError(Exception):
    def __init__(self, what: str, place: str = ""):
        self.what, self.place = what, place


def _parsed_toml(text: str) -> Any:
    if _DEEP_KEY.search(text):
        raise RecursionError
    return tomllib.loads(text)


def _parsed_json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has two values of the same name")
    return found


def _is_flat(value: list[Any] | dict[str, Any], levels: int) -> bool:
    inside: Iterable[Any] = value.values() if isinstance(value, dict) else value
    return levels > 0 and all(_is_flat(each, levels - 1) for each in inside if isinstance(each, list | dict))


@functools.cache
def _checker(kind: Any) -> Callable[[Any], Any]:
    """A function that returns the described value, or raises `_RecordError`."""
    origin, args = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda value: value
    if origin is Annotated:
        return functools.partial(_in_range, _checker(args[0]), args[0], args[1])
    if origin in (types.UnionType, Union):  # with None
        return functools.partial(_optional, _checker(args[0]))
    if origin is list:
        return functools.partial(_list, _checker(args[0]))
    if origin is dict:
        return functools.partial(_dict, _checker(args[1]))
    if dataclasses.is_dataclass(kind):
        return functools.partial(_record, kind, _fields(kind))
    if issubclass(kind, tuple):
        return functools.partial(_named_tuple, kind, _fields(kind))
    return functools.partial(_plain, kind)


def _fields(kind: Any) -> dict[str, Callable[[Any], Any]]:
    return {name: _checker(hint) for name, hint in get_type_hints(kind, include_extras=True).items()}


def _plain(kind: type, value: Any) -> Any:
    is_right = type(value) is kind
    if kind is float and type(value) is int:
        is_right = abs(value) <= sys.float_info.max
    if not is_right:
        raise _not(value, _NAMES[kind])
    return value


def _in_range(check: Callable[[Any], Any], kind: type, bounds: Range, value: Any) -> Any:
    if not bounds.low <= check(value) <= bounds.high:
        raise _not(value, f"{_NAMES[kind]} from {bounds.low:,} to {bounds.high:,}")
    return value


def _optional(check: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else check(value)


def _list(check: Callable[[Any], Any], value: Any) -> list[Any]:
    return [_inside(check, each, f"[{number}]") for number, each in enumerate(_plain(list, value))]


def _dict(check: Callable[[Any], Any], value: Any) -> dict[str, Any]:
    return {name: _inside(check, each, place_of(name)) for name, each in _plain(dict, value).items()}


def _named_tuple(kind: Any, checks: dict[str, Callable[[Any], Any]], value: Any) -> Any:
    if len(_plain(list, value)) != len(checks):
        raise _not(value, f"a list of {', '.join(checks)}")
    return kind(*(_inside(check, each, f".{name}") for (name, check), each in zip(checks.items(), value, strict=True)))


def _record(kind: Any, checks: dict[str, Callable[[Any], Any]], value: Any) -> Any:
    for name in _plain(dict, value):
        if name not in checks:
            raise _RecordError("is unknown to this version", place_of(name))
    for field in dataclasses.fields(kind):
        has_default = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        if field.name not in value and not has_default:
            raise _RecordError("is missing", f".{field.name}")
    found = {name: _inside(checks[name], each, f".{name}") for name, each in value.items()}
    try:
        return kind(**found)
    except ValueError as error:
        raise _RecordError(str(error)) from None


def _inside(check: Callable[[Any], Any], value: Any, place: str) -> Any:
    try:
        return check(value)
    except _RecordError as wrong:
        raise _RecordError(wrong.what, place + wrong.place) from None


def _not(value: Any, wanted: str) -> _RecordError:
    return _RecordError(f"is {shown(value)}, not {wanted}")
