"""What a rule finds wrong: the problem, what to write instead, and where."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from envcore.errors import EnvcoreError
from envcore.testing.places import Place, place_of_error


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
