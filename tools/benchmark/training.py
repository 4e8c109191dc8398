"""Training with PPO: the same learner on envcore's environments and on gymnax's."""

from __future__ import annotations

from typing import Any

import envcore
import jax
import jax.numpy as jnp
from envcore_baselines.ppo import PPO, PPOConfig
from peers import make_gymnax

ROLLOUT_STEPS = 32


class GymnaxBatch:
    """Environments of gymnax with what PPO asks of envcore's: `LogWrapper(Batched(env, num_envs))`."""

    def __init__(self, env_id: str, num_envs: int):
        from gymnax.wrappers.purerl import LogWrapper  # pyright: ignore[reportMissingImports]

        env, self._params = make_gymnax(env_id)
        self._num_envs, env = num_envs, LogWrapper(env)
        self._reset, self._step = jax.vmap(env.reset, (0, None)), jax.vmap(env.step, (0, 0, 0, None))

    def reset(self, key: jax.Array, params: Any) -> tuple[jax.Array, Any]:
        return self._reset(jax.random.split(key, self._num_envs), self._params)

    def step(self, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        keys = jax.random.split(key, self._num_envs)
        obs, state, reward, terminated, truncated, info = self._step(keys, state, action, self._params)
        info = {**info, "final_obs": info["final_observation"]}
        return obs, state, reward.astype(jnp.float32), terminated | truncated, info


def training(library: str, env_id: str, num_envs: int, num_steps: int) -> Any:
    """A run of PPO with a network of 64 x 64 units, as `run(key)`; it returns a number that depends on all weights."""
    steps = num_envs * num_steps
    config = PPOConfig(total_steps=steps, num_envs=num_envs, rollout_steps=min(ROLLOUT_STEPS, num_steps))
    ppo = PPO(*envcore.make(env_id), config)
    if library == "gymnax":
        ppo._batch = GymnaxBatch(env_id, num_envs)  # type: ignore[assignment]

    def run(key: jax.Array) -> jax.Array:
        state, totals = jax.lax.scan(lambda state, _: ppo.update(state), ppo.init(key), length=ppo.num_updates)
        weights = jax.tree.leaves(state.agent.network)
        return totals.returns.sum() + sum(each.sum() for each in weights)

    return run
