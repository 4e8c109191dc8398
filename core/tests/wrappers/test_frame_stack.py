"""`FrameStack`: compared with the observations, one by one."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import random
from envcore.wrappers import FrameStack
from toy import Spring

KEY = jax.random.key(3)


def test_frame_stack_holds_the_last_observations() -> None:
    env, inner = FrameStack(Spring(), 3), Spring()
    key, key_reset = random.split(KEY)
    stacked, state = env.reset(key_reset)
    plain, inner_state = inner.reset(key_reset)
    history = [plain] * 3
    np.testing.assert_array_equal(stacked, jnp.stack(history))
    ends = 0
    for key_step in random.split(key, 30):
        action = env.action_space(env.default_params).sample(key_step)
        stacked, state, _, done, info = env.step(key_step, state, action)
        plain, inner_state, _, _, inner_info = inner.step(key_step, inner_state, action)
        np.testing.assert_array_equal(info["final_obs"], jnp.stack([*history[1:], inner_info["final_obs"]]))
        history = [plain] * 3 if done else [*history[1:], plain]
        np.testing.assert_array_equal(stacked, jnp.stack(history))
        ends += bool(done)
    assert ends


def test_frame_stack_observes_once_a_step_where_final_obs_is_not_read() -> None:
    looks = []

    class Watched(Spring):
        def observe(self, state: Any, params: Any) -> jax.Array:
            def look(obs: Any) -> Any:
                looks.append(obs)
                return obs

            obs = super().observe(state, params)
            return jax.pure_callback(look, jax.ShapeDtypeStruct(obs.shape, obs.dtype), obs)

    env = FrameStack(Watched(), 3)
    state = env.reset(KEY)[1]
    step = jax.jit(lambda *args: env.step(*args)[:4])
    for last in range(2):
        looks.clear()
        obs, state, *_ = jax.block_until_ready(step(KEY, state, jnp.zeros(1)))
        assert len(looks) == 1, last
        np.testing.assert_array_equal(obs[-1], looks[0])


@pytest.mark.parametrize("num_frames", [0, 4.0, True])
def test_bad_options(num_frames: Any) -> None:
    with pytest.raises(ValueError, match=f"num_frames must be a positive integer, got {num_frames}"):
        FrameStack(Spring(), num_frames)
