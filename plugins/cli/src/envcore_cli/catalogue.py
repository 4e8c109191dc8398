"""`envcore list` and `envcore plugins`. Imports no JAX."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from envcore import registry
from envcore.errors import UnknownEnvironmentError
from envcore.plugins import PluginRecord
from envcore.registration import Registration
from envcore.specs import AlgorithmSpec, CommandSpec, EnvSpec, PolicySpec
from envcore.suggestions import how_to_install, left_out
from rich.table import Table
from rich.text import Text

from envcore_cli import output


def show_environments(group: str = "") -> None:
    """Prints one line per environment or family, then the problems of plugins.

    On a terminal, lines are shortened to fit. A pipe or a file gets complete lines.

    Args:
      group: a family, to print one line per member with the options in which they differ. Or a distribution, to print
        only its environments. You can leave out "envcore-".

    Raises:
      UnknownEnvironmentError: there is no such family or distribution.
    """
    families = by_family()
    distributions = {found.distribution for members in families.values() for found in members.values()}
    if group in distributions or f"envcore-{group}" in distributions:
        wanted = {group, f"envcore-{group}"}
        families = {
            name: {env_id: found for env_id, found in members.items() if found.distribution in wanted}
            for name, members in families.items()
        }
        group = ""
    elif group not in families:
        raise UnknownEnvironmentError(_unknown_group(group, [*distributions], list(families)))
    if group:
        found = _member_rows(families[group])
    else:
        found = [(env_id, found.distribution, found.spec.summary) for env_id, found in families[""].items()]
        found += [_family_row([*members.values()]) for name, members in families.items() if name and members]
    if found:
        output.write("\n".join(_lines([("id", "distribution", "task"), *found])))
    else:
        output.say(f"No environments are installed: {how_to_install('envcore[all]')}.")
    for plugin in registry.plugins:
        if plugin.status != "loaded":
            problem = f"{plugin.distribution} is {plugin.status}. {plugin.error}".rstrip()
            output.say(problem, style="red")


def _lines(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Formats rows as aligned lines, cut to the terminal's width. A rich table would take a millisecond per row."""
    console = output.console()
    room = console.width if console.is_terminal else None
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield line if room is None or len(line) <= room else f"{line[: room - 1]}\N{HORIZONTAL ELLIPSIS}"


def by_family() -> dict[str, dict[str, Registration]]:
    """Groups environments by family, then by id. The empty name contains those without a family."""
    families: dict[str, dict[str, Registration]] = {"": {}}
    for env_id, found in registry.items():
        families.setdefault(found.spec.family, {})[env_id] = found
    return families


def _unknown_group(group: str, distributions: Sequence[str], families: Sequence[str]) -> str:
    names = sorted(distributions) + [name for name in families if name]
    said = f"no distribution or family of environments is called {group!r}. Choose from: {', '.join(names) or 'none'}."
    return " ".join([said, *left_out(registry.plugins)])


def _member_rows(members: Mapping[str, Registration]) -> list[tuple[str, str, str]]:
    """Makes a row for each member of a family: its task, or if that is the same for all, the differing options."""
    specs = [found.spec for found in members.values()]
    options = dict.fromkeys(name for spec in specs for name in spec.kwargs)
    differing = [name for name in options if len({repr(spec.kwargs.get(name)) for spec in specs}) > 1]

    def task(spec: EnvSpec) -> str:
        if not differing or len({spec.summary for spec in specs}) > 1:
            return spec.summary
        return ", ".join(f"{name}={spec.kwargs[name]!r}" for name in differing if name in spec.kwargs)

    return [(env_id, found.distribution, task(found.spec)) for env_id, found in members.items()]


def _family_row(members: Sequence[Registration]) -> tuple[str, str, str]:
    """Makes a row for a family: "bsuite/deep_sea/0..20" if members are numbered, else "jumanji/..." and its source."""
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
        output.say(f"No plugins are installed: {how_to_install('envcore[all]')}.")
        return
    table = Table("distribution", "version", "status", "announces", box=None, pad_edge=False)
    for column in table.columns[:3]:
        column.overflow = "fold"  # show names in full
    for plugin in found:
        row = plugin.distribution, plugin.version, plugin.status, _announces(plugin)
        table.add_row(*map(Text, row))
    output.show(table)
    for plugin in found:
        if plugin.error:
            output.say(f"{plugin.distribution} ({plugin.module}): {plugin.error}", style="red")


def _announces(plugin: PluginRecord) -> str:
    environments = [spec for spec in plugin.specs if isinstance(spec, EnvSpec)]
    parts = [f"{len(environments)} environment{'s' * (len(environments) > 1)}"] if environments else []
    for title, kind in {"commands": CommandSpec, "policies": PolicySpec, "algorithms": AlgorithmSpec}.items():
        if names := sorted(spec.name for spec in plugin.specs if isinstance(spec, kind)):
            parts.append(f"{title} {', '.join(names)}")
    return "; ".join(parts)
