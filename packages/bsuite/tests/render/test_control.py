"""Pictures of cart-poles and of the mountain car."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from bsuite_pictures import KEY, pictures_of, states_of
from envcore import painting
from envcore_bsuite.cartpole import CartPole
from envcore_bsuite.cartpole_swingup import CartPoleSwingup
from picture_checks import middle, near, state_of


@pytest.mark.parametrize("height_threshold", [0.8, 0.2])
def test_the_line_is_where_cartpole_fails(height_threshold: float) -> None:
    env = CartPole()
    params = env.default_params.replace(height_threshold=height_threshold)
    for cosine, is_above in ((height_threshold + 0.1, True), (height_threshold - 0.1, False)):
        picture = env.render(state_of(env, x=0.0, theta=np.arccos(cosine)), params, height=128)
        tip = np.nonzero(near(picture, painting.ORANGE, 50))[0].min() + 0.065 * 128 / 3.5  # its end is round
        line = np.nonzero(near(picture, painting.GREEN, 50))[0].mean()
        assert (tip < line) == is_above
    columns = np.nonzero(near(picture, painting.GREEN, 50))[1]
    assert np.ptp(columns) / 128 * 3.5 == pytest.approx(2 * 3.0, abs=0.1)


@pytest.mark.parametrize(("env", "x", "theta"), [(CartPole(), 1.5, 0.2), (CartPoleSwingup(), -1.5, np.pi - 0.2)])
def test_cart_and_pole_stand_where_they_are(env: Any, x: float, theta: float) -> None:
    picture = env.render(state_of(env, x=x, theta=theta), env.default_params, height=128)
    assert middle(picture, painting.BLUE)[0] * 3.5 == pytest.approx(x, abs=0.03)
    assert middle(picture, painting.ORANGE)[0] * 3.5 == pytest.approx(x + 0.5 * np.sin(theta), abs=0.04)


def test_the_pole_lights_up_where_the_swingup_pays() -> None:
    env = CartPoleSwingup()
    low, high = np.array([[-2.0, -0.9, -2.0], [2.0, 0.9, 2.0]])
    x, theta, theta_dot = np.random.default_rng(0).uniform(low, high, (60, 3)).T
    step = jax.jit(jax.vmap(lambda state: env.step_env(KEY, state, 1)))
    _, states, rewards, *_ = step(states_of(env, x=x, theta=theta, theta_dot=theta_dot))
    pictures = pictures_of(env, states, 64)
    is_lit = near(pictures, painting.GREEN, 20).any(-1).sum(-1) > 2  # the line has one row or two
    np.testing.assert_array_equal(is_lit, rewards > 0)
    assert 10 < is_lit.sum() < 50
