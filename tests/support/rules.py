"""Tables of literal cases that read as the rules of an environment: they open its test file.

@rules(
    ("right moves a cell", {"position": 3}, RIGHT, None, {"position": 4}, 0, False),
    ("the wall stops it", {"position": 9}, RIGHT, None, {}, 0, False),
    ("the goal ends it", {"position": 8}, RIGHT, None, {"position": 9}, 1, True),
)
def test_rules(before, action, draws, after, reward, end):
    check_rule(Walk(), before, action, draws, after, reward, end)
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore.engine import arguments
from envcore.environment import Environment

TOLERANCE = 2e-6
"""Relative and absolute, of floats: a few roundings of numbers near 1."""


COLUMNS = ("before", "action", "draws", "after", "reward", "end")


def rules(*rows: tuple[Any, ...], columns: tuple[str, ...] = COLUMNS) -> pytest.MarkDecorator:
    """Parametrizes a quick test by rows of: the rule in words, state before, action, draws, state after, reward, end.

    Args:
      *rows: the rule in words, then a value for each column.
      columns: the arguments of the test.
    """
    return pytest.mark.parametrize(
        columns, [pytest.param(*row[1:], id=row[0], marks=pytest.mark.quick) for row in rows]
    )


def check_rule(
    env: Environment,
    before: Mapping[str, Any],
    action: Any,
    draws: Any,
    after: Mapping[str, Any],
    reward: float,
    end: bool,
    /,  # params can have these names: MetaMaze's `reward`
    **params: Any,
) -> None:
    """Fails unless a step leads to this state, reward and end.

    Args:
      env: the environment.
      before: fields of the state before the step; the others are 0.
      action: as `step` takes it.
      draws: what chance decides, as `transition` takes it, in Python numbers or numpy arrays.
      after: fields of the state after the step; the others stay as they were, but for `time`, which counts.
      reward: of the step.
      end: whether it terminates the episode.
      **params: params that differ from the default ones.
    """
    struct = arguments.state_struct(env)
    start = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), struct)
    start = start.replace(**_as(struct, before))
    expected = start.replace(**_as(struct, {"time": int(start.time) + 1, **after}))
    given = arguments.checked_params(env, env.default_params.replace(**params))
    action = arguments.checked_action(env, action, given)
    draws = jax.tree.map(lambda x: jnp.asarray(x, _DTYPES[np.asarray(x).dtype.kind]), draws)

    found = compiled_advance(env)(start, action, draws, given)
    for (path, ours), theirs in zip(
        jax.tree_util.tree_leaves_with_path(found.state), jax.tree.leaves(expected), strict=True
    ):
        name = jax.tree_util.keystr(path)
        np.testing.assert_allclose(ours, theirs, rtol=TOLERANCE, atol=TOLERANCE, err_msg=name)
    np.testing.assert_allclose(found.reward, reward, rtol=TOLERANCE, atol=TOLERANCE, err_msg="reward")
    assert bool(found.terminated) == end


_DTYPES = {"b": np.bool_, "i": np.int32, "u": np.uint32, "f": np.float32}


def _as(struct: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: jnp.asarray(value, getattr(struct, name).dtype) for name, value in fields.items()}


@functools.cache
def compiled_advance(env: Environment) -> Any:
    """`env.advance`, compiled once for all tables of an environment; params as `checked_params` returns them."""
    return jax.jit(env.advance)
