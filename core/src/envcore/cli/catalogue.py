"""`envcore list` and `envcore plugins`. Imports no JAX."""

from __future__ import annotations

import collections
from collections.abc import Sequence

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from envcore import registry
from envcore.text import printable


def show_environments(family: str = "") -> None:
    """Prints one row an environment or family of them, then what is wrong with the plugins.

    Args:
      family: prints one row for each member of this family instead.

    Raises:
      UnknownEnvironmentError: there is no such family.
    """
    console = Console()
    table = Table(*(Column(name, no_wrap=True) for name in ("id", "distribution")), "task", box=None, pad_edge=False)
    for shown, found in shown_ids(registry.list_envs(family)):
        _add(table, shown, found.distribution, found.spec.summary)
    for name in () if family else registry.list_families():
        _add_family(table, registry.list_envs(name))
    if table.row_count:
        console.print(table)
    else:
        console.print("No environments are installed: pip install 'envcore\\[all]'.")
    for plugin in registry.list_plugins():
        if plugin.status != "loaded":
            problem = f"{plugin.distribution} is {plugin.status}. {plugin.error}".rstrip()
            console.print(printable(problem), markup=False, style="red")


def shown_ids(registrations: Sequence[registry.Registration]) -> list[tuple[str, registry.Registration]]:
    """What to call each environment: its id, with the distribution where two have the same one."""
    counts = collections.Counter(found.spec.id for found in registrations)
    return [(found.qualified_id if counts[found.spec.id] > 1 else found.spec.id, found) for found in registrations]


def _add_family(table: Table, members: tuple[registry.Registration, ...]) -> None:
    """Adds one row for all members of a family, such as "bsuite/deep_sea/0..20"."""
    first, last = members[0].spec, members[-1].spec
    shown = f"{first.id}..{last.id.removeprefix(f'{last.family}/')}" if len(members) > 1 else first.id
    _add(table, shown, ", ".join(sorted({found.distribution for found in members})), first.summary)


def show_plugins() -> None:
    """Prints one row a plugin."""
    console = Console()
    found = registry.list_plugins()
    if not found:
        console.print("No plugins are installed: pip install 'envcore\\[all]'.")
        return
    table = Table("distribution", "version", "status", "environments", "module", "error", box=None, pad_edge=False)
    for plugin in found:
        row = (plugin.distribution, plugin.version, plugin.status, str(len(plugin.specs)), plugin.module, plugin.error)
        _add(table, *row)
    console.print(table)


def _add(table: Table, *cells: str) -> None:
    """Adds a row; what plugins say of themselves is text, never rich's markup or the terminal's."""
    table.add_row(*(Text(printable(cell)) for cell in cells))
