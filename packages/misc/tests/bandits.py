"""Random play of the bandits."""

from __future__ import annotations

import functools
from typing import Any

import jax


@functools.partial(jax.jit, static_argnums=(0, 2))
def play(env: Any, params: Any, num_steps: int, key: jax.Array) -> Any:
    """Pulls random arms after a reset: the first obs and state, and the inputs and outputs of every step."""
    obs, state = env.reset(key, params)

    def body(state: Any, key: jax.Array) -> tuple[Any, Any]:
        key_action, key_step = jax.random.split(key)
        action = env.action_space(env.default_params).sample(key_action)
        obs, after, reward, done, info = env.step(key_step, state, action, params)
        draw = env.draw(key_step, params)
        return after, (action, draw, obs, after, reward, done, info)

    return (obs, state), jax.lax.scan(body, state, jax.random.split(key, num_steps))[1]
