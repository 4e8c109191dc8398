"""BernoulliBandit: its rules, one case per line, its observations and draws."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore_misc.bernoulli_bandit import BernoulliBandit
from envcore_misc.clock import observed_time
from picture_checks import state_of
from rules import check_rule, rules

KEYS = jax.random.split(jax.random.key(0), 4000)
TASK = {"reward_probs": (0.25, 0.75), "exp_reward_best": 0.75}
PAID = {**TASK, "last_action": 1, "last_reward": 1}
JUST_BELOW_ONE = 1 - 2**-23  # the largest draw


def luck(number: Any) -> Any:
    return number


@rules(
    ("luck below 3/4: the better arm pays", TASK, 1, luck(0.74), {"last_action": 1, "last_reward": 1}, 1, False),
    ("luck of 3/4: it does not", TASK, 1, luck(0.75), {"last_action": 1}, 0, False),
    ("luck below 1/4: the worse arm pays", TASK, 0, luck(0.24), {"last_reward": 1}, 1, False),
    ("luck of 1/4: it does not", TASK, 0, luck(0.25), {}, 0, False),
    ("the last step is forgotten", PAID, 0, luck(0.5), {"last_action": 0, "last_reward": 0}, 0, False),
)
def test_rules(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(BernoulliBandit(), before, action, draws, after, reward, end)


CERTAIN = {"reward_probs": (0, 0.5, 1), "exp_reward_best": 1}


@rules(
    ("an arm of 0 never pays", CERTAIN, 0, luck(0.0), {}, 0, False),
    ("an arm of 1 always does", CERTAIN, 2, luck(JUST_BELOW_ONE), {"last_action": 2, "last_reward": 1}, 1, False),
    ("and one between them by luck", CERTAIN, 1, luck(0.4), {"last_action": 1, "last_reward": 1}, 1, False),
)
def test_rules_of_three_arms(before: Any, action: int, draws: Any, after: Any, reward: float, end: bool) -> None:
    check_rule(BernoulliBandit("independent", 3), before, action, draws, after, reward, end)


def reset_probs(env: BernoulliBandit, **changes: Any) -> np.ndarray:
    params = env.default_params.replace(**changes)
    return np.asarray(jax.vmap(env.reset, (0, None))(KEYS, params)[1].reward_probs)


@pytest.mark.parametrize("low", [0.1, 0.25, 0.4, 0.9])
def test_dependent_arms_are_in_either_order(low: float) -> None:
    first, second = reset_probs(BernoulliBandit(), reward_prob=low).T
    is_low = np.isclose(first, low)
    np.testing.assert_allclose(first, np.where(is_low, low, 1 - low), atol=1e-7)
    np.testing.assert_allclose(first + second, 1, atol=1e-6)
    assert abs(is_low.mean() - 0.5) < 4.5 * 0.5 / len(KEYS) ** 0.5


@pytest.mark.parametrize(("arms", "num_arms"), [("dependent-uniform", 2), ("independent", 2), ("independent", 7)])
def test_uniform_arms(arms: Any, num_arms: int) -> None:
    probs = reset_probs(BernoulliBandit(arms, num_arms))
    assert probs.shape == (len(KEYS), num_arms)
    counts = np.stack([np.histogram(column, 10, (0, 1))[0] for column in probs.T])
    assert (abs(counts - 400) < 4.5 * (400 * 0.9) ** 0.5).all()
    if arms == "independent":
        assert (abs(np.corrcoef(probs.T) - np.eye(num_arms)) < 5 / len(KEYS) ** 0.5).all()
    else:
        np.testing.assert_allclose(probs.sum(1), 1, atol=1e-6)


def test_luck_is_uniform() -> None:
    env = BernoulliBandit()
    drawn = np.asarray(jax.vmap(env.draw, (0, None))(KEYS, env.default_params))
    assert abs(np.histogram(drawn, 10, (0, 1))[0] - 400).max() < 4.5 * (400 * 0.9) ** 0.5


@pytest.mark.parametrize(
    ("env", "changes", "shown"),
    [
        (BernoulliBandit(), {}, [1, 0, 1, -0.5]),
        (BernoulliBandit(time_last=False), {"min_lim": 0.0, "max_lim": 2.0}, [1, 0.5, 0, 1]),
        (BernoulliBandit("independent", 3), {"normalize_time": False}, [1, 0, 1, 0, 25]),
    ],
)
def test_what_an_observation_shows(env: BernoulliBandit, changes: dict[str, Any], shown: list[float]) -> None:
    state = state_of(env, last_action=1, last_reward=1, time=25)
    np.testing.assert_allclose(env.observe(state, env.default_params.replace(**changes)), shown)


def test_the_time_of_an_observation_stops_at_the_limit() -> None:
    params = BernoulliBandit().default_params
    assert [float(observed_time(jnp.int32(time), params, -0.3, 1.7)) for time in (0, 100, 105)] == pytest.approx(
        [-0.3, 1.7, 1.7]
    )


def test_the_regret_is_what_the_best_arm_pays_more() -> None:
    env = BernoulliBandit()
    state = state_of(env, **TASK)
    regrets = [env.step_env(KEYS[0], state, arm)[-1]["regret"] for arm in (0, 1)]
    assert regrets == [0.5, 0]


def test_bad_options() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"arms": "easy"}, "arms must be one of dependent, dependent-uniform, independent, given, got 'easy'"),
        ({"arms": "given", "num_arms": 1}, "at least 2 arms, got num_arms=1"),
        ({"num_arms": 3}, 'arms="dependent" needs num_arms=2, got num_arms=3'),
    ]
    for options, message in bad:
        with pytest.raises(ValueError, match=message):
            BernoulliBandit(**options)
