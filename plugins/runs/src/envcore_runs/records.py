"""Reads JSON and TOML files into the dataclasses that describe them, by msgspec. Imports no JAX.

    @dataclasses.dataclass(frozen=True)
    class Shard:
        file: str
        num_steps: Positive

    shard = File(folder / "shard.json").read(Shard)

Fields that the dataclass does not have are ignored.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
from envcore.errors import EnvcoreError, FileError

T = TypeVar("T")

Natural = Annotated[int, msgspec.Meta(ge=0)]
Positive = Annotated[int, msgspec.Meta(ge=1)]


@dataclasses.dataclass(frozen=True)
class File:
    """A file that should hold something. Every method raises `error`, one line, if it does not.

    Attributes:
      path: its path.
      advice: what to do if it is damaged, the last sentence of the error.
      error: the class of the errors.
    """

    path: str | Path
    advice: str = "Restore it, or choose another folder."
    error: type[EnvcoreError] = FileError

    def read(self, kind: type[T]) -> T:
        """The value that the file holds, JSON or (by its suffix) TOML, as a type that `msgspec.convert` takes."""
        return self.parsed(self.content(), kind)

    def content(self) -> bytes:
        """The bytes of the file."""
        try:
            return Path(self.path).read_bytes()
        except FileNotFoundError:
            raise self.error(f"{self.path} does not exist.") from None
        except OSError as problem:
            raise self.error(f"{self.path} cannot be read: {problem.strerror or problem}.") from problem

    def parsed(self, text: bytes | str, kind: type[T]) -> T:
        """The value of a text in the file; bytes are UTF-8."""
        parse = tomllib.loads if Path(self.path).suffix == ".toml" else json.loads
        try:
            return msgspec.convert(parse(text if isinstance(text, str) else text.decode()), kind)
        except (ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise self.damaged(str(error)) from error

    def damaged(self, what: str) -> EnvcoreError:
        """The error that says what is wrong."""
        return self.error(f"{self.path} is damaged: {what}. {self.advice}")
