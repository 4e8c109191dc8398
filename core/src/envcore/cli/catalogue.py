"""`envcore list` and `envcore plugins`. Imports no JAX."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from envcore import registry


def show_environments() -> None:
    """Prints one row an environment, then what is wrong with the plugins."""
    console = Console()
    registrations = registry.list_envs()
    ids = [found.spec.id for found in registrations]
    table = Table("id", "distribution", "task", box=None, pad_edge=False)
    for found in registrations:
        is_clash = ids.count(found.spec.id) > 1
        _add(table, found.qualified_id if is_clash else found.spec.id, found.distribution, found.spec.summary)
    if registrations:
        console.print(table)
    else:
        console.print("No environments are installed: pip install 'envcore\\[all]'.")
    for plugin in registry.list_plugins():
        if plugin.status != "loaded":
            console.print(
                f"{plugin.distribution} is {plugin.status}. {plugin.error}".rstrip(), markup=False, style="red"
            )


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
    """Adds a row; what plugins say of themselves is text, never rich's markup."""
    table.add_row(*map(Text, cells))
