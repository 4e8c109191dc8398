"""`envcore list` and `envcore plugins`. Imports no JAX."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from envcore import registry
from envcore.catalogue import Registration
from envcore.errors import UnknownEnvironmentError
from envcore.text import printable
from rich.cells import cell_len, set_cell_size
from rich.table import Table
from rich.text import Text

from envcore_cli import output

_SHOWN_FAMILIES = 30  # in the error for an unknown family
_GAP = "  "
_CUT = "\N{HORIZONTAL ELLIPSIS}"


def show_environments(family: str = "") -> None:
    """Prints one line per environment or family, then the problems of plugins.

    On a terminal, lines are shortened to fit, and distributions left out if there is no room; a pipe or a file gets
    complete lines.

    Args:
      family: print one line for each member of this family instead.

    Raises:
      UnknownEnvironmentError: there is no such family.
    """
    families = by_family()
    if family and family not in families:
        raise UnknownEnvironmentError(_unknown_family(family, list(families)))
    alone = [(env_id, found.distribution, found.spec.summary) for env_id, found in families[family].items()]
    others = [] if family else [_family_row([*members.values()]) for name, members in families.items() if name]
    rows = [[printable(cell) for cell in row] for row in (*alone, *others)]
    if rows:
        for lines in _in_parts(_lines([("id", "distribution", "task"), *rows], _room())):
            output.write(lines)
    else:
        output.say("No environments are installed: pip install 'envcore[all]'.")
    for plugin in registry.plugins:
        if plugin.status != "loaded":
            problem = f"{plugin.distribution} is {plugin.status}. {plugin.error}".rstrip()
            output.say(problem, style="red")


def _room() -> int | None:
    """The number of columns of the terminal; None if the output is not a terminal."""
    console = output.console()
    return console.width if console.is_terminal else None


def _lines(rows: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """Formats rows as aligned lines of at most `room` columns: drops the middle cells first, then cuts the last ones.

    A rich table would take a millisecond per row and hold all rows in memory.
    """
    widths = [max(map(_width, cells)) for cells in zip(*rows, strict=True)]
    shown = [0, 2] if room is not None and sum(widths) + len(_GAP) * (len(widths) - 1) > room else [0, 1, 2]
    for row in rows:
        cells = [row[i] + " " * (widths[i] - _width(row[i])) for i in shown]
        line = _GAP.join(cells).rstrip()
        yield line if room is None or _width(line) <= room else set_cell_size(line, max(0, room - 1)).rstrip() + _CUT


def _width(text: str) -> int:
    """The number of columns that a text takes; for ASCII its length, which is ten times as fast."""
    return len(text) if text.isascii() else cell_len(text)


def _in_parts(lines: Iterable[str], size: int = 1000) -> Iterator[str]:
    """Joins many lines into one part, because each print costs more than a line."""
    lines = iter(lines)
    while part := list(itertools.islice(lines, size)):
        yield "\n".join(part)


def by_family() -> dict[str, dict[str, Registration]]:
    """The members of each family by id; environments without a family are under the empty name."""
    families: dict[str, dict[str, Registration]] = {"": {}}
    for env_id, found in registry.items():
        families.setdefault(found.spec.family, {})[env_id] = found
    return families


def _unknown_family(family: str, known: Sequence[str]) -> str:
    names = [name for name in known if name]
    more = f" and {len(names) - _SHOWN_FAMILIES:,} more" if len(names) > _SHOWN_FAMILIES else ""
    there = f"there are: {', '.join(names[:_SHOWN_FAMILIES]) or 'none'}{more}."
    from envcore.suggestions import left_out  # not needed for a listing

    return " ".join([f"no family of environments is called {family!r}; {there}", *left_out(registry.plugins)])


def _family_row(members: Sequence[Registration]) -> tuple[str, str, str]:
    """The row for a family: "bsuite/deep_sea/0..20" if its members have numbers, else "jumanji/..." and its source."""
    distributions = ", ".join(sorted({found.distribution for found in members}))
    first, last = members[0].spec, members[-1].spec
    if len(members) == 1:
        return first.id, distributions, first.summary
    end = last.id.removeprefix(f"{last.family}/")
    if end.isdecimal():
        return f"{first.id}..{end}", distributions, first.summary
    return f"{first.family}/...", distributions, f"{len(members)} environments: {first.source or first.summary}"


def show_plugins() -> None:
    """Prints one row per plugin."""
    found = registry.plugins
    if not found:
        output.say("No plugins are installed: pip install 'envcore[all]'.")
        return
    table = Table(
        "distribution", "version", "status", "environments", "commands", "module", "error", box=None, pad_edge=False
    )
    for plugin in found:
        names = ", ".join(sorted(command.name for command in plugin.commands))
        counts = str(len(plugin.specs)), names
        changes = f"changes {', '.join(plugin.side_effects)}" if plugin.side_effects else ""
        row = (plugin.distribution, plugin.version, plugin.status, *counts, plugin.module, plugin.error or changes)
        table.add_row(*(Text(printable(cell)) for cell in row))
    output.show(table)
