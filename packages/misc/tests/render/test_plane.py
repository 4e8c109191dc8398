"""Pictures of the robot, the arm and the swimmer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from envcore import painting
from envcore_misc.point_robot import PointRobot
from envcore_misc.reacher import Reacher
from envcore_misc.swimmer import Swimmer
from misc_pictures import REACHER, ROBOT, SWIMMER, render, state_of
from picture_checks import middle, near, places


def test_the_robot_and_its_goal_are_where_they_are() -> None:
    picture = render(ROBOT, 64, last_action=[0, 0])
    scale, above = 2.0, 0.425  # the window is 3 by 2: its height, and the y of its middle
    place = middle(picture, painting.BLUE) * scale + [0, above]
    goal = places(picture, (196, 217, 196)) * scale + [0, above]
    np.testing.assert_allclose(place, [0.2, 0.3], atol=0.02)
    np.testing.assert_allclose((goal.min(0) + goal.max(0)) / 2, [-0.6, 0.8], atol=0.03)
    np.testing.assert_allclose(np.ptp(goal, axis=0), 0.4, atol=0.07)


@pytest.mark.parametrize("rules", ["gymnax", "original"])
@pytest.mark.parametrize("action", [(0.1, 0.0), (-0.05, 0.1), (0.0, -7.0)])
def test_the_tail_points_back_along_the_last_move(rules: Any, action: tuple[float, float]) -> None:
    env = PointRobot(rules=rules)
    picture = render(env, 64, last_action=action)
    back = middle(picture, (160, 184, 217)) - middle(picture, painting.BLUE)
    direction = np.clip(action, -0.1, 0.1)
    np.testing.assert_allclose(back / np.hypot(*back), -direction / np.hypot(*direction), atol=0.08)


@pytest.mark.parametrize(
    ("dense", "reward", "time", "reached"),
    [(False, 1, 5, True), (False, 0, 5, False), (True, -0.1, 5, True), (True, -0.4, 5, False), (True, 0, 0, False)],
)
def test_a_goal_that_was_reached_is_full(dense: bool, reward: float, time: int, reached: bool) -> None:
    picture = render(ROBOT, 64, {"dense_reward": dense}, last_reward=reward, time=time)
    assert (near(picture, painting.GREEN).sum() > 50) == reached
    assert near(picture, (160, 184, 217)).any() != reached


@pytest.mark.parametrize("pos", [(3.0, 0.5), (-9.0, 0.5), (0.0, 8.0), (0.1, -5.0)])
def test_robot_and_swimmer_stay_in_sight_however_far_they_go(pos: tuple[float, float]) -> None:
    for env, name, color in ((ROBOT, "pos", painting.BLUE), (SWIMMER, "xy", painting.ORANGE)):
        picture = render(env, 64, **{name: pos})
        mask = near(picture, color, 20)
        assert mask.sum() > 10
        assert not mask[[0, -1]].any()
        assert not mask[:, [0, -1]].any()


@pytest.mark.parametrize("num_joints", [1, 2, 5])
def test_the_arm_reaches_from_the_origin_to_its_end(num_joints: int) -> None:
    env = Reacher(num_joints=num_joints)
    state = state_of(env, angles=np.full(num_joints, 0.6), goal_xy=[-num_joints, 0])
    picture = env.render(state, env.default_params, height=160)
    side = 1.08 * num_joints
    colors = [painting.BLUE, painting.ORANGE][:num_joints]
    arm = np.concatenate([places(picture, color) for color in colors]) * 2 * side
    along, across = arm @ [np.cos(0.6), np.sin(0.6)], arm @ [-np.sin(0.6), np.cos(0.6)]
    assert along.max() == pytest.approx(num_joints + 0.045 * side, abs=0.02 * side)
    assert np.abs(across).max() == pytest.approx(0.045 * side, abs=0.02 * side)
    np.testing.assert_allclose(middle(picture, painting.GREEN) * 2 * side, [-num_joints, 0], atol=0.01 * side)


def test_angles_of_links_are_absolute() -> None:
    picture = render(REACHER, 160, angles=[0.0, np.pi / 2])
    scale = 2 * 2.16
    np.testing.assert_allclose(middle(picture, painting.ORANGE) * scale, [1.0, 0.52], atol=0.05)
    assert middle(picture, painting.BLUE)[1] * scale == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize("angle", [0.0, 2.0, -1.0])
def test_the_swimmer_turns_to_where_it_swims(angle: float) -> None:
    velocity = [np.cos(angle), np.sin(angle)]
    picture = render(SWIMMER, 160, xy=[-0.3, -0.3], xy_vel=velocity)
    fish = places(picture, painting.ORANGE) * 2.3 + 0.3
    along, across = fish @ velocity, fish @ [-np.sin(angle), np.cos(angle)]
    np.testing.assert_allclose([along.min(), along.max()], [-0.17, 0.17], atol=0.03)
    assert np.ptp(across[along < -0.12]) > 0.1 > np.ptp(across[along > 0.14])  # a broad tail and a pointed head


def test_goal_and_urchins_are_where_they_are() -> None:
    picture = render(SWIMMER, 160)
    np.testing.assert_allclose(middle(picture, painting.GREEN) * 2.3, [0.5, 0.6], atol=0.01)
    urchins = places(picture, painting.RED) * 2.3
    for urchin, place in ((urchins[urchins[:, 0] < 0], [-0.5, 0.5]), (urchins[urchins[:, 0] > 0], [0.7, 0])):
        np.testing.assert_allclose(urchin.mean(0), place, atol=0.01)
        assert np.hypot(*(urchin - place).T).max() == pytest.approx(0.18, abs=0.03)


def test_water_without_urchins() -> None:
    env = Swimmer(num_urchins=0)
    picture = env.render(state_of(env, urchin_xys=np.zeros((0, 2))), env.default_params, height=64)
    assert near(picture, painting.ORANGE).any()
    assert not near(picture, painting.RED, 20).any()
