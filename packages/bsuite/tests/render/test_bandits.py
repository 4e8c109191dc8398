"""Pictures of bandits."""

from __future__ import annotations

import mnist_files
import numpy as np
import pytest
from bsuite_pictures import pictures_of, states_of
from envcore import painting
from envcore_bsuite.bandit import SimpleBandit
from envcore_bsuite.mnist import MNISTBandit
from picture_checks import near, state_of


@pytest.mark.parametrize("arms", [2, 50])
def test_bars_show_the_arms_rewards(arms: int) -> None:
    env = SimpleBandit(num_actions=arms)
    picture = env.render(state_of(env), env.default_params, height=222)  # from -0.17 to 0.61 arms
    bars = near(picture, painting.BLUE, 30) | near(picture, painting.GREEN, 30)
    columns = np.round(((np.arange(arms) + 0.5) / arms - 0.5) / 0.78 * 222 + 166).astype(int)
    rewards = np.asarray(env.default_params.rewards)
    np.testing.assert_allclose(bars[:, columns].sum(0) / 222 * 0.78 / 0.5, rewards, atol=0.02)
    is_best = near(picture, painting.GREEN, 30)[:, columns].any(0)
    np.testing.assert_array_equal(is_best, rewards == 1)


def test_the_gauge_shows_the_regret(mnist: MNISTBandit) -> None:
    for env in (SimpleBandit(), mnist):
        regrets = np.array([0.0, 1.0, 30.0, 3000.0, 10_000.0, 1e6])
        pictures = pictures_of(env, states_of(env, total_regret=regrets), 64)
        lengths = near(pictures, painting.RED, 50).any(-2).sum(-1)
        assert lengths[0] == 0
        assert list(lengths[:-1]) == sorted(set(lengths[:-1]))
        assert lengths[-2] == lengths[-1]
        assert lengths[-1] / lengths[3] == pytest.approx(np.log(10_000) / np.log(3000), abs=0.05)


def test_the_image_is_shown_pixel_by_pixel(mnist: MNISTBandit) -> None:
    picture = mnist.render(state_of(mnist, index=3), mnist.default_params, height=4 * 38)
    images = mnist_files.random_images().images
    shown = picture[8 : 8 + 4 * 28, 10:][2::4, 2::4][:, :28]
    levels = 255 + images[3, ..., None] / 255 * (np.array(painting.INK) - 255)
    np.testing.assert_allclose(np.asarray(shown, float), levels, atol=1)
    signed = MNISTBandit(signed_pixels=True, folder=mnist.folder)
    same = signed.render(state_of(signed, index=3), signed.default_params, height=4 * 38)
    np.testing.assert_array_equal(same, picture)
