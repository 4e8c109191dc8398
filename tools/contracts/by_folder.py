"""Contracts of import-linter in which a folder, such as `packages/*`, stands for the packages in it.

import-linter has patterns for modules, but each package must be named. With these a new suite is under every contract
without a line in `pyproject.toml`.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import grimp
from importlinter.contracts.acyclic_siblings import AcyclicSiblingsContract
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from importlinter.domain.contract import Contract, ContractCheck


class _ByFolder(Contract):
    """Puts packages in the place of folders, and adds them to the graph of the root packages."""

    def __init__(self, name: str, session_options: dict[str, Any], contract_options: dict[str, Any]):
        super().__init__(name, session_options, {key: _expanded(value) for key, value in contract_options.items()})
        folders = {word for value in contract_options.values() for word in _words(value) if "/" in word}
        found = {package for folder in folders for package in packages_in(folder)}
        self._roots = tuple(sorted({*session_options["root_packages"], *found}))

    def check(self, graph: grimp.ImportGraph, verbose: bool) -> ContractCheck:
        return super().check(copy.deepcopy(_graph(self._roots)), verbose)  # pyright: ignore[reportAbstractUsage]


class Layers(_ByFolder, LayersContract):
    """The contract `layers`."""


class Forbidden(_ByFolder, ForbiddenContract):
    """The contract `forbidden`."""


class AcyclicSiblings(_ByFolder, AcyclicSiblingsContract):
    """The contract `acyclic_siblings`."""


def packages_in(folder: str) -> list[str]:
    """The packages of the distributions in folders that match a pattern.

    Raises:
      ValueError: there are none, so the contract would say nothing.
    """
    names = sorted(path.parent.name for path in Path().glob(f"{folder}/src/*/__init__.py"))
    if not names:
        raise ValueError(f"no distribution lies in {folder}.")
    return names


def _expanded(value: Any) -> Any:
    """An option with packages for folders: more entries of a list, or more members of a layer."""
    if not isinstance(value, list):
        return value
    entries: list[str] = []
    for entry in value:
        if "|" in entry:
            entries.append(" | ".join(name for word in entry.split(" | ") for name in _names(word)))
        else:
            entries += _names(entry)
    return entries


def _names(word: str) -> Sequence[str]:
    return packages_in(word) if "/" in word else [word]


def _words(value: Any) -> list[str]:
    return [word for entry in value for word in entry.split(" | ")] if isinstance(value, list) else []


@functools.lru_cache
def _graph(roots: tuple[str, ...]) -> grimp.ImportGraph:
    return grimp.build_graph(*roots, include_external_packages=True)
