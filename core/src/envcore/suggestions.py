"""Error messages for unknown names: similar names, what to install, and which plugins were left out.

Imports nothing heavy, because packages without their extras import it to report what is missing.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envcore.plugins import PluginRecord

CORE = "envcore"
"""The name of the core distribution."""

_IS_RELEASED = False
"""Whether envcore is on the package index. Until then, another project has this name there."""

_SUITES = {"classic-control": ("-v0", "-v1"), "bsuite": ("-bsuite",), "minatar": ("-MinAtar",), "misc": ("-misc",)}
"""Suffixes of the ids of each suite."""

_BRIDGED = ("brax", "craftax", "gymnasium", "gymnax", "jaxtari", "jumanji", "navix", "pgx", "playground", "xminigrid")
"""The extras of envcore-bridges, which are prefixes of the ids of their environments."""

_NEEDED = {"adapters": "native", "baselines": "runs", "cli": "runs", "ray": "runs baselines", "viewer": "native"}
"""The other plugins that a plugin requires."""


def nearest(typed: str, names: Iterable[str]) -> list[str]:
    """Returns up to three similar names, the most similar first."""
    originals = {each.lower(): each for each in names}
    return [originals[each] for each in difflib.get_close_matches(typed.lower(), originals)]


def hint(typed: str, names: Iterable[str]) -> str:
    """Returns " Did you mean 'learning_rate'?" for "learning_rat", or an empty string if no name is similar."""
    meant = nearest(typed, names)
    return f" Did you mean {' or '.join(map(repr, meant))}?" if meant else ""


def unknown_param(owner: str, name: object, known: Iterable[str]) -> str:
    """The error message for a param that an environment or a params class does not have."""
    known = list(known)
    return f"{owner} has no param {name!r}; its params: {', '.join(known)}.{hint(str(name), known)}"


def how_to_install(requirement: str) -> str:
    """Returns what to do to install a distribution, optionally with an extra: "envcore-bsuite[analysis]".

    Until the first release, our distributions are installed from a clone of the repository.
    """
    name = requirement.partition("[")[0]
    suite, rest = name.removeprefix("envcore-"), requirement.removeprefix("envcore-")
    if _IS_RELEASED or (suite == name != CORE):
        return f"run `pip install {shlex.quote(requirement)}`"
    folders = [f"packages/{each}" for each in sorted(_SUITES)]
    if name != CORE:
        needed = [f"plugins/{each}" for each in _NEEDED.get(suite, "").split()]
        folders = [*needed, f"{'packages' if suite in _SUITES else 'plugins'}/{rest}"]
    return f"run `pip install ./core {' '.join(shlex.quote(f'./{each}') for each in folders)}` in a clone of envcore"


def unknown_environment(env_id: str, ids: Mapping[str, Any], plugins: Sequence[PluginRecord]) -> str:
    """The error message for an id that `make` cannot find."""
    from envcore.specs import ENTRY_POINT

    module, _, name = env_id.rpartition(":")
    elsewhere = [each for each in ids if each.rpartition(":")[2] == name]
    where = f", and no module {module!r} to import {name} from" if ENTRY_POINT.fullmatch(env_id) else ""
    parts = [f"there is no environment {env_id!r}{where}."]
    if meant := elsewhere or nearest(name, ids):
        parts.append(f"Did you mean {' or '.join(map(repr, meant))}?")
    missing = _missing(name, ids, {plugin.distribution for plugin in plugins})
    parts += [f"Ids like this come from {each}: {how_to_install(each)}." for each in missing]
    parts += left_out(plugins)
    return " ".join([*parts, "Use `list(envcore.registry)` or `envcore list` to see what is installed."])


def left_out(plugins: Iterable[PluginRecord]) -> Iterator[str]:
    """Yields a sentence on each plugin that is not loaded."""
    for plugin in plugins:
        if plugin.status != "loaded":
            yield f"Plugin {plugin.distribution} is {plugin.status}: {plugin.error.rstrip('.')}."


def _missing(name: str, ids: Iterable[str], installed: set[str]) -> Iterator[str]:
    """Yields the distributions to install for an id, based on its suffix or prefix."""
    library, slash, _ = name.partition("/")
    if slash and library in _BRIDGED and not any(each.startswith(f"{library}/") for each in ids):
        yield f"envcore-bridges[{library}]"
    for suite, suffixes in _SUITES.items():
        is_meant = library == suite if slash else name.endswith(suffixes)
        if is_meant and f"envcore-{suite}" not in installed:
            yield f"envcore-{suite}"
