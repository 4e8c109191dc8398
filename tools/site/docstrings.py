"""Docstrings of environments as Markdown: their sections, and the comments on the fields of params and states."""

from __future__ import annotations

import inspect
import re
import textwrap
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

_SECTION = re.compile(r"^([A-Z][A-Za-z ]+): ?(.*)$")
_ENTRY = re.compile(r"^  (\w+(?:, \w+)*): (.*)$")
_CODE = re.compile(r"`([^`\n]+)`(\w?)")
_BLOCK = re.compile(r"^(\S.*)\n\n(?=    )", re.MULTILINE)
_SENTENCE = re.compile(r"^(Return|Yield)s:\n(?!  \w+(?:, \w+)*: )", re.MULTILINE)
_CHOICE = re.compile(r'^  ((?:\w+=)?"[\w-]+"): ', re.MULTILINE)
NOTES = "Notes"
"""The title of paragraphs without one that come after the rules."""


def sections(docstring: str) -> dict[str, str]:
    """The parts of a class docstring by title: "Original", "Reward", ...

    Paragraphs without a title are "" if they come before the first one or after "Original", and else `NOTES`.
    """
    found: dict[str, list[str]] = {"": []}
    title = ""
    lines = inspect.cleandoc(docstring).splitlines()
    for number, line in enumerate(lines):
        match = _SECTION.match(line)
        if match and number > 0:
            title = match[1]
            found[title] = [match[2]]
            continue
        if title and line and line[0] != " " and not lines[number - 1]:
            title = "" if title == "Original" else NOTES
            above = found.setdefault(title, [])
            above += [""] if above and above[-1] else []
        found[title].append(line)
    return {title: _dedented(lines) for title, lines in found.items() if any(map(str.strip, lines))}


def attributes(docstring: str | None) -> dict[str, str]:
    """The attributes that a docstring describes, each with its text; names in one line share it."""
    lines = sections(docstring or "").get("Attributes", "")
    found: dict[str, str] = {}
    names: list[str] = []
    for line in ("  " + line for line in lines.splitlines()):
        match = _ENTRY.match(line)
        if match:
            names = match[1].split(", ")
            found |= dict.fromkeys(names, match[2])
        else:
            for name in names:
                found[name] += f" {line.strip()}"
    return found


def restructured(text: str) -> str:
    """A docstring as Sphinx's napoleon reads it: its blocks of code are marked, and code ends where a word goes on.

    What it returns stays a list where it has names, for which napoleon needs another title than for a sentence.
    """
    text = _BLOCK.sub(r"\1\n\n::\n\n", text)
    text = _SENTENCE.sub(r"\1:\n", text)
    return _CODE.sub(_marked, text)


def _marked(match: re.Match[str]) -> str:
    mark = "``" if ":" in match[1] else "`"  # napoleon takes what is before a colon in single ones for a type
    return mark + match[1] + mark + (rf"\ {match[2]}" if match[2] else "")


def markdown(text: str) -> str:
    """A part of a docstring as Markdown: it is that already, but for what would be HTML, and lists of values."""
    return _CHOICE.sub(r"- `\1`: ", text.replace("<", "&lt;"))


def _dedented(lines: list[str]) -> str:
    first, *rest = lines
    return "\n".join([first, *textwrap.dedent("\n".join(rest)).splitlines()]).strip()


def notation(hint: object) -> str:
    """The dtype and shape that the type of a field says, also of one that may be None; "" if it says none."""
    if get_origin(hint) is Annotated:
        return get_args(hint)[1]
    if get_origin(hint) in (Union, UnionType):
        return next(filter(None, map(notation, get_args(hint))), "")
    return ""
