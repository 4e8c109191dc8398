"""GaussianBandit: its rules, one case per line, its formulas in numpy, and our additions."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from bandits import play
from envcore_misc.gaussian_bandit import GaussianBandit
from rules import check_rule, rules
from scipy import stats

ENV = GaussianBandit()
PARAMS = ENV.default_params
KEYS = jax.random.split(jax.random.key(0), 4000)
NUM_STEPS = 1500
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


def original_obs(params: Any, reward: Any, action: int, time: int) -> np.ndarray:
    shown = 2 * time / params.max_steps_in_episode - 1 if params.normalize_time else time
    return np.array([reward, action == 0, action == 1, shown])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"mean_mu": 0.5, "sigma_p": 2.0, "sigma_l": 3.0, "max_steps_in_episode": 41},
        {"sigma_p": 0.0, "normalize_time": False},
    ],
)
def test_whole_episodes_in_lockstep(changes: dict[str, Any]) -> None:
    params = PARAMS.replace(**changes)
    (obs, state), steps = jax.device_get(play(ENV, params, NUM_STEPS, jax.random.key(1)))
    action, noise, next_obs, after, reward, done, info = steps
    mu, time = float(state.mu), 0
    np.testing.assert_allclose(obs, original_obs(params, 0, 0, 0), atol=1e-6)
    for t in range(NUM_STEPS):
        time += 1
        expected = mu + float(noise[t]) * params.sigma_l if action[t] == 1 else 0.0
        ended = time >= params.max_steps_in_episode
        assert (done[t], info["truncated"][t], info["terminated"][t]) == (ended, ended, False)
        np.testing.assert_allclose(reward[t], expected, atol=2e-6, rtol=1e-6)  # float32, of numbers up to 10
        shown = original_obs(params, expected, action[t], time)
        np.testing.assert_allclose(info["final_obs"][t], shown, atol=2e-6, rtol=1e-6)
        if ended:
            time, shown, mu = 0, original_obs(params, 0, 0, 0), float(after.mu[t])
        np.testing.assert_allclose(next_obs[t], shown, atol=2e-6, rtol=1e-6)
        assert (after.time[t], after.mu[t]) == (time, mu)
    assert done.sum() == NUM_STEPS // params.max_steps_in_episode


def test_draws_are_normal_and_independent() -> None:
    noise = np.asarray(jax.vmap(ENV.draw, (0, None))(KEYS, PARAMS))
    assert stats.kstest(noise, "norm").pvalue > 0.001
    params = PARAMS.replace(mean_mu=0.3, sigma_p=2.5)
    mu = np.asarray(jax.vmap(ENV.reset, (0, None))(KEYS, params)[1].mu)
    assert stats.kstest(mu, stats.norm(0.3, 2.5).cdf).pvalue > 0.001
    _, (_, noise, _, after, _, done, _) = jax.device_get(
        play(ENV, params.replace(max_steps_in_episode=1), NUM_STEPS, KEYS[0])
    )
    assert done.all()
    assert stats.kstest(after.mu, stats.norm(0.3, 2.5).cdf).pvalue > 0.001
    assert abs(np.corrcoef(noise, after.mu)[0, 1]) < 5 / NUM_STEPS**0.5
