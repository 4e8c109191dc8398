"""Reads JSON and TOML files into dataclasses, with msgspec. Imports no JAX.

    @dataclasses.dataclass(frozen=True)
    class Shard:
        file: str
        num_steps: int

    shard = File(folder / "shard.json").read(Shard)

Fields of the file that the dataclass doesn't have are ignored.
"""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec
from envcore.errors import EnvcoreError, FileError

T = TypeVar("T")


@dataclasses.dataclass(frozen=True)
class File:
    """A file to read. Every method raises `error` with a one-line message if the file is missing or damaged.

    Attributes:
      path: path of the file.
      advice: the last sentence of the error message for a damaged file.
      error: class of the exceptions.
    """

    path: str | Path
    advice: str = "Restore it, or choose another folder."
    error: type[EnvcoreError] = FileError

    def read(self, kind: type[T]) -> T:
        """Reads the file as JSON or TOML (by its suffix) and converts it to a type, as `msgspec.convert` does."""
        return self.parsed(self.content(), kind)

    def content(self) -> bytes:
        """Returns the bytes of the file."""
        try:
            return Path(self.path).read_bytes()
        except FileNotFoundError:
            raise self.error(f"{self.path} does not exist.") from None
        except OSError as problem:
            raise self.error(f"{self.path} cannot be read: {problem.strerror or problem}.") from problem

    def parsed(self, text: bytes | str, kind: type[T]) -> T:
        """Parses the file's text. Bytes must be UTF-8."""
        parse = tomllib.loads if Path(self.path).suffix == ".toml" else json.loads
        try:
            return msgspec.convert(parse(text if isinstance(text, str) else text.decode()), kind)
        except (ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise self.damaged(str(error)) from error

    def damaged(self, what: str) -> EnvcoreError:
        """Returns the exception for a damaged file."""
        return self.error(f"{self.path} is damaged: {what}. {self.advice}")
