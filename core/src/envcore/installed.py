"""Which installed distributions have entry points in a group.

Distributions are read one by one, so that a damaged one affects no other. If one is installed several times, the first
folder on `sys.path` counts, as it does for imports, and in one folder the newest version. What an interrupted pip
leaves behind is ignored.
"""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import importlib_metadata
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

_ENTRY_POINTS = "entry_points.txt"
_METADATA_FOLDER = re.compile(r"([^-]+)(-.*)?\.(dist|egg)-info", re.IGNORECASE)
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def announcing(group: str) -> list[Copy]:
    """The distributions that have entry points in `group`, or unreadable ones: one copy of each, sorted by name."""
    chosen = [_best(each) for each in _by_name(group).values() if any(copy.matters for copy in each)]
    return sorted((copy for copy in chosen if copy.matters), key=lambda copy: copy.name)


def silent(group: str) -> list[Copy]:
    """The distributions without an entry point in `group`: one copy of each, sorted by name."""
    return sorted(
        (each[0] for each in _by_name(group).values() if not any(copy.matters for copy in each)),
        key=lambda copy: copy.name,
    )


def _by_name(group: str) -> dict[str, list[Copy]]:
    copies: dict[str, list[Copy]] = {}
    for distribution in _distributions():
        copy = Copy(distribution, group)
        if not copy.path.name.startswith("~"):  # pip has renamed it for a removal that it never finished
            copies.setdefault(copy.name, []).append(copy)
    return copies


class Copy:
    """A distribution as one folder describes it, read lazily because there may be hundreds of them.

    Attributes:
      path: the folder of its metadata.
      entry_points: those in the group, as `importlib_metadata.EntryPoint` objects, sorted by name.
      damage: what went wrong when `entry_points.txt` was read; None if it is valid or missing.
      names_group: whether `entry_points.txt` names the group, even if it is damaged.
    """

    def __init__(self, distribution: Any, group: str):
        self._distribution = distribution
        self.path = Path(str(getattr(distribution, "_path", "")))
        self._name_in_path = _METADATA_FOLDER.fullmatch(self.path.name)
        self.entry_points: tuple[Any, ...] = ()
        self.damage: Exception | None = None
        try:
            in_group = (each for each in distribution.entry_points if each.group == group)
            self.entry_points = tuple(sorted(in_group, key=lambda each: (each.name, each.value)))
            self.names_group = bool(self.entry_points)
            if self._name_in_path and not self.names_group:
                with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                    (self.path / _ENTRY_POINTS).open().close()  # the library treats one that may not be read as missing
        except Exception as error:
            self.damage = error
            self.names_group = group in self._damaged_text()

    @property
    def matters(self) -> bool:
        """Whether it has entry points in the group, or may have."""
        return self.names_group or self.damage is not None

    @functools.cached_property
    def metadata(self) -> Any:
        """The fields of its metadata; None if they cannot be read or lack a valid name."""
        try:
            metadata = self._distribution.metadata
            return metadata if _canonical(metadata.get("Name") or "") else None
        except Exception:
            return None

    @functools.cached_property
    def name(self) -> str:
        """Its canonical name, taken from its folder where nothing else is read anyway; "?" if it has none."""
        in_path = _canonical(self._name_in_path[1]) if self._name_in_path else ""
        if (self.matters or not in_path) and self.metadata is not None:
            return _canonical(self.metadata["Name"])
        return in_path or "?"

    @property
    def version(self) -> str:
        """Its version; "?" if it has no valid one."""
        try:
            return str(Version(self.metadata["Version"]))
        except (InvalidVersion, KeyError, TypeError):
            return "?"

    @property
    def groups(self) -> list[str]:
        """The groups of its entry points."""
        return list(dict.fromkeys(each.group for each in self._distribution.entry_points))

    @property
    def requires(self) -> list[str]:
        """The requirements that its metadata names."""
        return list(self._distribution.requires or ())

    def _damaged_text(self) -> str:
        try:
            return self._distribution.read_text(_ENTRY_POINTS) or ""
        except UnicodeDecodeError as error:
            return error.object.decode(errors="replace")
        except Exception:
            return ""


def _distributions() -> Iterator[Any]:
    # Entries that are not strings are skipped by imports too.
    path = [entry for entry in sys.path if isinstance(entry, str) and "\0" not in entry]
    context = importlib_metadata.DistributionFinder.Context(path=path)
    for finder in sys.meta_path:
        # `importlib_metadata.distributions` would end at the first finder that raises.
        with contextlib.suppress(Exception):
            yield from finder.find_distributions(context)  # pyright: ignore[reportAttributeAccessIssue]


def _best(copies: list[Copy]) -> Copy:
    if len(copies) == 1:
        return copies[0]
    folders = list(dict.fromkeys(copy.path.parent for copy in copies))

    def rank(copy: Copy) -> tuple[Any, ...]:
        in_front = -folders.index(copy.path.parent)
        version = Version("0" if copy.version == "?" else copy.version)
        return copy.metadata is not None, in_front, copy.damage is None, copy.names_group, version

    return max(copies, key=rank)


def _canonical(name: str) -> str:
    """A distribution's name as installers write it; "" if it is not a valid one."""
    name = canonicalize_name(name)
    return name if _NAME.fullmatch(name) else ""
