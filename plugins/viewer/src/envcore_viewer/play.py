"""Implementation of `envcore play`."""

from __future__ import annotations

import functools
import time
from typing import Any

import jax
import numpy as np
from envcore.engine.arguments import state_struct
from envcore.errors import InvalidArgumentError
from envcore.random import key_of
from envcore.rendering import fitting_height, picture_struct
from envcore_cli.output import console, say
from envcore_native import Stepper, split
from envcore_runs.choice import Choice
from rich.console import Console, Group  # noqa: TID251  # a type
from rich.live import Live
from rich.text import Text

from envcore_viewer.animation import checked_fps
from envcore_viewer.controls import RESERVED, Controls
from envcore_viewer.errors import PlayError
from envcore_viewer.half_blocks import HalfBlocks
from envcore_viewer.keyboard import Keyboard

_LINES_BELOW = 3
_QUIT = {"q", "escape"}
_SMALLEST = 16  # pixels
_PATIENCE = 0.5  # seconds between checks of the terminal's size while waiting for a key


def play(choice: Choice, fps: float | None, seed: int) -> None:
    """Runs the game in the terminal until the player quits, then prints the results.

    Args:
      choice: the environment.
      fps: steps per second. None for the environment's rate, or for one step per key if no action is a no-op.
      seed: the seed of the random key.

    Raises:
      EnvcoreError: there is no terminal, the environment has no picture, or its actions cannot be mapped to keys.
    """
    key = key_of(seed)
    if fps is not None:
        checked_fps(fps)
    keyboard, screen = Keyboard(), console()
    if not screen.is_terminal:
        raise PlayError("envcore play needs a terminal to show pictures: do not redirect its output.")
    if screen.is_dumb_terminal:
        raise PlayError("envcore play cannot show pictures if TERM is dumb or unknown: run it in another terminal.")
    env, params = choice.make()
    picture_struct(env, state_struct(env), params, _SMALLEST)  # raises early if the environment has no picture
    controls = Controls(env, params)
    if fps is None and controls.idle is not None:
        fps = checked_fps(env.render_fps)
    say(f"Compiling {choice.title}.")  # takes a few seconds, before the game appears
    game = Game(env, params, key)
    shown = Live(console=screen, screen=True, auto_refresh=False)
    try:
        with keyboard, shown as live:
            _run(game, controls, keyboard, live, fps)
    finally:
        if not game.finished:
            say(f"No episode of {choice.title} was finished.")
        for number, (steps, total) in enumerate(game.finished, 1):
            say(f"episode {number}: {steps} steps, return {total:g}")


class Game:
    """An environment that a player steps without auto-reset, and the results of finished episodes."""

    def __init__(self, env: Any, params: Any, key: jax.Array):
        self.env, self.params = env, params
        self.finished: list[tuple[int, float]] = []
        self._stepper = Stepper(env, params=params, autoreset="disabled", spend=split)
        self._words: Any = np.asarray(jax.random.key_data(key))
        self.reset()

    @property
    def state(self) -> Any:
        """The environment's state."""
        return self._stepper.state

    def reset(self) -> None:
        """Starts a new episode."""
        self._stepper.start(self._words, spends=True)
        self._words = None  # the next episode continues the random stream of this one
        self.steps, self.total, self.reward, self.is_over, self.played = 0, 0.0, 0.0, False, ""

    def step(self, action: Any) -> None:
        """Takes one step."""
        step = self._stepper.step(action)
        self.reward, self.played = float(step.reward), self._name(action)
        self.total += self.reward
        self.steps += 1
        self.is_over = bool(step.terminated | step.truncated)
        if self.is_over:
            self.finished.append((self.steps, self.total))

    def picture(self, rows: int, columns: int) -> np.ndarray:
        """Renders the state with at most `rows` x `columns` pixels."""
        height = fitting_height(self.env, (rows, columns))
        return np.asarray(_render(self.env, height, self.state, self.params))

    def _name(self, action: Any) -> str:
        if self.env.action_names:
            return self.env.action_names[int(action)]
        return np.array2string(np.asarray(action), precision=2)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _render(env: Any, height: int, state: Any, params: Any) -> jax.Array:
    return env.render(state, params, height=height)


def _run(game: Game, controls: Controls, keyboard: Keyboard, live: Live, fps: float | None) -> None:
    """Runs the game until the player quits. Without a no-op action, the last action repeats."""
    is_paused, repeated, due = False, controls.idle, time.monotonic()
    is_waiting = fps is not None  # without `fps` every step waits for a key anyway
    keys_help = controls.help + [pair for pair in RESERVED.items() if fps is not None or pair[0] != "p"]
    while True:
        notice = "press any key to start" if is_waiting else "paused: press p" if is_paused else ""
        live.update(_screen(game, keys_help, live.console, notice), refresh=True)
        if fps is None or is_waiting or is_paused or game.is_over:
            key, due = keyboard.next(_PATIENCE), time.monotonic()
            keys = [key] if key else []
        else:
            due = max(due + 1 / fps, time.monotonic())
            keys = _keys_until(due, keyboard)
        if _QUIT & set(keys):
            return
        if is_waiting:
            is_waiting = not keys
            keys = [key for key in keys if key not in RESERVED]
            if is_waiting or not keys:
                continue
        if "p" in keys:
            is_paused = not is_paused and fps is not None
        if "r" in keys or (game.is_over and keys):
            game.reset()
            repeated = controls.idle
        elif not game.is_over and not is_paused:
            action = controls.action(keys)
            if action is None and fps is not None:
                action = repeated
            elif controls.idle is None:
                repeated = action
            if action is not None:
                game.step(action)
            if game.is_over:
                keyboard.forget()  # discard keys that were pressed before the player saw the end


def _keys_until(due: float, keyboard: Keyboard) -> list[str]:
    """Returns the keys pressed until `due`, or until a key that quits, resets or pauses."""
    keys: list[str] = []
    while (left := due - time.monotonic()) > 0 and not {*_QUIT, *RESERVED} & set(keys):
        key = keyboard.next(left)
        keys += [key] if key else []
    return keys


def _screen(game: Game, keys: list[tuple[str, str]], console: Console, notice: str) -> Group:
    width, height = console.size
    facts = [f"step {game.steps}", game.played, f"reward {game.reward:g}", f"return {game.total:g}"]
    if game.is_over:
        notice = "over: press any key"
    facts.insert(0, notice)
    lines = (
        Text("  ".join(filter(None, facts)), "bold"),
        Text("  ".join(f"{key} {what}" for key, what in keys), "dim"),
    )
    for line in lines:
        line.no_wrap, line.overflow = True, "ellipsis"
    try:
        picture = HalfBlocks(game.picture(2 * max(1, height - _LINES_BELOW), width))
    except InvalidArgumentError:  # the player may enlarge the terminal again
        picture = Text("too small")
    return Group(picture, *lines)
