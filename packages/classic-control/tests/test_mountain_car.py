"""MountainCar: its rules, a case a line."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore_classic_control.mountain_car import MountainCar
from rules import check_rule, rules

ENV = MountainCar()
PARAMS = ENV.default_params
LEFT, STAY, RIGHT = range(3)
BOTTOM = -np.pi / 6  # of the valley: the slope is the cosine of 3 * position


def at(position: float, velocity: float = 0) -> dict[str, float]:
    """Both numbers of the state."""
    return {"position": position, "velocity": velocity}


to = at


@rules(
    ("at the bottom it stays", at(BOTTOM), STAY, None, {}, -1, False),
    ("right pushes it", at(BOTTOM), RIGHT, None, to(BOTTOM + 0.001, 0.001), -1, False),
    ("left pushes it back", at(BOTTOM), LEFT, None, to(BOTTOM - 0.001, -0.001), -1, False),
    ("it keeps its speed", at(BOTTOM, 0.02), STAY, None, to(BOTTOM + 0.02, 0.02), -1, False),
    ("up to a maximum", at(BOTTOM, 0.07), RIGHT, None, to(BOTTOM + 0.07, 0.07), -1, False),
    ("in both directions", at(BOTTOM, -0.07), LEFT, None, to(BOTTOM - 0.07, -0.07), -1, False),
    ("it rolls down the right hill", at(0), STAY, None, to(-0.0025, -0.0025), -1, False),
    ("a push does not hold it there", at(0), RIGHT, None, to(-0.0015, -0.0015), -1, False),
    ("it rolls down the left hill", at(2 * BOTTOM), STAY, None, to(2 * BOTTOM + 0.0025, 0.0025), -1, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end)


@rules(
    ("the wall on the left stops it", at(-1.19, -0.05), STAY, None, to(-1.2, 0), -1, False),
    ("the car cannot pass it", at(-1.2), LEFT, None, {}, -1, False),
    ("but it can leave it", at(-1.2), RIGHT, None, to(-1.199, 0.001), -1, False),
    ("short of the goal it goes on", at(0.47, 0.02), STAY, None, to(0.49, 0.02), -1, False),
    ("past the goal it ends", at(0.49, 0.02), STAY, None, to(0.51, 0.02), -1, True),
    ("the goal itself counts", at(0.5), STAY, None, {}, -1, True),
    ("not on the way back", at(0.53, -0.02), STAY, None, to(0.51, -0.02), -1, False),
    ("the right edge holds it", at(0.58, 0.05), STAY, None, to(0.6, 0.05), -1, True),
)
def test_ends_of_a_road_without_slope(
    before: Any, action: int, draws: Any, after: Any, reward: float, end: bool
) -> None:
    check_rule(ENV, before, action, draws, after, reward, end, gravity=0)


@rules(
    ("force", at(0), RIGHT, None, to(0.25, 0.25), -1, False),
    ("the maximum speed", at(0, 0.5), RIGHT, None, to(0.5, 0.5), -1, False),
    ("the wall", at(-1.75, -0.5), STAY, None, to(-2, 0), -1, False),
    ("goal, but too slow", at(1), RIGHT, None, to(1.25, 0.25), -1, False),
    ("goal, and fast enough", at(0.75, 0.25), RIGHT, None, to(1.25, 0.5), -1, True),
    ("the edge", at(2, 0.5), STAY, None, {}, -1, True),
)
def test_params(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"min_position": -2.0, "max_position": 2.0, "goal_position": 1.0, "goal_velocity": 0.375, "force": 0.25}
    check_rule(ENV, before, action, draws, after, reward, end, gravity=0, max_speed=0.5, **numbers)


def test_spaces_follow_the_params() -> None:
    space = ENV.observation_space(PARAMS.replace(min_position=-2.0, max_position=1.0, max_speed=0.5))
    assert space.low.tolist() == [-2, -0.5]
    assert space.high.tolist() == [1, 0.5]
