"""Games: what a step does, and how they look and end in a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import jax
import numpy as np
import pytest
from envcore_viewer.play import Game
from terminal import Terminal
from toy import Counter, CounterState

if TYPE_CHECKING:
    from command_line import Run

PLAY = """
import sys
import toy
from envcore import registry
from envcore.specs import EnvSpec
from envcore_cli import main
toy.Fuse.action_names = ()  # without names, no action is idle
for name in ("Counter", "Fuse", "Deck", "Spring"):
    registry.register(f"{{name}}-v0", f"toy:{{name}}")
sys.argv = ["envcore", "play", *{!r}]
main()
"""


def play(*args: str, **size: int) -> Terminal:
    return Terminal(PLAY.format(args), **size)


def test_a_game_stops_at_its_end_until_the_next_one():
    game = Game(Counter(), Counter().default_params, jax.random.key(0))
    for action in (1, 0, 1, 1):
        assert not game.is_over
        game.step(np.int32(action))
    assert game.is_over
    assert (game.steps, game.total, game.reward, game.played) == (4, 1.5, 0.5, "count")
    assert int(game.state.count) == 3
    game.reset()
    assert (game.steps, game.total, game.played, int(game.state.count)) == (0, 0, "", 0)
    assert game.finished == [(4, 1.5)]


def test_a_game_ends_at_its_time_limit():
    game = Game(Counter(), Counter().default_params.replace(max_steps_in_episode=2), jax.random.key(0))
    game.step(np.int32(0))
    assert not game.is_over
    game.step(np.int32(0))
    assert game.is_over


@pytest.mark.slow
def test_a_game_with_an_idle_action_continues_by_itself():
    with play("Counter-v0", "--fps", "1", rows=24, columns=70) as terminal:
        screen = terminal.wait_for("press any key to start  step 0")
        assert not terminal.echoes
        assert "0 wait  1 count  q quit  r new episode  p pause" in screen
        time.sleep(1.5)  # more than a step of this game
        assert "step 0" in terminal.wait_for("press any key to start")
        terminal.press(b"p")  # starts, like any key, and does not pause
        terminal.wait_for("step 1  wait  reward 0  return 0")
        terminal.press(b"1")
        terminal.wait_for("count  reward 0.5  return 0.5")
        terminal.press(b"p")
        terminal.wait_for("paused: press p")
        terminal.press(b"pr")
        terminal.wait_for("step 0  reward 0  return 0")
        for total in ("0.5", "1", "1.5"):
            terminal.press(b"1")
            terminal.wait_for(f"return {total}")
        terminal.wait_for("over: press any key  step")
        np.testing.assert_array_equal(
            terminal.pixels(21)[:, :42], Counter().render(counted(3), Counter().default_params, height=42)
        )
        terminal.press(b"x")
        terminal.wait_for("step 0")
        terminal.press(b"q")
        assert terminal.wait_for_end() == 0
        assert "return 1.5" in terminal.text
        assert terminal.echoes


@pytest.mark.slow
def test_a_game_without_an_idle_action_waits_for_each_key_and_fits_its_terminal():
    with play("Fuse-v0", rows=12, columns=70) as terminal:
        terminal.wait_for("Compiling Fuse-v0.")
        assert "pause" not in terminal.wait_for("r new episode")  # there is nothing to pause
        terminal.press(b"01")  # two keys at once are two steps
        terminal.wait_for("step 2  1  reward 0.5  return 0.5")
        terminal.resize(24, 16)
        terminal.wait_for("step 2  1  rewa\N{HORIZONTAL ELLIPSIS}")
        np.testing.assert_array_equal(
            terminal.pixels(8), Counter().render(counted(1), Counter().default_params, height=16)
        )
        terminal.press(b"\x03")
        assert terminal.wait_for_end() == 130
        assert "No episode of Fuse-v0 was finished." in terminal.text.replace("\n", "")


def test_an_environment_that_cannot_be_played_says_why():
    with play("Deck-v0", rows=24, columns=150) as terminal:
        assert terminal.wait_for_end() == 1
        assert "error: Deck cannot be rendered: its class Deck has to implement render" in terminal.text
        assert terminal.echoes


@pytest.mark.slow
def test_a_terminal_that_is_too_small_waits_for_a_larger_one_and_is_restored():
    with play("Spring-v0", rows=24, columns=40) as terminal:
        terminal.wait_for("press any key to start")
        terminal.press(b"x")
        terminal.wait_for("step 1")
        terminal.resize(24, 1)
        terminal.wait_for("t\n")  # of "too small", letter by letter
        terminal.resize(24, 40)
        terminal.wait_for("return")
        terminal.program.terminate()
        assert terminal.wait_for_end() == 128 + 15
        assert terminal.echoes


def counted(count: int) -> CounterState:
    return Counter().reset(jax.random.key(0))[1].replace(count=np.int32(count))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("Counter-v0",), "envcore play needs a keyboard: run it in a POSIX terminal"),
        (("Counter-v0", "--fps", "0"), "fps must be a number of frames per second, at least 0.01, got 0.0"),
    ],
)
def test_play_says_in_one_line_what_is_wrong(run: Run, args: tuple[str, ...], message: str) -> None:
    code, out, err = run("play", *args)
    assert (code, out) == (1, "")
    assert message in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
