"""GaussianBandit: its rules, one case per line, its observations and draws."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from envcore_misc.gaussian_bandit import GaussianBandit
from picture_checks import state_of
from rules import check_rule, rules
from scipy import stats

ENV = GaussianBandit()
PARAMS = ENV.default_params
KEYS = jax.random.split(jax.random.key(0), 4000)
SAFE, RISKY = range(2)
TASK = {"mu": 0.75}
PAID = {**TASK, "last_action": RISKY, "last_reward": 0.9}


def noise(number: Any) -> Any:
    return number


@rules(
    ("the risky arm pays its mean", TASK, RISKY, noise(0.0), {"last_action": 1, "last_reward": 0.75}, 0.75, False),
    ("and a tenth of the noise", TASK, RISKY, noise(2.0), {"last_action": 1, "last_reward": 0.95}, 0.95, False),
    ("to either side", TASK, RISKY, noise(-10.0), {"last_action": 1, "last_reward": -0.25}, -0.25, False),
    ("the safe arm pays 0, whatever the noise", TASK, SAFE, noise(2.0), {}, 0, False),
    ("the last step is forgotten", PAID, SAFE, noise(0.0), {"last_action": 0, "last_reward": 0}, 0, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end)


@rules(
    ("half of the noise", TASK, RISKY, noise(-2.0), {"last_action": 1, "last_reward": -0.25}, -0.25, False),
)
def test_a_deviation_of_one_half(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(ENV, before, action, draws, after, reward, end, sigma_l=0.5)


@pytest.mark.parametrize(("normalize_time", "shown"), [(True, -0.5), (False, 25)])
def test_what_an_observation_shows(normalize_time: bool, shown: float) -> None:
    state = state_of(ENV, last_action=RISKY, last_reward=0.25, time=25)
    obs = ENV.observe(state, PARAMS.replace(normalize_time=normalize_time))
    np.testing.assert_allclose(obs, [0.25, 0, 1, shown])


def test_draws_are_normal() -> None:
    noise = np.asarray(jax.vmap(ENV.draw, (0, None))(KEYS, PARAMS))
    assert stats.kstest(noise, "norm").pvalue > 0.001
    params = PARAMS.replace(mean_mu=0.3, sigma_p=2.5)
    mu = np.asarray(jax.vmap(ENV.reset, (0, None))(KEYS, params)[1].mu)
    assert stats.kstest(mu, stats.norm(0.3, 2.5).cdf).pvalue > 0.001
