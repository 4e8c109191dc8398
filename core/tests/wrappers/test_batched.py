"""`Batched`: compared with `vmap`."""

from __future__ import annotations

import re
from typing import Any

import chex
import jax
import numpy as np
import pytest
from envcore import random
from envcore.wrappers import Batched
from toy import Spring

KEY = jax.random.key(3)


def test_batched_equals_vmap() -> None:
    env, inner = Batched(Spring(), 5), Spring()
    obs, state = env.reset(KEY)
    expected = jax.vmap(inner.reset)(random.spawn(KEY, 5))
    chex.assert_trees_all_equal((obs, state), expected, strict=True)
    action = env.action_space(env.default_params).sample(KEY)
    ours = env.step(KEY, state, action)
    theirs = jax.vmap(inner.step)(random.spawn(KEY, 5), state, action)
    assert ours[3].shape == (5,)
    chex.assert_trees_all_close(ours[4]["final_obs"], theirs[4]["final_obs"])


def test_batches_of_batches_draw_different_numbers() -> None:
    obs, _ = Batched(Batched(Spring(), 16), 16).reset(KEY)
    flat = np.asarray(obs).reshape(256, -1)[:, 0]
    assert len(np.unique(flat)) == 256


@pytest.mark.parametrize("num_envs", [0, "8", Spring()])
def test_bad_options(num_envs: Any) -> None:
    with pytest.raises(ValueError, match=re.escape(f"num_envs must be a positive integer, got {num_envs!r}")):
        Batched(Spring(), num_envs)
