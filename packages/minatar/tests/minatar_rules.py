"""One step of a game from a literal state, for the tables of rules that open the tests."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
import rules as table
from envcore.testing.compilation import quick_jit

NOTHING, LEFT, UP, RIGHT, DOWN, FIRE = range(6)


rules = functools.partial(table.rules, columns=("before", "action", "after", "reward", "end"))
"""Parametrizes a test by rows of: the rule in words, fields before, action, fields after, reward, end."""


def check_step(
    env: Any, state: Any, action: int, draws: Any, after: Mapping[str, Any], reward: float, end: bool
) -> Any:
    """Fails unless a step leads to these fields, reward and end; returns the state after it."""
    found, earned = _execute(env)(state, jnp.int32(action), draws)
    expected = {name: np.asarray(value).tolist() for name, value in after.items()}
    fields = {name: np.asarray(getattr(found, name)).tolist() for name in after}
    assert (fields, float(earned), bool(found.terminal)) == (expected, reward, end)
    return found


@functools.cache
def _execute(env: Any) -> Any:
    return quick_jit(env.execute)
