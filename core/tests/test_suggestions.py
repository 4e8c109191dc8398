"""What errors say of a name that is not found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from envcore import suggestions
from envcore.plugins import Announced, Catalogue, PluginRecord
from envcore.specs import EnvSpec
from envcore.suggestions import hint, how_to_install, left_out, nearest, unknown_environment, unknown_param

ROOT = Path(__file__).parents[2]
BROKEN = PluginRecord("bad-suite", "1.2", "main", "bad_suite", "broken", error="ImportError: no disk")
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
        ("breakout-minatar", 0),
        ("Space-Invaders-MinAtar", 1),
        ("CratPole-v1", 2),
        ("CartPole", 2),
        ("MountainCarContinous-v0", 3),
        ("MnistBandit", 4),
    ],
)
def test_the_nearest_comes_first(typed: str, meant: int) -> None:
    assert nearest(typed, WORDS)[0] == WORDS[meant]


@pytest.mark.parametrize("typed", ["", "a", "Nothing like it", ":::"])
def test_nothing_is_near(typed: str) -> None:
    assert nearest(typed, WORDS) == nearest(typed, ()) == []


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("LEARNING_RAT", " Did you mean 'learning_rate'?"),
        ("gravity", ""),
    ],
)
def test_a_hint_names_what_is_spelt_like_it(typed: str, expected: str) -> None:
    assert hint(typed, iter(["learning_rate", "entropy_coefficient", "num_envs"])) == expected


def test_an_unknown_param() -> None:
    expected = "Pole has no param 'lenght'; its params: gravity, length. Did you mean 'length'?"
    assert unknown_param("Pole", "lenght", iter(["gravity", "length"])) == expected


@pytest.mark.parametrize(
    ("requirement", "clone", "index"),
    [
        ("envcore-minatar", "./core ./packages/minatar", "envcore-minatar"),
        ("envcore-bsuite[analysis]", "./core './packages/bsuite[analysis]'", "'envcore-bsuite[analysis]'"),
        (
            "envcore[all]",
            "./core ./packages/bsuite ./packages/classic-control ./packages/minatar ./packages/misc",
            "'envcore[all]'",
        ),
    ],
)
def test_how_to_install_ours(requirement: str, clone: str, index: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suggestions, "_IS_RELEASED", False)
    assert how_to_install(requirement) == f"pip install {clone} in a clone of envcore"
    for folder in re.findall(r"\./[\w/-]+", clone):
        assert (ROOT / folder / "pyproject.toml").exists()
    monkeypatch.setattr(suggestions, "_IS_RELEASED", True)
    assert how_to_install(requirement) == f"pip install {index}"


def test_how_to_install_those_of_others() -> None:
    assert how_to_install("warp-lang") == "pip install warp-lang"


@pytest.mark.parametrize(
    ("env_id", "requirement"),
    [
        ("CartPole-v1", "envcore-classic-control"),
        ("SpaceInvaders-MinAtar", "envcore-minatar"),
        ("envcore-minatar:SpaceInvaders-MinAtar", "envcore-minatar"),
        ("Catch-bsuite", "envcore-bsuite"),
        ("bsuite/catch/0", "envcore-bsuite"),
        ("FourRooms-misc", "envcore-misc"),
        ("jumanji/Snake-v1", "envcore-bridges[jumanji]"),
        ("popgym_arcade/TetrisEasy", "envcore-bridges[popgym-arcade]"),
    ],
)
def test_the_distribution_to_install_is_named(env_id: str, requirement: str) -> None:
    expected = f"{requirement} has environments with such ids: {how_to_install(requirement)}."
    assert expected in message(env_id)
    assert expected in message(env_id, "good-suite:A-v0", "envcore-bridges:brax/ant")


@pytest.mark.parametrize("env_id", ["CartPole-v3", "brax/cheetah", "brax/ant-v0", "Nothing"])
def test_what_is_installed_is_not_named(env_id: str) -> None:
    assert "pip install" not in message(env_id, "envcore-classic-control:CartPole-v1", "envcore-bridges:brax/ant")


@pytest.mark.parametrize(
    ("env_id", "said"),
    [
        ("CartPole-v0", "there is no environment 'CartPole-v0'. Did you mean 'CartPole-v1'?"),
        ("cartpole-V1", "Did you mean 'CartPole-v1'?"),
        ("other:CartPole-v1", "Did you mean 'CartPole-v1'?"),
        ("no_module:Counter", "there is no environment 'no_module:Counter', and no module 'no_module' to import "),
        ("Nothing like it", "there is no environment 'Nothing like it'. `list(envcore.registry)`"),
    ],
)
def test_the_nearest_ids_are_named(env_id: str, said: str) -> None:
    assert said in message(env_id, "good-suite:CartPole-v1", "good-suite:Pendulum-v1")


def test_plugins_that_are_left_out_are_named() -> None:
    loaded = PluginRecord("good-suite", "1.2", "main", "good_suite", "loaded")
    assert list(left_out([loaded, BROKEN])) == ["Plugin bad-suite is broken: ImportError: no disk."]
    assert "Plugin bad-suite is broken: ImportError: no disk." in message("A-v0", plugins=[BROKEN])
