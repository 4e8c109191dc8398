"""envcore's environments for programs that are written for brax, such as its own PPO and SAC.

    env = BraxEnv("Pendulum-v1")

Needs brax, which the extra `envcore-adapters[brax]` installs.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import NO_TIME_LIMIT, Environment, random, spaces
from envcore.engine.stepping import own_info
from envcore.errors import InvalidActionError, InvalidArgumentError
from envcore.wrappers import FlattenObservation, RescaleAction
from envcore_native.xla import on_device

from envcore_adapters import needs
from envcore_adapters.inputs import single

with needs("brax"):
    from brax.envs.base import Env, State

__all__ = ["BraxEnv"]


class BraxEnv(Env):
    """An environment of envcore as a `brax.envs.Env`, a pure function for brax's wrappers and algorithms.

    Observations are float32 vectors; parts and axes are flattened as `FlattenObservation` does. Actions are numbers in
    [-1, 1], which are scaled to the bounds of the action space; a discrete action is the index of the largest of
    `action_size` numbers.

    `done` is 1 where the episode terminates. A time limit does not end it, because brax has its own: pass
    `episode_length=env.episode_length` to brax, which tells the two apart as truncation. `state.info["rng"]` is the key
    of the next step, and the environment's own entries of `info` are there too, zero after a reset.

    brax resets to the first state that an environment had: its `AutoResetWrapper` does not draw another one.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: its params, or a mapping of those that differ from the defaults.
      **options: constructor options, where `env` is an id.

    Attributes:
      env: the environment with flat observations and scaled actions.
      params: its params.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: an argument is invalid, the environment is a batch, or its actions are neither discrete nor
        a vector of bounded numbers.
    """

    def __init__(self, env: str | Environment, params: Any = None, **options: Any):
        inner, params = single(env, params, options, "brax makes its own")
        self.params = on_device(params)
        space = inner.action_space(self.params)
        self._num_actions = space.n if isinstance(space, spaces.Discrete) else None
        flat = FlattenObservation(inner)
        if self._num_actions is None:
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise InvalidArgumentError(f"brax needs one action or a vector of numbers, {inner.name} has {space!r}.")
            try:
                flat = RescaleAction(flat)
            except ValueError as error:
                raise InvalidArgumentError(f"{inner.name} has no actions for brax: {error}") from error
        self.env: Environment = flat

    @property
    def observation_size(self) -> int:
        """Length of an observation."""
        return self.env.observation_space(self.params).shape[0]

    @property
    def action_size(self) -> int:
        """Length of an action: the number of choices if actions are discrete."""
        return self._num_actions or self.env.action_space(self.params).shape[0]

    @property
    def backend(self) -> str:
        """Always "envcore"."""
        return "envcore"

    @property
    def episode_length(self) -> int:
        """The environment's time limit in steps, for brax's arguments of that name; 1,000 where it has none."""
        limit = int(self.params.max_steps_in_episode)
        return 1000 if limit == NO_TIME_LIMIT else limit

    def reset(self, rng: jax.Array) -> State:
        """Begins an episode. `rng` is a typed or legacy key.

        Raises:
          InvalidArgumentError: it is neither.
        """
        random.check_key(rng)
        key, key_reset = random.split(rng)
        obs, state = self.env.reset(key_reset, self.params)
        *_, info = jax.eval_shape(self._step_env, key, state, jnp.zeros(self.action_size))
        own = {name: jnp.zeros(value.shape, value.dtype) for name, value in own_info(info).items()}
        zero = jnp.zeros((), jnp.float32)
        return State(state, obs.astype(jnp.float32), zero, zero, {}, {**own, "rng": key})

    def step(self, state: State, action: jax.Array) -> State:
        """Takes one step, without auto-reset; `action` is float32 (action_size,).

        Raises:
          InvalidActionError: the action has another shape, or is not finite; what a JAX array holds is not looked at.
        """
        key, key_step = random.split(state.info["rng"])
        obs, after, reward, terminated, info = self._step_env(key_step, state.pipeline_state, action)
        return state.replace(  # pyright: ignore[reportAttributeAccessIssue]  # flax adds it
            pipeline_state=after,
            obs=obs.astype(jnp.float32),
            reward=reward,
            done=terminated.astype(jnp.float32),
            info={**state.info, **own_info(info), "rng": key},
        )

    def _step_env(self, key: jax.Array, state: Any, action: jax.Array) -> tuple[Any, ...]:
        action = jnp.asarray(self._checked(action))
        chosen = jnp.argmax(action).astype(jnp.int32) if self._num_actions else action.astype(jnp.float32)
        return self.env.step_env(key, state, chosen, self.params)

    def _checked(self, action: Any) -> Any:
        space = spaces.Box(-np.inf, np.inf, (self.action_size,))
        if hasattr(action, "shape") and action.shape != space.shape:
            raise InvalidActionError(
                f"an action of {self.env.name} must have shape {space.shape}, got {action.shape}. "
                "To map over a batch, use jax.vmap."
            )
        problem = space.mismatch(action) or space.value_problem(action)
        if problem is not None:
            raise InvalidActionError(f"an action of {self.env.name} must be in {space!r}: {problem}.")
        return action
