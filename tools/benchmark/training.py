"""Training with PPO: envcore's own, and PureJaxRL's on envcore's environments and on gymnax's."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
import purejaxrl
from envcore.rollout import run_rollout
from envcore.wrappers import LogWrapper
from envcore_baselines.ppo import PPO, PPOConfig
from peers import make_gymnax

ROLLOUT_STEPS = 128


def training(program: str, env_id: str, num_envs: int, num_steps: int, rollout: Any = run_rollout) -> Any:
    """A run of PPO with two networks of 64 x 64 units, as `run(key)`; it returns a number that depends on all weights.

    Args:
      program: "envcore" for envcore's PPO; for PureJaxRL's, "purejaxrl" on envcore's environments and "gymnax" on
        gymnax's.
      env_id: of the environment.
      num_envs: number of environments.
      num_steps: steps of each; an update takes `ROLLOUT_STEPS` of them, or all if they are fewer.
      rollout: what envcore's PPO plays rollouts with.
    """
    length = min(ROLLOUT_STEPS, num_steps)
    if program == "envcore":
        run = _own(env_id, num_envs, length, num_steps, rollout)
    else:
        env, params = make_gymnax(env_id) if program == "gymnax" else envcore.make(env_id)
        wrapped = gymnax_log(env) if program == "gymnax" else LogWrapper(env)
        num_updates = -(-num_steps // length)
        ppo = purejaxrl.make(wrapped, params, num_envs, length, num_updates)

        def run(key: jax.Array) -> Any:
            (weights, *_), info = jax.lax.scan(ppo.update, ppo.init(key), length=num_updates)
            return weights, info

    def total(key: jax.Array) -> jax.Array:
        return sum((jnp.sum(each, dtype=jnp.float32) for each in jax.tree.leaves(run(key))), jnp.float32(0))

    return total


def _own(env_id: str, num_envs: int, length: int, num_steps: int, rollout: Any) -> Any:
    shape: dict[str, Any] = {"num_envs": num_envs, "rollout_steps": length, "total_steps": num_envs * num_steps}
    config = PPOConfig(**shape, minibatches=purejaxrl.MINIBATCHES)
    ppo = PPO(*envcore.make(env_id), config, rollout=rollout)

    def run(key: jax.Array) -> Any:
        state, totals = jax.lax.scan(lambda state, _: ppo.update(state), ppo.init(key), length=ppo.num_updates)
        return state.agent.network, totals

    return run


def gymnax_log(env: Any) -> Any:
    from gymnax.wrappers.purerl import LogWrapper  # pyright: ignore[reportMissingImports]

    return LogWrapper(env)
