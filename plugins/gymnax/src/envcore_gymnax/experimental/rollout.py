"""`RolloutWrapper` and `EnvRollout`: episodes of a policy, for a population and several seeds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from envcore import forks, random
from envcore.checks import positive_integer
from envcore.engine.arguments import with_updates
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import InvalidArgumentError

from envcore_gymnax.experimental.spreading import for_each_key, for_each_member
from envcore_gymnax.registration import make


class RolloutWrapper:
    """gymnax's class of this name.

    Args:
      model_forward: `model_forward(policy_params, obs, key) -> action`; None for random actions.
      env_name: an id for `make`; Pendulum-v1 by default.
      num_env_steps: the length of a rollout; the time limit by default.
      env_kwargs: options of the environment.
      env_params: params, or a mapping of those that differ from the defaults.
      env: an environment that is made already, in place of `env_name` and `env_kwargs`.

    All three methods return `(obs, action, reward, next_obs, done, cum_return)`, with an axis of length
    `num_env_steps`, and before it one for the keys and one for the population; `cum_return` (1,) is the return of the
    first episode.

    Many rollouts are spread over this process's devices, over as many as divide the number of members or else of keys;
    not where the caller has placed an argument on a device, has set JAX's default device, or calls this inside a
    program. Random actions give the same results on any devices; a network may round differently.

    `env` may be one of envcore's own. For the most steps a second use `envcore.rollout.run_rollout` with `Batched` or
    `Sharded`: 29 to 31 million steps a CPU second of CartPole and Breakout, where a key for each rollout leaves 20 to
    21 million.

    Raises:
      InvalidArgumentError: there are both `env` and `env_name` or `env_kwargs`, `model_forward` is not a function, or
        `num_env_steps` is not a positive integer, which it has to be where there is no time limit.
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
        if model_forward is not None and not callable(model_forward):
            raise InvalidArgumentError(
                f"model_forward must be a function, got {model_forward!r}: is it meant for env_name?"
            )
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
        """The shape of an observation."""
        return jax.eval_shape(self.env.reset, jax.random.key(0), self.env_params)[0].shape

    def population_rollout(self, key_eval: jax.Array, policy_params: Any) -> tuple[Any, ...]:
        """A rollout for each member of a population, whose params have a leading axis, and each key."""
        return for_each_member(self._rollout, key_eval, policy_params)

    def batch_rollout(self, key_eval: jax.Array, policy_params: Any) -> tuple[Any, ...]:
        """A rollout for each key."""
        return for_each_key(self._rollout, key_eval, policy_params)

    def single_rollout(self, key_input: jax.Array, policy_params: Any) -> tuple[Any, ...]:
        """One rollout."""
        forks.check()
        return self._rollout(key_input, policy_params)

    @functools.partial(jax.jit, static_argnums=0)
    def _rollout(self, key_input: jax.Array, policy_params: Any) -> tuple[Any, ...]:
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


class EnvRollout(RolloutWrapper):
    """The class of gymnax 0's first notebook: `collect` returns one return for each episode.

    Args:
      model_forward: a flax module's `apply`; it is called as `model_forward({"params": policy_params}, obs, key)`.
      env_name: an id for `make`.
      num_env_steps: the length of a rollout; the time limit by default.
      num_episodes: the number of rollouts that `collect` runs.
      env_kwargs: options of the environment.
      env_params: params, or a mapping of those that differ from the defaults.

    Raises:
      InvalidArgumentError: `num_episodes` is not a positive integer.
    """

    def __init__(
        self,
        model_forward: Callable[..., Any],
        env_name: str = "Pendulum-v1",
        num_env_steps: int | None = None,
        num_episodes: int = 1,
        env_kwargs: Mapping[str, Any] | None = None,
        env_params: Any = None,
    ):
        def forward(policy_params: Any, obs: Any, key: jax.Array) -> Any:
            return model_forward({"params": policy_params}, obs, key)

        super().__init__(forward, env_name, num_env_steps, env_kwargs, env_params)
        self.num_episodes = positive_integer("num_episodes", num_episodes, InvalidArgumentError)

    def collect(self, key: jax.Array, policy_params: Any) -> jax.Array:
        """The return of each episode, float32 (num_episodes,); those longer than a rollout are cut short."""
        return self.batch_rollout(jax.random.split(key, self.num_episodes), policy_params)[-1][:, 0]
