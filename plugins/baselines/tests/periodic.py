"""An agent for the tests of bsuite's runner that learns after every seventh step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from envcore_baselines.bsuite import Agent


def periodic_agent(env: Any, record: Callable[[Any], None] | None = None) -> Agent:
    """Adds up rewards in a buffer of seven; what it has learned, their sum, shifts its random actions.

    Args:
      env: has discrete actions.
      record: called with the number of the step whenever it learns.
    """

    def act(state: dict[str, Any], obs: Any, key: jax.Array) -> tuple[jax.Array, dict[str, Any]]:
        shift = jnp.abs(10 * state["learned"]).astype(jnp.int32)
        return (env.action_space(env.default_params).sample(key) + shift) % env.action_space(
            env.default_params
        ).n, state

    def update(state: dict[str, Any], transition: Any, key: jax.Array) -> dict[str, Any]:
        step = transition.info["step"]
        rewards = state["rewards"].at[step % 7].set(transition.reward)

        def learn(learned: jax.Array) -> jax.Array:
            if record is not None:
                jax.debug.callback(record, step)
            return learned + rewards.sum()

        return {"rewards": rewards, "learned": jax.lax.cond(step % 7 == 6, learn, lambda x: x, state["learned"])}

    return Agent(lambda key: {"rewards": jnp.zeros(7), "learned": jnp.float32(0)}, act, update)
