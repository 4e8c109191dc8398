"""Breakout against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import golden
import jax
import jax.numpy as jnp
import minatar_episodes as episodes
import minatar_lockstep as lockstep
import numpy as np
import pytest
from envcore.testing.compilation import quick_jit
from envcore_minatar import breakout
from envcore_minatar.breakout import Breakout, BreakoutDraws

ENV = Breakout(use_minimal_action_set=False)
NUMBERS = ("ball_y", "ball_x", "ball_dir", "pos", "last_y", "last_x", "strike", "terminal", "brick_map")
ORIGINAL = lockstep.by_name(lambda: breakout.start(jnp.bool_(False)), NUMBERS)
RANDOM = (1 / 6,) * 6


def fields(original: Any) -> dict[str, Any]:
    return {name: np.array(getattr(original, name), np.int8) for name in NUMBERS}


def chases(original: Any, rng: np.random.Generator) -> int:
    """Keeps the paddle under the ball, most of the time."""
    if rng.random() < 0.2:
        return int(rng.integers(6))
    return int(np.select([original.ball_x < original.pos, original.ball_x > original.pos], [1, 3], 0))


def test_every_recorded_step() -> None:
    lockstep.check(ORIGINAL, ENV, lockstep.recorded("breakout", lambda recording: BreakoutDraws()))


def test_recorded_resets() -> None:
    def starts(recording: golden.Recording) -> Any:
        return jax.vmap(breakout.start)(jnp.asarray(recording.extras["reset_draw.ball_start"]) == 1)

    lockstep.check_resets(ORIGINAL, "breakout", starts)


@pytest.mark.parametrize("policy", [None, chases])
def test_lockstep_with_the_original(policy: Any) -> None:
    steps = lockstep.played("breakout", ENV, fields, lambda original, draws: [], 3000, policy=policy)
    assert steps.reward.sum() > 100
    lockstep.check(ORIGINAL, ENV, steps)
    lockstep.check_games(ORIGINAL, ENV, steps)


@pytest.mark.slow
def test_episodes_are_distributed_as_the_originals() -> None:
    theirs = episodes.originals_episodes("breakout", RANDOM, 3000)
    ours = episodes.our_episodes(ENV, RANDOM, 3000, 1000)
    episodes.check_same_distribution(ours, theirs)


def test_starts_from_either_side() -> None:
    ball_x = np.asarray(quick_jit(jax.vmap(ENV.reset))(jax.random.split(jax.random.key(0), 1000))[1].ball_x)
    assert set(ball_x) == {0, 9}
    assert abs((ball_x == 9).mean() - 0.5) < 4 * 0.5 / 1000**0.5


def test_last_brick_breaks_while_the_wall_refills_later() -> None:
    """The one event of which the recordings have a single constructed step."""
    brick_map = np.zeros((10, 10), np.int8)
    brick_map[1, 4] = 1
    ball = {"ball_y": 2, "ball_x": 3, "ball_dir": 1, "pos": 0, "last_y": 3, "last_x": 2}
    state = breakout.start(jnp.bool_(False)).replace(**ball, brick_map=brick_map)
    state, reward = ENV.play(state, jnp.int32(0), BreakoutDraws())
    assert reward == 1
    assert not state.brick_map.any()
    _, reward = ENV.play(state, jnp.int32(0), BreakoutDraws())
    assert reward == 0
