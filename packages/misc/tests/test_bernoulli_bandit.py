"""BernoulliBandit: its rules, one case per line, the original's formulas in numpy, and our additions."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest
from bandits import play
from envcore_misc.bernoulli_bandit import BernoulliBandit
from rules import check_rule, rules

KEYS = jax.random.split(jax.random.key(0), 4000)
NUM_STEPS = 1500
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


def original_obs(env: BernoulliBandit, params: Any, reward: Any, action: int, time: int) -> np.ndarray:
    one_hot = np.zeros(env.num_arms)
    one_hot[action] = 1
    last = params.max_steps_in_episode
    shown = (params.max_lim - params.min_lim) * time / last + params.min_lim if params.normalize_time else time
    return np.array([reward, *one_hot, shown] if env.time_last else [reward, shown, *one_hot])


@pytest.mark.parametrize(
    ("env", "changes"),
    [
        (BernoulliBandit(), {}),
        (BernoulliBandit(time_last=False), {"reward_prob": 0.4, "min_lim": -0.5, "max_lim": 2.0}),
        (BernoulliBandit("dependent-uniform"), {"max_steps_in_episode": 41}),
        (BernoulliBandit("independent", 5, time_last=False), {"normalize_time": False}),
        (BernoulliBandit("given", 3), {"max_steps_in_episode": 250, "reward_probs": np.array([0.2, 1.0, 0.0])}),
    ],
)
def test_whole_episodes_in_lockstep(env: BernoulliBandit, changes: dict[str, Any]) -> None:
    params = env.default_params.replace(**changes)
    (obs, state), steps = jax.device_get(play(env, params, NUM_STEPS, jax.random.key(1)))
    action, drawn, next_obs, after, reward, done, info = steps
    probs, time = state.reward_probs.astype(float), 0
    np.testing.assert_allclose(obs, original_obs(env, params, 0, 0, 0), atol=1e-6)
    for t in range(NUM_STEPS):
        time += 1
        expected = int(drawn[t] < probs[action[t]])
        ended = time >= params.max_steps_in_episode
        assert (reward[t], done[t], info["truncated"][t]) == (expected, ended, ended)
        assert not info["terminated"][t]
        assert abs(info["regret"][t] - (probs.max() - probs[action[t]])) < 1e-6
        shown = original_obs(env, params, expected, action[t], time)
        np.testing.assert_allclose(info["final_obs"][t], shown, atol=2e-6)  # float32, at times up to 2
        if ended:
            time, shown, probs = 0, original_obs(env, params, 0, 0, 0), after.reward_probs[t].astype(float)
        np.testing.assert_allclose(next_obs[t], shown, atol=2e-6)
        np.testing.assert_array_equal(after.reward_probs[t], probs)
        assert (after.time[t], after.exp_reward_best[t]) == (time, probs.max())
    assert done.sum() == NUM_STEPS // params.max_steps_in_episode


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


def test_luck_is_uniform_and_independent_of_the_arms() -> None:
    env = BernoulliBandit("dependent-uniform")
    drawn = np.asarray(jax.vmap(env.draw, (0, None))(KEYS, env.default_params))
    assert abs(np.histogram(drawn, 10, (0, 1))[0] - 400).max() < 4.5 * (400 * 0.9) ** 0.5
    params = env.default_params.replace(max_steps_in_episode=1)
    _, (_, drawn, _, after, _, done, _) = jax.device_get(play(env, params, NUM_STEPS, KEYS[0]))
    assert done.all()
    assert abs(np.corrcoef(drawn, after.reward_probs[:, 0])[0, 1]) < 5 / NUM_STEPS**0.5


def test_bad_options() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"arms": "easy"}, "arms must be one of dependent, dependent-uniform, independent, given, got 'easy'"),
        ({"arms": "given", "num_arms": 1}, "at least 2 arms, got num_arms=1"),
        ({"num_arms": 3}, 'arms="dependent" needs num_arms=2, got num_arms=3'),
    ]
    for options, message in bad:
        with pytest.raises(ValueError, match=message):
            BernoulliBandit(**options)
