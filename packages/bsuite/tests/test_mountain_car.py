"""MountainCar: its rules, one case per line, lockstep with the original, and our additions."""

from __future__ import annotations

from typing import Any

import bsuite_lockstep as lockstep
import jax
import jax.numpy as jnp
import numpy as np
from bsuite_physics import MOUNTAIN_CAR
from envcore_bsuite.mountain_car import MountainCar
from rules import check_rule, rules

LEFT, STAY, RIGHT = range(3)
VALLEY, LEFT_SLOPE = -np.pi / 6, -np.pi / 3  # where the cosine of 3 * position is 0 and -1


def to(position: float, velocity: float) -> dict[str, float]:
    return {"position": position, "velocity": velocity}


# A push adds 0.001 to the velocity, and a slope takes 0.0025 * cos(3 * position) from it.
@rules(
    ("in the valley the car rests", to(VALLEY, 0), STAY, None, {}, -1, False),
    ("right pushes", to(VALLEY, 0), RIGHT, None, to(VALLEY + 0.001, 0.001), -1, False),
    ("left pushes", to(VALLEY, 0), LEFT, None, to(VALLEY - 0.001, -0.001), -1, False),
    ("the right slope pulls to the left", to(0, 0), STAY, None, to(-0.0025, -0.0025), -1, False),
    ("the left slope to the right", to(LEFT_SLOPE, 0), STAY, None, to(LEFT_SLOPE + 0.0025, 0.0025), -1, False),
    ("the speed is limited", to(VALLEY, 0.07), RIGHT, None, to(VALLEY + 0.07, 0.07), -1, False),
    ("also to the left", to(VALLEY, -0.07), LEFT, None, to(VALLEY - 0.07, -0.07), -1, False),
    ("the left wall stops the car", to(-1.19, -0.05), STAY, None, to(-1.2, 0), -1, False),
    ("the right edge holds it", to(0.59, 0.07), RIGHT, None, to(0.6, 0.07), -1, True),
    ("not yet at the goal", to(0.48, 0.02), STAY, None,
     to(0.5 - 0.0025 * np.cos(1.44), 0.02 - 0.0025 * np.cos(1.44)), -1, False),
    ("at the goal", to(0.49, 0.02), STAY, None,
     to(0.51 - 0.0025 * np.cos(1.47), 0.02 - 0.0025 * np.cos(1.47)), -1, True),
    ("999 steps do not end it", {**to(VALLEY, 0), "time": 998}, STAY, None, {}, -1, False),
    ("1,000 do", {**to(VALLEY, 0), "time": 999}, STAY, None, {}, -1, True),
)  # fmt: skip
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    # The return is of all episodes.
    check_rule(MountainCar(), {"raw_return": -41, **before}, action, draws, {"raw_return": -42, **after}, reward, end)


def test_every_recorded_step() -> None:
    assert lockstep.check_recorded("mountain_car", MOUNTAIN_CAR) == 0


def test_recorded_resets() -> None:
    lockstep.check_resets("mountain_car", MOUNTAIN_CAR)


def rocks_at_times(key: jax.Array, state: Any, params: Any) -> jax.Array:
    """Alternates every 1,500 steps: acts at random, or pushes in the direction of motion until it reaches the goal."""
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
