"""Maps keys to actions."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any

import numpy as np
from envcore import spaces
from envcore.environment import Environment
from envcore.errors import EnvironmentDefinitionError

from envcore_viewer.errors import PlayError

IDLE = ("stay", "noop", "wait", "none")
"""Names of no-op actions, which are taken while you press no key."""

RESERVED = {"q": "quit", "r": "new episode", "p": "pause"}

_NAMED = {"left": "left", "right": "right", "up": "up", "down": "down", "fire": "space"}
_SHOWN = {
    "left": "\N{LEFTWARDS ARROW}",
    "right": "\N{RIGHTWARDS ARROW}",
    "up": "\N{UPWARDS ARROW}",
    "down": "\N{DOWNWARDS ARROW}",
}
_NUMBERED = string.digits + "".join(letter for letter in string.ascii_lowercase if letter not in RESERVED)
_AXES = (("left", "right"), ("down", "up"), ("a", "d"), ("s", "w"))


class Controls:
    """Maps keys to the actions of a `Discrete` or `Box` action space.

    Discrete: the arrow keys are mapped to actions called "left", "right", "up" and "down", and the space bar to "fire".
    You can also press the number of an action, or a letter from the eleventh action on.

    Box: two keys set each of the first four components to its smallest and largest value, or to -1 and 1 if it is
    unbounded. The other components stay in the middle.

    Attributes:
      help: pairs of keys and their meaning.
      values: the action of each key. With Box, a component and its value.
      idle: the action while no key is pressed. None if no action is a no-op.

    Raises:
      PlayError: the action space is neither `Discrete` nor a floating-point `Box`.
    """

    def __init__(self, env: Environment, params: Any):
        space = env.action_space(params)
        self._box = space if isinstance(space, spaces.Box) else None
        self.values: dict[str, Any] = {}
        if isinstance(space, spaces.Discrete):
            self.help, self.idle = self._discrete(space, env.action_names)
        elif self._box is not None and np.issubdtype(self._box.dtype, np.floating):
            self.help, self.idle = self._continuous(self._box)
        else:
            raise PlayError(f"{env.name} cannot be played by hand: its actions are {space!r}, not Discrete or Box.")

    def action(self, keys: Sequence[str]) -> Any:
        """Returns the action for keys that are pressed together. None if they are not mapped to an action.

        Discrete: the last key counts. Box: each key sets its component.
        """
        pressed = [self.values[key] for key in keys if key in self.values]
        if not pressed:
            return None
        if self._box is None:
            return pressed[-1]
        action = self.idle.copy()
        for component, value in pressed:
            action.reshape(-1)[component] = value
        return action

    def _discrete(self, space: spaces.Discrete, names: tuple[str, ...]) -> tuple[list[tuple[str, str]], Any]:
        if names and len(names) != space.n:
            raise EnvironmentDefinitionError(f"action_names must name all of {space!r} or none, got {names!r}.")
        shown, idle = [], None
        for i, key in zip(range(space.n), _NUMBERED, strict=False):
            action = np.int32(i)
            name = names[i] if names else str(i)
            keys = [key] if name not in _NAMED else [_NAMED[name], key]
            self.values.update(dict.fromkeys(keys, action))
            shown.append(("/".join(_SHOWN.get(key, key) for key in keys), name))
            if name in IDLE:
                idle = action
        return shown, idle

    def _continuous(self, space: spaces.Box) -> tuple[list[tuple[str, str]], Any]:
        low = np.where(np.isfinite(space.low), space.low, -1).astype(space.dtype)
        high = np.where(np.isfinite(space.high), space.high, 1).astype(space.dtype)
        shown: list[tuple[str, str]] = []
        bounds = zip(low.reshape(-1), high.reshape(-1), strict=True)
        for component, (keys, values) in enumerate(zip(_AXES, bounds, strict=False)):
            for key, value in zip(keys, values, strict=True):
                self.values[key] = component, value
                shown.append((_SHOWN.get(key, key), f"{value:g}" if low.size == 1 else f"[{component}] = {value:g}"))
        return shown, np.asarray((low + high) / 2, space.dtype)
