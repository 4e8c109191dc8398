"""One step of a game from a literal state, for the tables of rules that open the tests."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import rules as table
from envcore.engine import arguments
from envcore_minatar.game import MinAtarDraws

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)


rules = functools.partial(table.rules, columns=("before", "action", "after", "reward", "end"))
"""Parametrizes a test by rows of: the rule in words, fields before, action, fields after, reward, end."""


def check_step(
    env: Any, state: Any, action: int, draws: Any, after: Mapping[str, Any], reward: float, end: bool
) -> Any:
    """Fails unless a step leads to these fields, reward and end; returns the state after it."""
    step = table.compiled_advance(env)
    found, earned, terminated, truncated, _ = step(
        state, jnp.int32(action), not_sticky(draws), arguments.default_params(env)
    )
    assert (bool(terminated), bool(truncated)) == (end, False)
    expected = {name: np.asarray(value).tolist() for name, value in after.items()}
    fields = {name: np.asarray(getattr(found, name)).tolist() for name in after}
    assert (fields, float(earned), bool(found.terminal)) == (expected, reward, end)
    return found


def not_sticky(draws: Any, *shape: int) -> MinAtarDraws[Any]:
    """Draws of steps, of this batch shape, with these draws of the game and without sticky actions."""
    return MinAtarDraws(jnp.ones(shape, jnp.float32), draws)
