"""`envcore list` and `envcore plugins`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from envcore import registry
from envcore.plugins import PluginRecord
from envcore.specs import AlgorithmSpec, CommandSpec, EnvSpec, PolicySpec

if TYPE_CHECKING:
    from command_line import Run


def test_list(run: Run) -> None:
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["id", "Broken-v0", "Counter-v0", "Deck-v0"]
    assert "Count to three." in out
    assert "Guess [/red] the cards." in out


def test_list_shows_a_family_in_one_row(run: Run) -> None:
    for n in (8, 9, 10):
        registry.register(
            f"counters/{n}", "toy:Counter", kwargs={"goal": n}, summary=f"Count to {n}.", family="counters"
        )
    registry.register("decks/0", "toy:Deck", family="decks")
    for name in ("Snake-v1", "Maze-v0"):
        registry.register(f"games/{name}", "toy:Deck", summary="Play.", source="Games 1.0", family="games")
    _, out, _ = run("list")
    assert [line.split()[0] for line in out.splitlines()][3:] == ["Deck-v0", "counters/8..10", "decks/0", "games/..."]
    assert out.splitlines()[-1].split(maxsplit=2)[2] == "2 environments: Games 1.0"
    _, out, _ = run("list", "counters")
    assert [line.split()[0] for line in out.splitlines()] == ["id", "counters/8", "counters/9", "counters/10"]
    code, _, err = run("list", "count")
    assert code == 1
    there = "Choose from: local, counters, decks, games.\n"
    assert f"no distribution or family of environments is called 'count'. {there}" in err


@pytest.mark.parametrize("plugins", [(PluginRecord("envcore-a", "1", "a", "a", "loaded", (EnvSpec("A-v0", "a:A"),)),)])
@pytest.mark.parametrize("name", ["a", "envcore-a"])
def test_list_of_a_distribution(run: Run, name: str) -> None:
    assert [line.split()[0] for line in run("list", name)[1].splitlines()] == ["id", "A-v0"]
    assert len(run("list")[1].splitlines()) == 5


@pytest.mark.parametrize(
    "plugins",
    [
        (
            PluginRecord("broken-suite", "2.0", "main", "broken_suite", "broken", (), "ValueError: no rows today"),
            PluginRecord(
                "a-suite",
                "3.0",
                "main",
                "a",
                "loaded",
                (
                    EnvSpec("A-v0", "a:A"),
                    CommandSpec("walk", "", "a:walk"),
                    CommandSpec("run", "", "a:run"),
                    PolicySpec("slow", "", "a:slow"),
                    AlgorithmSpec("learn", "", "a:Learn"),
                ),
            ),
        )
    ],
)
def test_plugins_with_what_they_announce_and_their_errors(run: Run) -> None:
    assert [" ".join(line.split()) for line in run("plugins")[1].splitlines()] == [
        "distribution version status announces",
        "broken-suite 2.0 broken",
        "a-suite 3.0 loaded 1 environment; commands run, walk; policies slow; algorithms learn",
        "broken-suite (broken_suite): ValueError: no rows today",
    ]
    assert run("--version")[1].splitlines()[1:] == ["broken-suite 2.0", "a-suite 3.0"]
    assert "broken-suite is broken. ValueError: no rows today" in run("list")[1]
