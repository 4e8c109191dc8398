"""What a plugin announces: which values the rows accept, and which they refuse."""

from __future__ import annotations

from typing import Any

import pytest
from envcore.errors import InvalidArgumentError
from envcore.specs import AlgorithmSpec, CommandSpec, EnvSpec, NamedSpec, PolicySpec


def row(**changes: Any) -> EnvSpec:
    fields: dict[str, Any] = {"id": "Corridor-v0", "entry_point": "my_package.corridor:Corridor"}
    return EnvSpec(**fields | changes)


@pytest.mark.parametrize("env_id", ["X", "CartPole-v1", "bsuite/catch/0", "4x4_Lake+ice.v2"])
def test_ids(env_id: str) -> None:
    assert row(id=env_id).id == env_id


@pytest.mark.parametrize("env_id", ["", "-v0", "a b", "a:b", "é", "../a"])
def test_odd_ids(env_id: str) -> None:
    with pytest.raises(InvalidArgumentError, match="must start with a letter or digit"):
        row(id=env_id)


@pytest.mark.parametrize("entry_point", ["", "a:", ":B", "a.b", "a:B:C", "a..b:C"])
def test_malformed_entry_points(entry_point: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"'Corridor-v0' must be 'package\.module:Class'"):
        row(entry_point=entry_point)


def test_a_family_is_a_prefix_of_the_id() -> None:
    assert row(id="bsuite/catch/0", family="bsuite/catch").family == "bsuite/catch"
    for family in ("catch", "bsuite/catch/0", "bsuite/cat", "bsuite/catch/"):
        with pytest.raises(InvalidArgumentError, match="must be the part of the id before a '/'"):
            row(id="bsuite/catch/0", family=family)


@pytest.mark.parametrize("kind", [CommandSpec, PolicySpec, AlgorithmSpec])
def test_names_are_words(kind: type[NamedSpec]) -> None:
    for name in ("x", "train-agent", "bsuite_2"):
        assert kind(name, "", "my_package.commands:walk").name == name
    for name in ("", "-x", "x--y", "Render", "2d", "a b", "é"):
        with pytest.raises(InvalidArgumentError, match=rf"the name of {kind.__name__} .* must be words of a-z"):
            kind(name, "Walk.", "my_package.commands:walk")
