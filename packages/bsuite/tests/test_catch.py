"""Catch against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_tasks import CATCH
from envcore.testing import check_env
from envcore_bsuite.catch import Catch

KEY = jax.random.key(0)


@pytest.mark.parametrize("name", ["catch", "catch.rows6_columns4"])
def test_every_recorded_step(name: str) -> None:
    lockstep.check_recorded(name, CATCH)


@pytest.mark.parametrize("name", ["catch", "catch.rows6_columns4"])
def test_recorded_resets(name: str) -> None:
    lockstep.check_resets(name, CATCH)


def mostly_catches(key: jax.Array, state: Any, params: Any) -> jax.Array:
    chase = 1 + jnp.sign(state.ball_x - state.paddle_x)
    return jnp.where(jax.random.bernoulli(key, 0.6), chase, jax.random.randint(key, (), 0, 3))


@pytest.mark.parametrize(("rows", "columns"), [(10, 5), (2, 1), (3, 4)])
def test_game(rows: int, columns: int) -> None:
    game = lockstep.check_game(lockstep.make("catch", rows=rows, columns=columns), CATCH, mostly_catches, 2000)
    assert game.done.sum() == 2000 // (rows - 1)
    assert (game.reward == 1).sum() > 50
    assert columns == 1 or (game.reward == -1).sum() > 20


def test_balls_fall_in_all_columns_alike() -> None:
    ball_x = jax.vmap(Catch().reset)(jax.random.split(KEY, 2000))[1].ball_x
    counts = np.bincount(ball_x, minlength=5)
    assert len(counts) == 5
    assert (np.abs(counts - 400) < 4 * np.sqrt(2000 * 0.16)).all()


def test_regret_survives_the_reset() -> None:
    env = Catch(rows=2, columns=5)
    _, state = env.reset(KEY)
    regret = 0.0
    for key in jax.random.split(KEY, 10):
        _, state, reward, done, info = env.step(key, state, 0)
        regret += 1 - float(reward)
        assert done
        assert float(state.total_regret) == float(info["total_regret"]) == regret
    assert regret > 0


@pytest.mark.slow
def test_conforms() -> None:
    check_env(*envcore.make("Catch-bsuite"))


@pytest.mark.parametrize("options", [{"rows": 1}, {"columns": 0}])
def test_bad_options(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="at least 2 rows and 1 column"):
        Catch(**options)
