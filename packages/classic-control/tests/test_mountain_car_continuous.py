"""MountainCarContinuous: its rules, one case per line."""

from __future__ import annotations

from typing import Any

import numpy as np
from envcore_classic_control.mountain_car_continuous import MountainCarContinuous
from rules import check_rule, rules

ENV = MountainCarContinuous()
PARAMS = ENV.default_params
BOTTOM = -np.pi / 6  # of the valley: the slope is the cosine of 3 * position


def push(strength: float) -> np.ndarray:
    return np.array([strength], np.float32)


def at(position: float, velocity: float = 0) -> dict[str, float]:
    """Both numbers of the state."""
    return {"position": position, "velocity": velocity}


to, COAST = at, push(0)


@rules(
    ("at the bottom it stays, which costs nothing", at(BOTTOM), COAST, None, {}, 0, False),
    ("a push moves it, and costs", at(BOTTOM), push(1), None, to(BOTTOM + 0.0015, 0.0015), -0.1, False),
    ("back as well", at(BOTTOM), push(-1), None, to(BOTTOM - 0.0015, -0.0015), -0.1, False),
    ("half of it costs a quarter", at(BOTTOM), push(0.5), None, to(BOTTOM + 0.00075, 0.00075), -0.025, False),
    ("more than 1 costs more without effect", at(BOTTOM), push(3), None, to(BOTTOM + 0.0015, 0.0015), -0.9, False),
    ("nor does less than -1", at(BOTTOM), push(-3), None, to(BOTTOM - 0.0015, -0.0015), -0.9, False),
    ("the speed is limited", at(BOTTOM, 0.07), push(1), None, to(BOTTOM + 0.07, 0.07), -0.1, False),
    ("it rolls down the right hill", at(0), COAST, None, to(-0.0025, -0.0025), 0, False),
    ("it rolls down the left hill", at(2 * BOTTOM), COAST, None, to(2 * BOTTOM + 0.0025, 0.0025), 0, False),
)
def test_rules(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end)


@rules(
    ("the wall on the left stops it", at(-1.19, -0.05), COAST, None, to(-1.2, 0), 0, False),
    ("short of the goal it goes on", at(0.42, 0.02), COAST, None, to(0.44, 0.02), 0, False),
    ("the goal is worth 100", at(0.44, 0.02), COAST, None, to(0.46, 0.02), 100, True),
    ("less the last push", at(0.44, 0.02), push(1), None, to(0.4615, 0.0215), 99.9, True),
    ("not on the way back", at(0.48, -0.02), COAST, None, to(0.46, -0.02), 0, False),
    ("the right edge holds it", at(0.58, 0.05), COAST, None, to(0.6, 0.05), 100, True),
)
def test_ends_of_a_road_without_slope(
    before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool
) -> None:
    check_rule(ENV, before, action, draws, after, reward, end, gravity=0)


@rules(
    ("the minimum push", at(0), push(-3), None, to(-0.02, -0.02), -0.9, False),
    ("the maximum push", at(0), push(3), None, to(0.005, 0.005), -0.9, False),
    ("goal, but too slow", at(0.19, 0.02), COAST, None, to(0.21, 0.02), 0, False),
    ("goal, and fast enough", at(0.19, 0.04), COAST, None, to(0.23, 0.04), 100, True),
)
def test_params(before: Any, action: Any, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {"min_action": -2.0, "max_action": 0.5, "power": 0.01, "goal_position": 0.2, "goal_velocity": 0.03}
    check_rule(ENV, before, action, draws, after, reward, end, gravity=0, **numbers)


def test_action_space_follows_the_params() -> None:
    space = ENV.action_space(PARAMS.replace(min_action=-2.0, max_action=0.5))
    assert (space.low.tolist(), space.high.tolist()) == ([-2], [0.5])
