"""Pictures of bandits."""

from __future__ import annotations

import numpy as np
import pytest
from envcore import painting
from envcore_misc.bernoulli_bandit import BernoulliBandit
from misc_pictures import BERNOULLI, GAUSSIAN, render, state_of
from picture_checks import middle, near, params_of, places


@pytest.mark.parametrize("num_arms", [2, 10])
def test_every_arm_has_a_column_as_high_as_its_probability(num_arms: int) -> None:
    env = BernoulliBandit("given", num_arms)
    probs = np.linspace(0.2, 1.0, num_arms)[::-1]
    state = state_of(env, reward_probs=probs, exp_reward_best=probs.max(), last_reward=0)
    picture = env.render(state, params_of(env), height=96)
    scene = max(3.2, (num_arms + 1.2) / 2)
    full, unit = 96 * (1 - 1.75 / scene), 96 / scene
    for arm, prob in enumerate(probs):
        column = round((picture.shape[1] - 1) / 2 + (arm + 0.5 - num_arms / 2) * unit)
        strip = picture[:, column : column + 1]
        assert near(strip, painting.GREEN if arm == 0 else painting.BLUE).sum() == pytest.approx(prob * full, abs=2)
        assert (near(strip, painting.ORANGE, 40).sum() > 0) == (arm == 1)


def test_a_coin_lies_above_an_arm_that_paid() -> None:
    for arm in (0, 1):
        picture = render(BERNOULLI, 96, last_action=arm)
        coin, disc = middle(picture, painting.YELLOW), middle(picture, painting.ORANGE)
        np.testing.assert_allclose([coin[0], disc[0]], (arm - 0.5) / 3.2, atol=0.01)
        assert coin[1] > 0.3
        assert disc[1] < -0.2
    assert not near(render(BERNOULLI, 96, last_reward=0), painting.YELLOW).any()


def test_the_risky_arm_is_good_above_the_safe_one_and_bad_below() -> None:
    for mu, color, other in ((1.6, painting.GREEN, painting.RED), (-1.6, painting.RED, painting.GREEN)):
        picture = render(GAUSSIAN, 96, mu=mu, last_action=0, last_reward=0.0)
        level = middle(picture, painting.BLUE)[1]
        column = places(picture, color, 30)
        assert not near(picture, other, 15).any()
        assert np.ptp(column[:, 1]) == pytest.approx(1.45 / 2 / 3.2 * 1.6 / 3.2, abs=0.03)
        assert np.sign(column[:, 1].mean() - level) == np.sign(mu)
        assert column[:, 0].min() > 0
