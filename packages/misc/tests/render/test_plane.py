"""Pictures of the robot, the arm and the swimmer."""

from __future__ import annotations

import numpy as np
import pytest
from envcore import painting
from envcore_misc.reacher import Reacher
from misc_pictures import REACHER, ROBOT, SWIMMER, render, state_of
from picture_checks import middle, places


def test_the_robot_and_its_goal_are_where_they_are() -> None:
    picture = render(ROBOT, 64, last_action=[0, 0])
    scale, above = 2.0, 0.425  # the window is 3 by 2: its height, and the y of its middle
    place = middle(picture, painting.BLUE) * scale + [0, above]
    goal = places(picture, (196, 217, 196)) * scale + [0, above]
    np.testing.assert_allclose(place, [0.2, 0.3], atol=0.02)
    np.testing.assert_allclose((goal.min(0) + goal.max(0)) / 2, [-0.6, 0.8], atol=0.03)
    np.testing.assert_allclose(np.ptp(goal, axis=0), 0.4, atol=0.07)


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
