"""Commands, policies and algorithms: found by name among those of all plugins."""

from __future__ import annotations

from typing import Any

import pytest
from envcore import announced, registry
from envcore.announced import Announced
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore.plugins import PluginRecord
from envcore.registration import Registry
from envcore.specs import AlgorithmSpec, CommandSpec, NamedSpec, PolicySpec

KINDS = {CommandSpec: "commands", PolicySpec: "policies", AlgorithmSpec: "algorithms"}


@pytest.fixture(params=KINDS, ids=[*KINDS.values()])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> type[NamedSpec]:
    """One kind, of which two plugins announce some; another kind has the same name."""

    def record(distribution: str, *names: str) -> PluginRecord:
        rows = tuple(request.param(name, "", f"{distribution}_module:thing") for name in names)
        others = {each: (cls("other", "", "a:b"),) for cls, each in KINDS.items() if cls is not request.param}
        fields: dict[str, Any] = {**others, KINDS[request.param]: rows}
        return PluginRecord(distribution, "1", "main", "", "loaded", **fields)

    records = record("json", "twin", "walk"), record("base64", "twin", "run")
    monkeypatch.setattr("envcore.registration.discover", lambda: records)
    monkeypatch.setattr(registry, "__dict__", vars(Registry()))
    return request.param


def find(kind: type[NamedSpec], name: str) -> Announced[NamedSpec] | None:
    return announced.find(kind, name, InvalidArgumentError)


def test_names_are_sorted_and_qualified_where_they_are_ambiguous(kind: type[NamedSpec]) -> None:
    assert list(announced.by_name(kind)) == ["run", "base64:twin", "json:twin", "walk"]
    assert list(announced.by_name(kind, {"walk"})) == ["run", "base64:twin", "json:twin", "json:walk"]


def test_a_name_is_found_alone_or_qualified(kind: type[NamedSpec]) -> None:
    found = find(kind, "walk")
    assert found == find(kind, "JSON:walk")
    assert found == Announced("json", kind("walk", "", "json_module:thing"))
    assert find(kind, "other") is find(kind, "base64:walk") is None
    with pytest.raises(InvalidArgumentError) as caught:
        find(kind, "twin")
    expected = f"the {kind.kind} 'twin' is announced by several distributions: use 'base64:twin' or 'json:twin'."
    assert str(caught.value) == expected


def test_what_is_announced_is_imported_when_it_is_loaded(kind: type[NamedSpec]) -> None:
    assert Announced("x", kind("load", "", "json:loads")).load(EnvcoreError)("[1]") == [1]
    with pytest.raises(InvalidArgumentError) as caught:
        Announced("x", kind("load", "", "no_such_module:f")).load(InvalidArgumentError)
    start = f"the {kind.kind} x:load points at 'no_such_module:f', which cannot be imported: ModuleNotFoundError: "
    assert str(caught.value).startswith(start)
