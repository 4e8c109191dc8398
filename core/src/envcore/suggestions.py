"""What to say of a name that is not found: what resembles it, what to install, which plugins are left out.

`index.json` lists what distributions announce that may not be installed. It maps each distribution to lists of names:
its `environments`, its `families` (whose members' ids begin with the family and a "/") and its `commands`. A service
that indexes plugins could write such a file. It is read when a name is not found, and never before.
"""

from __future__ import annotations

import difflib
import heapq
import importlib.resources
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from packaging.utils import canonicalize_name

from envcore.catalogue import Catalogue
from envcore.plugins import AUTOLOAD_OFF, PluginRecord
from envcore.text import printable

_CANDIDATES = 200  # that difflib compares with a misspelled name, at some 50 us each
_LONGEST = 100  # as far as a misspelled name is compared
_CUTOFF = 0.6  # difflib's similarity from which a name is suggested


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
        to_install = ["No environments are installed at all: pip install 'envcore[all]'."]
    last = "`list(envcore.registry)`, or `envcore list` of envcore-cli, shows what is installed."
    first = f"no installed environment is called {env_id!r}."
    parts = [first, *meant, *to_install, *_to_ask(name, catalogue), *left_out(plugins), last]
    return printable(" ".join(parts))


def left_out(plugins: Iterable[PluginRecord]) -> Iterator[str]:
    """A sentence on each plugin that is not loaded."""
    for plugin in plugins:
        if plugin.status != "loaded":
            kind = "Distribution" if plugin.status == "unreadable" else "Plugin"
            yield f"{kind} {plugin.distribution} is {plugin.status}: {plugin.error}."


def offered(kind: Literal["environments", "families", "commands"]) -> dict[str, str]:
    """The names of one kind in `index.json`, each with the distribution that announces it."""
    text = importlib.resources.files("envcore").joinpath("index.json").read_text(encoding="utf-8")
    return {name: distribution for distribution, names in json.loads(text).items() for name in names.get(kind, ())}


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Up to three names that are spelt like this one, the most similar first."""
    typed = typed.lower()[:_LONGEST]
    originals = {each.lower(): each for each in names}
    most = (2 - _CUTOFF) / _CUTOFF  # difflib never suggests what is so many times as long
    close = [each for each in originals if len(typed) <= most * len(each) and len(each) <= most * len(typed)]
    if len(close) > _CANDIDATES:
        pairs = {typed[i : i + 2] for i in range(len(typed) - 1)}

        def shared(each: str) -> float:
            return sum(map(each.__contains__, pairs)) / (len(each) + len(typed))

        close = heapq.nlargest(_CANDIDATES, close, key=shared)
    return [originals[each] for each in difflib.get_close_matches(typed, close, n=3, cutoff=_CUTOFF)]


def _to_ask(name: str, catalogue: Catalogue) -> Iterator[str]:
    """The call that says why a bridge does not announce an environment of its library's; see `library_specs`."""
    library, _, theirs = name.partition("/")
    members = (env_id for env_id in catalogue.ids if theirs and env_id.startswith(f"{library}/"))
    for spec in (each.spec for env_id in members for each in catalogue.find(env_id)):
        source = spec.kwargs.get("source")
        if spec.family == library and source in (spec.id, spec.id.partition("/")[2]):
            asked = f"{spec.entry_point.replace(':', '.')}({(name if source == spec.id else theirs)!r})"
            yield f"If it is one of {library}'s, {asked} says why envcore leaves it out."
            return


def _to_install(qualifier: str, name: str, installed: set[str], catalogue: Catalogue) -> Iterator[str]:
    """The distribution that has an environment of this name, or of one that is nearer than any installed one's."""
    families = offered("families")
    family = next((each for each in families if name.startswith(f"{each}/")), "")
    if family and not any(each.startswith(f"{family}/") for each in catalogue.ids):
        distribution = families[family]
        if distribution in installed:  # a bridge to several libraries, which announces those that it finds
            extra = f"'{distribution}[{canonicalize_name(family)}]'"
            yield f"{distribution} has '{family}/...' where that library is installed: pip install {extra}."
            return
    members = {f"{family}/...": distribution for family, distribution in families.items()}
    offers = {
        each: distribution
        for each, distribution in (offered("environments") | members).items()
        if distribution not in installed and canonicalize_name(qualifier) in ("", distribution)
    }
    near = (
        [f"{family}/..."]
        if f"{family}/..." in offers
        else nearest(name, [*offers, *([] if qualifier else catalogue.ids)])
    )
    best = next(iter(near), "")
    if best in offers:
        yield f"{offers[best]} has {best!r}: pip install {offers[best]}."
