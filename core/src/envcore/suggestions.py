"""What to say of a name that is not found: what resembles it, what to install, which plugins are left out.

`index.json`, which is read only then, maps what may not be installed, a distribution or an extra of one, to lists of
names: its `environments`, its `families` (whose members' ids begin with the family and a "/"), its `commands` and its
`policies`.
"""

from __future__ import annotations

import importlib.resources
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from packaging.utils import canonicalize_name

from envcore.catalogue import Catalogue
from envcore.installing import how_to_install
from envcore.plugins import AUTOLOAD_OFF, PluginRecord, announcing_nothing
from envcore.specs import ENTRY_POINT
from envcore.spelling import nearest
from envcore.text import printable


def unknown_environment(env_id: str, catalogue: Catalogue, plugins: Sequence[PluginRecord]) -> str:
    """The message for an id that `make` does not find."""
    qualifier, _, name = env_id.rpartition(":")
    near = [each.qualified_id for each in catalogue.find(name)] or nearest(name, catalogue.ids)
    meant = [f"Did you mean {' or '.join(map(repr, near))}?"] if near else []
    if any(plugin.error == AUTOLOAD_OFF for plugin in plugins):
        first = f"{AUTOLOAD_OFF}, so no plugin is loaded; unset it to load them: no registered environment is called"
        return printable(" ".join([f"{first} {env_id!r}.", *meant]))
    installed = {plugin.distribution for plugin in plugins if plugin.status != "unreadable"}
    to_install = list(_to_install(qualifier, name, installed, catalogue))
    if not (to_install or installed or catalogue.ids):
        to_install = [f"No environments are installed at all: {how_to_install('envcore[all]')}."]
    last = "`list(envcore.registry)`, or `envcore list` of envcore-cli, shows what is installed."
    first = f"no installed environment is called {env_id!r}"
    if ENTRY_POINT.fullmatch(env_id):
        first += f", nor is there a module {qualifier!r} to import {name} from"
    asked = list(_to_ask(name, catalogue))
    # A suite of the user's own may be installed and not announced; a typing mistake has another cause.
    unannounced = [] if meant or to_install or asked else announcing_nothing()
    parts = [f"{first}.", *meant, *to_install, *asked, *left_out(plugins), *unannounced, last]
    return printable(" ".join(parts))


def left_out(plugins: Iterable[PluginRecord]) -> Iterator[str]:
    """A sentence on each plugin that is not loaded."""
    for plugin in plugins:
        if plugin.status != "loaded":
            kind = "Distribution" if plugin.status == "unreadable" else "Plugin"
            yield f"{kind} {plugin.distribution} is {plugin.status}: {plugin.error}."


def offered(kind: Literal["environments", "families", "commands", "policies"]) -> dict[str, str]:
    """The names of one kind in `index.json`, each with what to install for it."""
    text = importlib.resources.files("envcore").joinpath("index.json").read_text(encoding="utf-8")
    return {name: requirement for requirement, names in json.loads(text).items() for name in names.get(kind, ())}


def _to_ask(name: str, catalogue: Catalogue) -> Iterator[str]:
    """The call that says why a bridge does not announce an environment of its library's.

    Its rows are those of `envcore_bridges.libraries.library_specs`.
    """
    library, _, theirs = name.partition("/")
    members = (env_id for env_id in catalogue.ids if theirs and env_id.startswith(f"{library}/"))
    for spec in (each.spec for env_id in members for each in catalogue.find(env_id)):
        source = spec.kwargs.get("source")
        if spec.family == library and source in (spec.id, spec.id.partition("/")[2]):
            asked = f"{spec.entry_point.replace(':', '.')}({(name if source == spec.id else theirs)!r})"
            yield f"If it is one of {library}'s, {asked} says why envcore leaves it out."
            return


def _to_install(qualifier: str, name: str, installed: set[str], catalogue: Catalogue) -> Iterator[str]:
    """What has an environment of this name, or of one that is nearer than any installed one's."""
    families = {f"{family}/...": requirement for family, requirement in offered("families").items()}
    announced = {f"{prefix}/..." for env_id in catalogue.ids for prefix in _prefixes(env_id)}
    offers: dict[str, str] = {}
    for each, requirement in (offered("environments") | families).items():
        distribution, _, extra = requirement.partition("[")
        # A bridge announces the libraries that are installed; of the others, an extra is missing.
        is_there = each in announced if extra else distribution in installed
        if not is_there and canonicalize_name(qualifier) in ("", distribution):
            offers[each] = requirement
    meant = [each for prefix in _prefixes(name) if (each := f"{prefix}/...") in offers]
    near = meant or nearest(name, [*offers, *([] if qualifier else catalogue.ids)])
    best = next(iter(near), "")
    if best in offers:
        requirement = offers[best]
        yield f"{requirement} has {best!r}: {how_to_install(requirement)}."


def _prefixes(env_id: str) -> Iterator[str]:
    """What may be the family of an id: "bsuite/catch" and "bsuite" of "bsuite/catch/0"."""
    parts = env_id.split("/")
    return ("/".join(parts[:number]) for number in range(len(parts) - 1, 0, -1))
