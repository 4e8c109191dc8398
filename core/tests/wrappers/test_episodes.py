"""`LogWrapper` is compared with a count by hand."""

from __future__ import annotations

import jax
import numpy as np
from envcore.environment import NO_TIME_LIMIT
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import LogWrapper
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


def test_lengths_do_not_wrap_around() -> None:
    env, last = LogWrapper(Counter(goal=1)), 2**31 - 1
    params = env.default_params.replace(max_steps_in_episode=NO_TIME_LIMIT)
    _, state = env.reset(jax.random.key(0), params)
    _, _, _, done, info = env.step(jax.random.key(0), state.replace(episode_lengths=np.int32(last)), 1, params)
    assert done
    assert int(info["returned_episode_lengths"]) == last
