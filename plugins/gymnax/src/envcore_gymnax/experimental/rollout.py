"""`RolloutWrapper`: roll out a policy, or a population of policies, with several seeds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from envcore import random
from envcore.checks import positive_integer
from envcore.engine.arguments import with_updates
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError

from envcore_gymnax.registration import make


class RolloutWrapper:
    """Rolls out a policy, as gymnax's `RolloutWrapper` does.

    Args:
      model_forward: `model_forward(policy_params, obs, key) -> action`. None for random actions.
      env_name: an id for `make`. The default is Pendulum-v1.
      num_env_steps: the length of a rollout. The default is the time limit.
      env_kwargs: constructor options of the environment.
      env_params: params, or a mapping of the values to change from the defaults.
      env: an environment, instead of `env_name` and `env_kwargs`.

    All three methods return `(obs, action, reward, next_obs, done, cum_return)`. The arrays have an axis of length
    `num_env_steps`, preceded by an axis for the population and an axis for the keys, if any. `cum_return` (1,) is the
    return of the first episode and has no axis for steps.

    `env` may also be an envcore environment. For maximum speed, or to use several devices, use
    `envcore.rollout.run_rollout` with `Batched` or `Sharded`.

    Raises:
      InvalidArgumentError: you passed both `env` and `env_name` or `env_kwargs`, `num_env_steps` is not a positive
        integer, or it is missing and there is no time limit.
    """

    def __init__(
        self,
        model_forward: Callable[..., Any] | None = None,
        env_name: str | None = None,
        num_env_steps: int | None = None,
        env_kwargs: Mapping[str, Any] | None = None,
        env_params: Any = None,
        env: Any = None,
    ):
        if env is not None and (env_name is not None or env_kwargs):
            raise InvalidArgumentError("env is made already: pass neither env_name nor env_kwargs with it.")
        self.model_forward, self.env_name = model_forward, env_name
        if env is None:
            self.env_name = env_name or "Pendulum-v1"
            env, _ = make(self.env_name, **(env_kwargs or {}))
        self.env = env
        self.env_params = env.default_params if env_params is None else with_updates(env, env_params)
        if num_env_steps is None:
            if self.env_params.max_steps_in_episode >= NO_TIME_LIMIT:
                raise InvalidArgumentError(f"{env.name} has no time limit: pass num_env_steps.")
            num_env_steps = int(self.env_params.max_steps_in_episode)
        self.num_env_steps = positive_integer("num_env_steps", num_env_steps, InvalidArgumentError)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of an observation."""
        return jax.eval_shape(self.env.reset, jax.random.key(0), self.env_params)[0].shape

    @functools.partial(jax.jit, static_argnums=0)
    def population_rollout(self, key_eval: jax.Array, policy_params: Any) -> tuple[Any, ...]:
        """Rolls out each policy of a population for each key. `policy_params` have a leading population axis."""
        return jax.vmap(self.batch_rollout, (None, 0))(key_eval, policy_params)

    @functools.partial(jax.jit, static_argnums=0)
    def batch_rollout(self, key_eval: jax.Array, policy_params: Any) -> tuple[Any, ...]:
        """Rolls out the policy for each key."""
        return jax.vmap(self.single_rollout, (0, None))(key_eval, policy_params)

    @functools.partial(jax.jit, static_argnums=0)
    def single_rollout(self, key_input: jax.Array, policy_params: Any) -> tuple[Any, ...]:
        """Rolls out the policy once."""
        key_reset, key = random.split(key_input)
        first = (*self.env.reset(key_reset, self.env_params), key, jnp.zeros(1, jnp.float32), jnp.ones((), jnp.bool_))

        def body(carry: Any, _: None) -> tuple[Any, Any]:
            obs, state, key, cum_return, is_first_episode = carry
            key, key_step, key_act = random.spawn(key, 3)
            if self.model_forward is None:
                action = self.env.action_space(self.env_params).sample(key_act)
            else:
                action = self.model_forward(policy_params, obs, key_act)
            next_obs, state, reward, *flags, _ = self.env.step(key_step, state, action, self.env_params)
            done = functools.reduce(jnp.logical_or, flags)
            cum_return += jnp.where(is_first_episode, jnp.asarray(reward, jnp.float32), jnp.float32(0)).reshape(1)
            return (next_obs, state, key, cum_return, is_first_episode & ~done), (obs, action, reward, next_obs, done)

        end, steps = jax.lax.scan(body, first, None, self.num_env_steps)
        return *steps, end[3]
