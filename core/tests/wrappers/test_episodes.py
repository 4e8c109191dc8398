"""`LogWrapper` is compared with a count by hand, and `NoAutoReset` stays at the end."""

from __future__ import annotations

import jax
import numpy as np
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import LogWrapper, NoAutoReset
from toy import Counter, Spring


def test_log_wrapper_counts_by_hand() -> None:
    env = LogWrapper(Spring())
    _, steps = run_rollout(env, random_policy(env), start_rollout(env, jax.random.key(3)), 60)
    running, length, last, last_length, valid = 0.0, 0, 0.0, 0, False
    for t in range(60):
        running, length = running + float(steps.reward[t]), length + 1
        if steps.done[t]:
            last, last_length, valid, running, length = running, length, True, 0.0, 0
        assert bool(steps.info["returned_episode"][t]) == bool(steps.done[t])
        assert bool(steps.info["returned_episode_valid"][t]) == valid
        assert int(steps.info["returned_episode_lengths"][t]) == last_length
        np.testing.assert_allclose(steps.info["returned_episode_returns"][t], last, rtol=1e-5)
    assert valid


def test_no_auto_reset_stays() -> None:
    env = NoAutoReset(Counter())
    params = env.default_params.replace(max_steps_in_episode=3)
    start = start_rollout(env, jax.random.key(3), params)
    _, steps = run_rollout(env, random_policy(env), start, 5, params)
    assert steps.done.tolist()[2:] == [True, True, True]
