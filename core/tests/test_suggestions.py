"""What errors say of a name that is not found."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from envcore import suggestions
from envcore.plugins import Announced, Catalogue, PluginRecord
from envcore.specs import EnvSpec
from envcore.suggestions import how_to_install, nearest, unknown_environment

WORDS = ["Breakout-MinAtar", "SpaceInvaders-MinAtar", "CartPole-v1", "MountainCarContinuous-v0", "MNISTBandit-bsuite"]


def message(env_id: str, *installed: str, plugins: Iterable[PluginRecord] = ()) -> str:
    """The message, where `installed` are ids such as "envcore-minatar:Breakout-MinAtar"."""
    pairs = [each.split(":") for each in installed]
    catalogue = Catalogue(Announced(name, EnvSpec(each, "toy:Counter")) for name, each in pairs)
    records = [PluginRecord(name, "1.2", "main", "suite", "loaded") for name, _ in pairs if name != "local"]
    return unknown_environment(env_id, catalogue, [*records, *plugins])


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Brekout-MinAtar", 0),
        ("Space-Invaders-MinAtar", 1),
        ("CartPole", 2),
        ("MountainCarContinous-v0", 3),
    ],
)
def test_the_nearest_comes_first(typed: str, meant: int) -> None:
    assert nearest(typed, WORDS)[0] == WORDS[meant]


@pytest.mark.parametrize("typed", ["", "a", "Nothing like it", ":::"])
def test_nothing_is_near(typed: str) -> None:
    assert nearest(typed, WORDS) == nearest(typed, ()) == []


def test_how_to_install_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "_IS_RELEASED", False)
    clone = "run `pip install ./core './packages/bsuite[analysis]'` in a clone of envcore"
    assert how_to_install("envcore-bsuite[analysis]") == clone
    with_what_it_needs = "./plugins/runs ./plugins/baselines ./plugins/ray` in a clone of envcore"
    assert how_to_install("envcore-ray").endswith(with_what_it_needs)
    monkeypatch.setattr(suggestions, "_IS_RELEASED", True)
    assert how_to_install("envcore-bsuite[analysis]") == "run `pip install 'envcore-bsuite[analysis]'`"


@pytest.mark.parametrize(
    ("env_id", "requirement"),
    [
        ("CartPole-v1", "envcore-classic-control"),
        ("SpaceInvaders-MinAtar", "envcore-minatar"),
        ("jumanji/Snake-v1", "envcore-bridges[jumanji]"),
    ],
)
def test_the_distribution_to_install_is_named(env_id: str, requirement: str) -> None:
    expected = f"Ids like this come from {requirement}: {how_to_install(requirement)}."
    assert expected in message(env_id)
    assert expected in message(env_id, "good-suite:A-v0", "envcore-bridges:brax/ant")


@pytest.mark.parametrize("env_id", ["CartPole-v3", "brax/cheetah", "brax/ant-v0", "Nothing"])
def test_what_is_installed_is_not_named(env_id: str) -> None:
    assert "pip install" not in message(env_id, "envcore-classic-control:CartPole-v1", "envcore-bridges:brax/ant")
