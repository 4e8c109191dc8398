"""What the error says about a name that is not found."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from importlib import resources

import pytest
from envcore.catalogue import Catalogue, Registration
from envcore.installing import CORE, how_to_install
from envcore.plugins import AUTOLOAD_OFF, PluginRecord
from envcore.specs import EnvSpec
from envcore.suggestions import left_out, offered, unknown_environment

BROKEN = PluginRecord("bad-suite", "1.2", "main", "bad_suite", "broken", error="ImportError: no disk")
UNREADABLE = PluginRecord("stranger", "?", "", "", "unreadable", error="it is damaged")


def message(env_id: str, *installed: str, plugins: Iterable[PluginRecord] = ()) -> str:
    """The message, where `installed` are ids such as "envcore-minatar:Breakout-MinAtar"."""
    pairs = [each.split(":") for each in installed]
    catalogue = Catalogue(Registration(name, EnvSpec(each, "toy:Counter")) for name, each in pairs)
    records = [PluginRecord(name, "1.2", "main", "suite", "loaded") for name, _ in pairs if name != "local"]
    return unknown_environment(env_id, catalogue, [*records, *plugins])


# What to install.


@pytest.mark.parametrize(
    ("env_id", "advice"),
    [
        ("CartPole-v1", "envcore-classic-control has 'CartPole-v1'"),
        ("MountainCar-v0", "envcore-classic-control has 'MountainCar-v0'"),
        ("Pendulum-v0", "envcore-classic-control has 'Pendulum-v1'"),
        ("SpaceInvaders-MinAtar", "envcore-minatar has 'SpaceInvaders-MinAtar'"),
        ("space_invader-minatar", "envcore-minatar has 'SpaceInvaders-MinAtar'"),
        ("envcore-minatar:SpaceInvaders-MinAtar", "envcore-minatar has 'SpaceInvaders-MinAtar'"),
        (f"{CORE.title()}_Minatar:SpaceInvaders-MinAtar", "envcore-minatar has 'SpaceInvaders-MinAtar'"),
        ("Catch-bsuite", "envcore-bsuite has 'Catch-bsuite'"),
        ("bsuite/catch/0", "envcore-bsuite has 'bsuite/catch/...'"),
        ("bsuite/deap_sea/11", "envcore-bsuite has 'bsuite/deep_sea/...'"),
        ("FourRooms-misc", "envcore-misc has 'FourRooms-misc'"),
        ("jumanji/Snake-v1", "envcore-bridges[jumanji] has 'jumanji/...'"),
        ("navix/Navix-LavaGapS7-v0", "envcore-bridges[navix] has 'navix/...'"),
        ("envcore-bridges:popgym_arcade/TetrisEasy", "envcore-bridges[popgym-arcade] has 'popgym_arcade/...'"),
    ],
)
@pytest.mark.parametrize("installed", [(), ("good-suite:A-v0", "envcore-example:WindyGridworld-v0")])
def test_names_the_distribution_to_install(env_id: str, advice: str, installed: tuple[str, ...]) -> None:
    requirement = advice.partition(" ")[0]
    assert f"{advice}: {how_to_install(requirement)}. " in message(env_id, *installed)


def test_an_installed_id_that_is_nearer_needs_no_installation() -> None:
    assert "envcore-bsuite has" not in message("CartPole-v0", "envcore-classic-control:CartPole-v1")
    other = message("CartPole-v1", "envcore-bsuite:CartPole-bsuite")
    assert "Did you mean 'CartPole-bsuite'? envcore-classic-control has 'CartPole-v1': pip install" in other


@pytest.mark.parametrize("env_id", ["Pendulum-v1", "other-suite:CartPole-v1", "other-suite:FourRooms-misc", "Nothing"])
def test_does_not_name_what_is_installed_or_not_meant(env_id: str) -> None:
    assert "pip install" not in message(env_id, "envcore-classic-control:CartPole-v1")


@pytest.mark.parametrize("prefix", ["", "theirs/"])  # a bridge to several libraries needs the library's name
def test_names_the_call_that_says_why_a_bridge_leaves_an_environment_out(prefix: str) -> None:
    specs = [
        EnvSpec("theirs/one-v0", "their_bridge.bridge:from_theirs", {"source": f"{prefix}one-v0"}, family="theirs"),
        EnvSpec("other/one", "other:Other", {"size": 3}, family="other"),
    ]
    catalogue = Catalogue(Registration("envcore-theirs", spec) for spec in specs)
    asked = f"If it is one of theirs's, their_bridge.bridge.from_theirs('{prefix}chess') says why"
    assert asked in unknown_environment("theirs/chess", catalogue, [])
    assert "says why" not in unknown_environment("other/chess", catalogue, [])
    assert "says why" not in unknown_environment("theirs/", catalogue, [])


def test_where_bridges_are_installed_the_extra_of_a_library_that_is_missing_is_named() -> None:
    found = message("popgym_arcade/TetrisEasy", "envcore-bridges:gymnax/CartPole-v1")
    assert (
        f"envcore-bridges[popgym-arcade] has 'popgym_arcade/...': {how_to_install('envcore-bridges[popgym-arcade]')}."
        in found
    )
    assert "pip install" not in message("gymnax/CartPole-v2", "envcore-bridges:gymnax/CartPole-v1")


def test_nothing_is_installed() -> None:
    advice = f"No environments are installed at all: {how_to_install('envcore[all]')}."
    assert advice in message("Nothing")
    assert advice in message("Nothing", plugins=[UNREADABLE])
    assert advice not in message("Nothing", "local:A-v0")
    assert advice not in message("Nothing", plugins=[BROKEN])


@pytest.mark.parametrize("kind", ["environments", "families", "commands", "policies"])
def test_the_index_lists_names_by_distribution_and_kind(kind: str) -> None:
    text = resources.files("envcore").joinpath("index.json").read_text()
    index: dict[str, dict[str, list[str]]] = json.loads(text)
    names = [name for lists in index.values() for name in lists.get(kind, ())]
    assert list(offered(kind)) == names  # pyright: ignore[reportArgumentType]
    assert len(set(names)) == len(names) > 0


def test_the_index_is_read_only_when_a_name_is_not_found() -> None:
    code = """if True:
        import sys, envcore
        list(envcore.registry), envcore.registry["CartPole-v1"], "Nothing" in envcore.registry
        print("envcore.suggestions" in sys.modules)
    """
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# Which id is meant.


@pytest.mark.parametrize(
    ("env_id", "nearest"),
    [
        ("CartPole-v0", "Did you mean 'CartPole-v1'?"),
        ("cartpole-V1", "Did you mean 'CartPole-v1'?"),
        ("Cartpole", "Did you mean 'CartPole-v1'?"),
        ("other:CartPole-v1", "Did you mean 'good-suite:CartPole-v1'?"),
        (":CartPole-v1", "Did you mean 'good-suite:CartPole-v1'?"),
        ("", "is called ''. "),
        ("Nothing like it", "is called 'Nothing like it'. "),
    ],
)
def test_names_the_nearest(env_id: str, nearest: str) -> None:
    said = message(env_id, "good-suite:CartPole-v1", "good-suite:Pendulum-v1")
    assert nearest in said
    assert "\n" not in said


# Which plugins are left out.


def test_says_which_plugins_are_left_out_and_why() -> None:
    loaded = PluginRecord("good-suite", "1.2", "main", "good_suite", "loaded")
    assert list(left_out([loaded, BROKEN, UNREADABLE])) == [
        "Plugin bad-suite is broken: ImportError: no disk.",
        "Distribution stranger is unreadable: it is damaged.",
    ]
    assert " ".join(left_out([BROKEN, UNREADABLE])) in message("A-v0", plugins=[BROKEN, UNREADABLE])


def test_with_autoload_off_that_comes_first_and_nothing_is_to_be_installed() -> None:
    off = PluginRecord("envcore-misc", "1.2", "main", "suite", "disabled", error=AUTOLOAD_OFF)
    assert message("CartPole-v1", "local:CartPole-v2", plugins=[off]) == (
        "ENVCORE_PLUGIN_AUTOLOAD is off, so no plugin is loaded; unset it to load them: "
        "no registered environment is called 'CartPole-v1'. Did you mean 'CartPole-v2'?"
    )


def test_what_is_typed_cannot_steer_the_terminal() -> None:
    assert message("\x1b]0;renamed\x07").isprintable()
