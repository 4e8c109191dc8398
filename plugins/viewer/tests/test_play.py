from __future__ import annotations

import time
from typing import Any

import jax
import numpy as np
import pytest
from envcore import spaces
from envcore_viewer.controls import Controls
from envcore_viewer.errors import PlayError
from envcore_viewer.half_blocks import HalfBlocks
from envcore_viewer.keyboard import parse_keys
from envcore_viewer.play import Game
from rich.console import Console
from terminal import Terminal
from toy import Counter, CounterState

PLAY = """
import sys
import toy
from envcore import registry
from envcore.specs import EnvSpec
from envcore_cli import main
toy.Fuse.action_names = ()  # without names, no action is idle
toy.Still = type("Still", (toy.Counter,), {{"render_fps": 0}})
toy.Misnamed = type("Misnamed", (toy.Counter,), {{"action_names": ("a",)}})
for name in ("Counter", "Fuse", "Deck", "Spring", "Still", "Misnamed"):
    registry.register(f"{{name}}-v0", f"toy:{{name}}")
sys.argv = ["envcore", "play", *{!r}]
main()
"""


def play(*args: str, **size: int) -> Terminal:
    return Terminal(PLAY.format(args), **size)


def with_actions(space: spaces.Space, *names: str) -> Counter:
    class Other(Counter):
        action_names = names

        def action_space(self, params: Any = None) -> Any:
            return space

    return Other()


class TestKeys:
    @pytest.mark.parametrize(
        ("data", "keys"),
        [
            (b"a", ["a"]),
            (b"aQ 7\n", ["a", "q", "space", "7", "enter"]),
            (b"\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]),
            (b"\x1bOA1\x1bOD", ["up", "1", "left"]),
            (b"\x1b", ["escape"]),
            (b"\x1b[3~\x1b[1;5Cx", ["x"]),  # Delete and Ctrl-Right have no names
            (b"\xc3\xa4;\x00\t", []),
            (b"\x1b[", []),
            (b"", []),
        ],
    )
    def test_names(self, data, keys):
        assert parse_keys(data) == keys


class TestControls:
    def test_named_actions_have_their_arrows_and_all_have_numbers(self):
        env = with_actions(spaces.Discrete(6), "noop", "left", "up", "right", "down", "fire")
        controls = Controls(env, None)
        arrows = [controls.action([key]) for key in ("left", "up", "right", "down", "space")]
        assert arrows == [1, 2, 3, 4, 5]
        assert [controls.action([str(i)]) for i in range(6)] == list(range(6))
        assert controls.idle == 0
        assert controls.help[1] == ("\N{LEFTWARDS ARROW}/1", "left")
        assert all(env.action_space(env.default_params).contains(controls.action([str(i)])) for i in range(6))

    def test_the_newest_key_counts_and_others_do_not(self):
        controls = Controls(Counter(), None)
        assert controls.action(["0", "1", "x"]) == 1
        assert controls.action(["x", "q"]) is controls.action([]) is None

    def test_without_an_idle_action_there_is_none(self):
        assert Controls(with_actions(spaces.Discrete(3), "left", "jump", "right"), None).idle is None
        assert Controls(with_actions(spaces.Discrete(3)), None).idle is None

    def test_more_than_ten_actions_continue_with_free_letters(self):
        controls = Controls(with_actions(spaces.Discrete(40)), None)
        assert [controls.action([key]) for key in "09aozs"] == [0, 9, 10, 24, 32, 25]
        assert all(controls.action([key]) is None for key in "qrp")

    def test_keys_of_a_box_are_its_bounds(self):
        box = spaces.Box(np.array([-2.0, 0.0, -np.inf, -1.0, -1.0]), np.array([2.0, 1.0, np.inf, 1.0, 1.0]), (5,))
        controls = Controls(with_actions(box), None)
        np.testing.assert_array_equal(controls.idle, np.array([0, 0.5, 0, 0, 0], np.float32))
        np.testing.assert_array_equal(controls.action(["left", "up", "d"]), np.array([-2, 1, 1, 0, 0], np.float32))
        np.testing.assert_array_equal(controls.action(["right", "down", "a"]), np.array([2, 0, -1, 0, 0], np.float32))
        assert controls.action(["1"]) is None
        assert controls.action(["w"]).dtype == np.float32

    @pytest.mark.parametrize(
        "space", [spaces.MultiDiscrete([2, 3]), spaces.Tuple([spaces.Discrete(2)]), spaces.Box(0, 9, (2,), np.int32)]
    )
    def test_other_actions_are_an_error(self, space):
        with pytest.raises(
            PlayError, match=r"^Other cannot be played by hand: its actions are .*, not Discrete or Box"
        ):
            Controls(with_actions(space), None)


class TestHalfBlocks:
    @pytest.mark.parametrize("height", [1, 2, 7])
    def test_two_pixels_per_character(self, height):
        picture = np.random.default_rng(0).integers(0, 2, (height, 9, 3)).astype(np.uint8) * 255
        console = Console(color_system="truecolor", force_terminal=True, width=20, legacy_windows=False)
        lines = console.render_lines(HalfBlocks(picture), pad=False)
        assert len(lines) == -(-height // 2)
        for row, line in enumerate(lines):
            cells: list[Any] = [segment.style for segment in line for _ in segment.text]
            assert "".join(segment.text for segment in line) == "\N{UPPER HALF BLOCK}" * 9
            for column, style in enumerate(cells):
                assert tuple(style.color.triplet) == tuple(picture[2 * row, column])
                lower = tuple(picture[2 * row + 1, column]) if 2 * row + 1 < height else None
                assert (tuple(style.bgcolor.triplet) if style.bgcolor else None) == lower


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


@pytest.mark.parametrize(
    ("env_id", "message"),
    [
        ("Deck-v0", "Deck cannot be rendered: its class Deck has to implement render"),
        pytest.param(
            "Still-v0", "Still.render_fps must be more than 0 and at most 1000, got 0", marks=pytest.mark.slow
        ),
        pytest.param(
            "Misnamed-v0", "action_names must name all of Discrete(2) or none, got ('a',)", marks=pytest.mark.slow
        ),
    ],
)
def test_an_environment_that_cannot_be_played_says_why(env_id, message):
    with play(env_id, rows=24, columns=150) as terminal:
        assert terminal.wait_for_end() == 1
        assert f"error: {message}" in terminal.text
        assert terminal.echoes


@pytest.mark.slow
def test_a_dumb_terminal_is_an_error(monkeypatch):
    monkeypatch.setattr("terminal.TERM", "dumb")
    with play("Counter-v0", columns=100) as terminal:
        assert terminal.wait_for_end() == 1
        assert "error: envcore play cannot show pictures where TERM is dumb or unknown" in terminal.text


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
