"""`NoAutoReset`: the end stays."""

from __future__ import annotations

import jax
from envcore.rollout import random_policy, run_rollout, start_rollout
from envcore.wrappers import NoAutoReset
from toy import Counter


def test_no_auto_reset_stays() -> None:
    env = NoAutoReset(Counter())
    params = env.default_params.replace(max_steps_in_episode=3)
    start = start_rollout(env, jax.random.key(3), params)
    _, steps = run_rollout(env, random_policy(env), start, 5, params)
    assert steps.done.tolist()[2:] == [True, True, True]
