"""Acrobot: its rules, one case per line, and our additions."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from envcore_classic_control.acrobot import Acrobot
from rules import check_rule, rules
from scipy import stats

ENV = Acrobot()
LEFT, STAY, RIGHT = range(3)


def noise(torque: Any) -> Any:
    return torque


CALM = noise(0.0)


def at(joint_angle1: float, joint_angle2: float, velocity_1: float = 0, velocity_2: float = 0) -> dict[str, float]:
    """All four numbers of the state."""
    return {
        "joint_angle1": joint_angle1,
        "joint_angle2": joint_angle2,
        "velocity_1": velocity_1,
        "velocity_2": velocity_2,
    }


to = at


# Numbers with more than three digits: the equations of the book by the Runge-Kutta method, in float64.
@rules(
    ("hanging down, it stays", at(0, 0), STAY, CALM, {}, -1, False),
    ("straight up, it stays and the goal is reached", at(np.pi, 0), STAY, CALM, {}, 0, True),
    ("folded back, it stays", at(0, np.pi), STAY, CALM, {}, -1, False),
    (
        "the joint turns the links apart",
        at(0, 0),
        RIGHT,
        CALM,
        to(-0.013263, 0.0342872, -0.1286619, 0.3345011),
        -1,
        False,
    ),
    ("left does the opposite", at(0, 0), LEFT, CALM, to(0.013263, -0.0342872, 0.1286619, -0.3345011), -1, False),
    ("gravity on both", at(np.pi / 2, 0), STAY, CALM, to(1.4466108, 0.0953943, -1.2394478, 0.9482962), -1, False),
    ("gravity on one", at(0, np.pi / 2), STAY, CALM, to(0.0006826, 1.4917266, 0.0135023, -0.7971852), -1, False),
    ("the first's swing", at(0, np.pi / 2, 2), STAY, CALM, to(0.3949231, 1.466327, 1.8481224, -0.9268995), -1, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end)


# Without weight a torque accelerates the first link by -torque, the second by 2 torque, for 0.2 s.
@rules(
    ("right", at(0, 0), RIGHT, CALM, to(-0.02, 0.04, -0.2, 0.4), -1, False),
    ("noise is added to the torque", at(0, 0), RIGHT, noise(0.5), to(-0.03, 0.06, -0.3, 0.6), -1, False),
    ("also to none", at(0, 0), STAY, noise(-0.5), to(0.01, -0.02, 0.1, -0.2), -1, False),
    ("below the line it goes on", at(1.9, 0, 0.5), STAY, CALM, to(2, 0, 0.5), -1, False),
    ("above it the goal is reached", at(2, 0, 0.5), STAY, CALM, to(2.1, 0, 0.5), 0, True),
    ("the second link may lift the tip", at(2, 1), STAY, CALM, {}, 0, True),
    ("or lower it", at(2.1, 3), STAY, CALM, {}, -1, False),
    ("the first angle is wrapped", at(3.1, 0, 1), STAY, CALM, to(3.3 - 2 * np.pi, 0, 1), 0, True),
    ("the second one too", at(0, -3.1, 0, -1), STAY, CALM, to(0, 2 * np.pi - 3.3, 0, -1), -1, False),
    ("the first speed has a limit", at(0, 0, 12.6), STAY, CALM, to(2.52, 0, 4 * np.pi), 0, True),
    ("the second one too", at(0, 0, 0, -28.5), STAY, CALM, to(0, 2 * np.pi - 5.7, 0, -9 * np.pi), -1, False),
)
def test_rules_without_weight(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end, **WEIGHTLESS)


WEIGHTLESS = {"link_mass_2": 0.0, "link_com_pos_1": 0.0}


@rules(
    (
        "their own swing is left out",
        at(0, np.pi / 2, 2),
        STAY,
        CALM,
        to(0.3796815, 1.5137229, 1.7092262, -0.4748198),
        -1,
        False,
    ),
)
def test_the_equations_of_nips(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(Acrobot("nips"), before, action, draws, after, reward, end)


@rules(
    ("torques, time and inertia", at(0, 0), LEFT, CALM, to(-0.125, 0.25, -0.5, 1.0), -1, False),
    ("the limits of the speeds", at(0, 0, 4, -5), STAY, CALM, to(2, -2.5, 3, -4), -1, False),
)
def test_params(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    numbers = {
        "available_torque": np.array([2.0, 0.0, 0.0]),
        "dt": 0.5,
        "link_moi": 2.0,
        "max_vel_1": 3.0,
        "max_vel_2": 4.0,
    }
    check_rule(ENV, before, action, draws, after, reward, end, **WEIGHTLESS, **numbers)


@pytest.mark.parametrize("name", ["Book", None])
def test_unknown_dynamics_are_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="book_or_nips must be 'book' or 'nips'"):
        Acrobot(book_or_nips=name)


def test_torque_noise_is_uniform() -> None:
    params = ENV.default_params.replace(torque_noise_max=0.5)
    drawn = jax.vmap(ENV.draw, (0, None))(jax.random.split(jax.random.key(0), 20_000), params)
    assert stats.kstest(np.asarray(drawn), "uniform", (-0.5, 1)).pvalue > 0.001
