"""MountainCar against the original: its recordings, the package itself, and what only we have."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import envcore
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from bsuite_physics import MOUNTAIN_CAR
from envcore.testing import check_env
from envcore_bsuite.mountain_car import MountainCar


def test_every_recorded_step() -> None:
    assert lockstep.check_recorded("mountain_car", MOUNTAIN_CAR) == 0


def test_recorded_resets() -> None:
    lockstep.check_resets("mountain_car", MOUNTAIN_CAR)


def rocks_at_times(key: jax.Array, state: Any, params: Any) -> jax.Array:
    """Pushes with the speed up to the goal, or acts at random, by turns of 1,500 steps."""
    with_speed = jnp.where(state.velocity < 0, 0, 2)
    rocks = (-state.raw_return).astype(jnp.int32) // 1500 % 2 == 1
    return jnp.where(rocks, with_speed, jax.random.randint(key, (), 0, 3))


def test_game() -> None:
    game = lockstep.check_game(lockstep.make("mountain_car"), MOUNTAIN_CAR, rocks_at_times, 6000)
    lengths = np.diff(np.flatnonzero(game.done), prepend=-1)
    assert (lengths == 1000).sum() >= 1
    assert (lengths < 400).sum() >= 10
    assert (game.state.position == np.float32(-1.2)).sum() >= 5
    assert game.info["raw_return"][-1] == -6000


def test_starts_are_uniform() -> None:
    position = np.asarray(jax.vmap(MountainCar().reset)(jax.random.split(jax.random.key(0), 4000))[1].position)
    assert position.min() >= np.float32(-0.6)
    assert position.max() < -0.4
    assert abs(position.mean() + 0.5) < 4 * 0.2 / (12 * 4000) ** 0.5
    assert abs(position.std() - 0.2 / 12**0.5) < 0.002


@pytest.mark.slow
def test_conforms() -> None:
    check_env(*envcore.make("MountainCar-bsuite"))
