"""What a rule finds wrong: the problem, what to write instead, and where in the author's own code."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import itertools
import linecache
import os
import re
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from envcore.errors import EnvcoreError

# What an author's code runs on. An error inside these has its cause further out.
_LIBRARIES = ("chex", "envcore", "envcore_testing", "flax", "jax", "jaxlib", "numpy")


class ConformanceError(EnvcoreError, AssertionError):
    """An environment breaks a rule of the contract."""


class Place(NamedTuple):
    """A line of the author's code.

    Attributes:
      file: its path, relative to the working directory if it is inside it.
      line: counted from 1.
      function: the name of the function that it belongs to.
      source: the text of the line without its indentation; empty where it cannot be read.
    """

    file: str
    line: int
    function: str
    source: str

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}, in {self.function}"
        return f"{where}\n    {self.source}" if self.source else where


def place_of_error(error: BaseException) -> Place | None:
    """The innermost line of the author's code that an error went through; None where it went through none."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if is_own(frame.filename) and frame.lineno is not None]
    return _place(own[-1].filename, own[-1].lineno or 1, own[-1].name) if own else None


def place_of_method(env: Any, *names: str) -> Place | None:
    """The definition of the first of these methods and properties that the author has written, else of the class.

    Args:
      env: the environment; for a wrapper without the method, the environment inside counts.
      *names: in order of preference.
    """
    classes = (type(env), type(env.unwrapped))
    for cls in classes:
        for name in names:
            function = _function(inspect.getattr_static(cls, name, None))
            if function is not None and is_own(function.__code__.co_filename):
                file, line = function.__code__.co_filename, function.__code__.co_firstlineno
                while linecache.getline(file, line).lstrip().startswith("@"):
                    line += 1
                return _place(file, line, function.__name__)
    return next(filter(None, map(place_of_class, classes)), None)


def place_of_class(cls: type) -> Place | None:
    """The definition of one of the author's classes; None for others, and if the source cannot be found."""
    try:
        file, (lines, line) = inspect.getsourcefile(cls), inspect.getsourcelines(cls)
    except (OSError, TypeError):
        return None
    if file is None or not is_own(file):
        return None
    decorators = itertools.takewhile(lambda text: not text.lstrip().startswith("class "), lines)
    return _place(file, line + len(list(decorators)), cls.__name__)


@functools.cache
def is_own(file: str) -> bool:
    """Whether a file belongs neither to Python nor to a library that environments are written with."""
    if file.startswith("<"):
        return False
    path = Path(file).resolve()
    if any(path.is_relative_to(library) for library in _library_paths()):
        return False
    is_installed = {"site-packages", "dist-packages"} & set(path.parts)
    return bool(is_installed) or not path.is_relative_to(Path(sysconfig.get_path("stdlib")).resolve())


@functools.cache
def _library_paths() -> tuple[Path, ...]:
    found = (importlib.util.find_spec(name) for name in _LIBRARIES)
    return tuple(Path(where).resolve() for spec in found if spec for where in spec.submodule_search_locations or ())


def _function(member: Any) -> FunctionType | None:
    if isinstance(member, property | functools.cached_property):
        member = member.fget if isinstance(member, property) else member.func
    elif isinstance(member, staticmethod | classmethod):
        member = member.__func__
    member = inspect.unwrap(member) if callable(member) else None
    return member if isinstance(member, FunctionType) else None


def _place(file: str, line: int, function: str) -> Place:
    path, here = os.path.abspath(file), os.getcwd()  # noqa: PTH100, PTH109, without following links
    short = os.path.relpath(path, here) if path.startswith(here + os.sep) else path
    return Place(short, line, function, linecache.getline(file, line).strip())


class Breach(NamedTuple):
    """One thing that breaks a rule.

    Attributes:
      problem: what is wrong and what to do, in sentences.
      place: the line of the author's code to look at; None where there is no line to show.
    """

    problem: str
    place: Place | None = None

    def __str__(self) -> str:
        return self.problem if self.place is None else f"{self.problem}\n  {_indented(str(self.place), 2)}"


def breach_of_error(error: Exception, fallback: Place | None = None) -> Breach:
    """An error of the author's code, with advice where JAX refuses to mix dtypes or ranks.

    Args:
      error: as raised.
      fallback: the place to look at if the error passed through none of the author's lines.
    """
    text = str(error)
    problem = (
        _mixed_dtypes(text)
        or _mixed_ranks(text)
        or (text if isinstance(error, EnvcoreError) else f"{type(error).__name__}: {text}")
    )
    return Breach(problem, place_of_error(error) or fallback)


def describe(breaches: Iterable[Breach]) -> str:
    """One breach as it is, several as a list."""
    texts = [str(breach) for breach in breaches]
    if len(texts) == 1:
        return texts[0]
    return "\n".join([f"{len(texts)} places:", *(f"- {_indented(text, 2)}" for text in texts)])


def _mixed_dtypes(text: str) -> str | None:
    if "no available implicit dtype promotion path" not in text:
        return None
    names = [
        re.sub(r"<class '(\w+)'>", r"\1", name) for name in re.findall(r"\"[^\"]+\"|'[^']+'", text.split("have")[0])
    ]
    names = sorted((name.strip("\"'") for name in names), key=lambda name: (name != "bool", name))
    if names[0] == "bool":
        dtype = {"int": "int32", "float": "float32"}.get(names[-1], names[-1])
        advice = f"turn the flag into a number, as in flag.astype(jnp.{dtype})"
        if dtype == "float32":
            advice += " or jnp.where(flag, 1.0, 0.0)"
    elif any(name.endswith("64") for name in names):
        advice = (
            "name the dtype where an array is made, as in jnp.arange(n, dtype=jnp.int32) or jnp.zeros(n, jnp.float32)"
        )
    else:
        advice = "cast one of them, as in x.astype(jnp.float32)"
    return f"{' and '.join(_dtype_words(name) for name in names)} are mixed: {advice}."


def _dtype_words(name: str) -> str:
    return f"a Python {name}" if name in ("int", "float", "complex") else name


def _mixed_ranks(text: str) -> str | None:
    if "rank_promotion" not in text:
        return None
    shapes = re.findall(r"\(\d*(?:, ?\d+)*,?\)", text)
    return (
        f"the shapes {' and '.join(shapes)} are mixed, which have different numbers of axes: "
        "add the missing axes, as in x[None, :] or x[:, None]."
    )


def _indented(text: str, width: int) -> str:
    return text.replace("\n", "\n" + " " * width)
