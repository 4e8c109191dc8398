"""Docstrings of environments as Markdown: their sections, and the comments on the fields of params and states."""

from __future__ import annotations

import inspect
import re
import textwrap
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

_SECTION = re.compile(r"^([A-Z][A-Za-z ]+): ?(.*)$")
_LISTS = ("Args:", "Attributes:", "Raises:", "Returns:", "Warns:", "Yields:")
_ENTRY = re.compile(r"^  (\w+(?:, \w+)*): (.*)$")
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


def restructured(lines: list[str]) -> list[str]:
    """A docstring as reStructuredText: its code in single backticks and indented blocks is marked as such."""
    found: list[str] = []
    in_list = False
    for number, line in enumerate(lines):
        text = _inline(line)
        entry = _ENTRY.match(line)
        if line in ("Returns:", "Yields:", "Class attributes for authors:"):
            entries = [each for each in _block(lines[number + 1 :]) if each.strip()]
            in_list = bool(entries) and all(_ENTRY.match(each) or each.startswith("    ") for each in entries)
            if in_list:
                found += ["", f"**{line[:-1]}**", ""]
                continue
        elif line.strip() and not line.startswith(" "):
            in_list = False
        if in_list and entry:
            found.append(f"- **{entry[1]}**: {_inline(entry[2])}")
        elif in_list:
            found.append(text[2:])
        elif line.startswith("    ") and _starts_a_block(lines, number):
            found += ["::", "", line]
        else:
            found.append(line if _is_code(lines, number) else text)
    return found


def _inline(line: str) -> str:
    """Code in single backticks as literals, which end where a word ends; a star outside them is no emphasis."""
    parts = re.split(r"`+([^`]+)`+", line)
    for index in range(0, len(parts), 2):
        parts[index] = parts[index].replace("*", r"\*")
    for index in range(1, len(parts), 2):
        end = "\\ " if parts[index + 1][:1].isalnum() else ""
        parts[index] = f"``{parts[index]}``{end}"
    return "".join(parts)


def _starts_a_block(lines: list[str], number: int) -> bool:
    return number > 0 and not lines[number - 1].strip() and _is_code(lines, number)


def _is_code(lines: list[str], number: int) -> bool:
    """Whether a line belongs to a block that is indented by four, and comes after an empty line."""
    while number > 0 and lines[number].startswith("    "):
        number -= 1
    before = next((line for line in reversed(lines[:number]) if line.strip()), "")
    return not lines[number].strip() and not before.startswith("  ") and before not in _LISTS


def _block(lines: list[str]) -> list[str]:
    """The first lines, up to one that is not indented."""
    end = next((i for i, line in enumerate(lines) if line.strip() and not line.startswith(" ")), len(lines))
    return lines[:end]


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
