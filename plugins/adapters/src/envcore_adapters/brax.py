"""Use envcore environments with brax, for example with its PPO and SAC.

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
    """Wraps an envcore environment as a `brax.envs.Env`, for brax's wrappers and algorithms.

    Observations are float32 vectors, flattened by `FlattenObservation`. Actions in [-1, 1] are rescaled to the bounds
    of the action space. For a discrete action space, pass `action_size` numbers. The index of the largest is the
    action.

    `done` is 1 if the episode terminates. Time limits do not set it, because brax has its own. Pass
    `episode_length=env.episode_length` to brax, which then reports the time limit as a truncation. `state.info` holds
    the key of the next step as `"rng"`, and the environment's `info` entries, which are zero after a reset.

    Note that brax's `AutoResetWrapper` resets an environment to the initial state it already had, rather than to a new
    random one.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: the environment's params, or a mapping of the values to change from the defaults.
      **options: constructor options, if `env` is an id.

    Attributes:
      env: the environment with flat observations and rescaled actions.
      params: the environment's params.

    Raises:
      UnknownEnvironmentError: the id is unknown.
      InvalidArgumentError: an argument is invalid, the environment is a batch, or its action space is neither
        `Discrete` nor a one-dimensional `Box` with bounds.
    """

    def __init__(self, env: str | Environment, params: Any = None, **options: Any):
        inner, params = single(env, params, options, "pass a single one, brax makes batches itself")
        self.params = on_device(params)
        space = inner.action_space(self.params)
        self._num_actions = space.n if isinstance(space, spaces.Discrete) else None
        flat = FlattenObservation(inner)
        if self._num_actions is None:
            if not isinstance(space, spaces.Box) or len(space.shape) != 1:
                raise InvalidArgumentError(f"brax needs Discrete or 1-d Box actions, but {inner.name} has {space!r}.")
            try:
                flat = RescaleAction(flat)
            except ValueError as error:
                raise InvalidArgumentError(f"brax cannot use actions of {inner.name}: {error}") from error
        self.env: Environment = flat

    @property
    def observation_size(self) -> int:
        """Length of the observation vector."""
        return self.env.observation_space(self.params).shape[0]

    @property
    def action_size(self) -> int:
        """Length of the action vector, or the number of actions of a discrete action space."""
        return self._num_actions or self.env.action_space(self.params).shape[0]

    @property
    def backend(self) -> str:
        """Always "envcore"."""
        return "envcore"

    @property
    def episode_length(self) -> int:
        """The time limit in steps, to pass to brax as `episode_length`. It is 1,000 if the environment has none."""
        limit = int(self.params.max_steps_in_episode)
        return 1000 if limit == NO_TIME_LIMIT else limit

    def reset(self, rng: jax.Array) -> State:
        """Starts an episode. `rng` is a typed or legacy key.

        Raises:
          InvalidArgumentError: `rng` is not a key.
        """
        random.check_key(rng)
        key, key_reset = random.split(rng)
        obs, state = self.env.reset(key_reset, self.params)
        *_, info = jax.eval_shape(self._step_env, key, state, jnp.zeros(self.action_size))
        own = {name: jnp.zeros(value.shape, value.dtype) for name, value in own_info(info).items()}
        zero = jnp.zeros((), jnp.float32)
        return State(state, obs.astype(jnp.float32), zero, zero, {}, {**own, "rng": key})

    def step(self, state: State, action: jax.Array) -> State:
        """Takes one step without auto-reset. `action` is float32 (action_size,).

        Raises:
          InvalidActionError: the action has the wrong shape or is not finite. Values inside JAX arrays are not checked.
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
