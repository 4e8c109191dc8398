"""`Environment`, gymnax's base class for your own environments, and `EnvcoreEnvironment`."""

from __future__ import annotations

import functools
from typing import Any, Generic, TypeVar

import envcore
import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.engine.arguments import checked_params
from envcore.engine.stepping import own_info
from envcore.environment import NO_TIME_LIMIT, is_time_up
from flax import struct

from envcore_gymnax.environments import spaces as gymnax_spaces
from envcore_gymnax.settings import as_gymnax_state, options_of, params_of, returns_six_values, with_gymnax_rules

TEnvState = TypeVar("TEnvState", bound="EnvState")
TEnvParams = TypeVar("TEnvParams", bound="EnvParams")


@struct.dataclass
class EnvState:
    """Base class for states of your own environments.

    Attributes:
      time: steps taken in this episode.
    """

    time: Any


@struct.dataclass
class EnvParams:
    """Base class for params of your own environments.

    Attributes:
      max_steps_in_episode: the time limit in steps.
    """

    max_steps_in_episode: int = 1


class Environment(Generic[TEnvState, TEnvParams]):
    """gymnax's base class. Override `step_env`, `reset_env`, `get_obs`, `is_terminal` and the spaces.

    `step` returns `(obs, state, reward, done, info)` and resets automatically. With `install(six_values=True)` it
    returns `(obs, state, reward, terminated, truncated, info)`, as in gymnax 1. In this case, return `terminated` from
    your `step_env`. `step` adds the time limit.
    """

    @property
    def default_params(self) -> Any:
        """The params used if you pass `params=None`."""
        return EnvParams()

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        """Takes one step, and resets if the episode is done."""
        params = self.default_params if params is None else params
        key_step, key_reset = jax.random.split(key)
        obs, after, reward, done, info = self.step_env(key_step, state, action, params)
        first_obs, first = self.reset_env(key_reset, params)
        flags = (done,)
        if returns_six_values():
            truncated = self.is_truncated(after, params)
            info = {**info, "terminated": done, "truncated": truncated, "final_observation": obs}
            flags, done = (done, truncated), done | truncated
        after, obs = jax.tree.map(functools.partial(jnp.where, done), (first, first_obs), (after, obs))
        return obs, after, reward, *flags, info

    @functools.partial(jax.jit, static_argnums=0)
    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        """Starts an episode."""
        return self.reset_env(key, self.default_params if params is None else params)

    def step_env(self, key: jax.Array, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        """Takes one step without auto-reset and returns `(obs, state, reward, done, info)`."""
        raise NotImplementedError

    def reset_env(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        """Returns the first observation and state of an episode."""
        raise NotImplementedError

    def get_obs(self, state: Any, params: Any = None, key: Any = None) -> Any:
        """Returns the observation of a state."""
        raise NotImplementedError

    def observe(self, key: jax.Array, state: Any, action: Any, params: Any) -> Any:
        """Gymnax 1's name for `get_obs`. It also takes the last action, which is None after a reset."""
        return self.get_obs(state, params=params, key=key)

    def is_terminal(self, state: Any, params: Any) -> jax.Array:
        """Whether the episode has ended."""
        raise NotImplementedError

    def is_terminated(self, state: Any, params: Any) -> jax.Array:
        """Whether the episode has ended for a reason other than the time limit, as in gymnax 1."""
        return self.is_terminal(state, params)

    def is_truncated(self, state: Any, params: Any) -> jax.Array:
        """Whether the time limit is reached."""
        return state.time >= params.max_steps_in_episode

    def discount(self, state: Any, params: Any) -> jax.Array:
        """Returns 0 if the episode has ended, else 1, float32 ()."""
        return _discount(self.is_terminal(state, params))

    @property
    def name(self) -> str:
        """The environment's name."""
        return type(self).__name__

    @property
    def num_actions(self) -> int:
        """The number of discrete actions, or the length of an action vector."""
        raise NotImplementedError

    def action_space(self, params: Any = None) -> Any:
        """Returns the action space."""
        raise NotImplementedError

    def observation_space(self, params: Any = None) -> Any:
        """Returns the observation space."""
        raise NotImplementedError

    def state_space(self, params: Any = None) -> Any:
        """Returns the state space."""
        raise NotImplementedError


class EnvcoreEnvironment(Environment):
    """An envcore environment with gymnax's interface and settings (see `settings`).

    States have the fields of the envcore state, with gymnax's names, and `terminated`, which `is_terminal` reads. If
    you pass a state of envcore's type, its episode counts as running. Equal environments share compiled functions.

    Args:
      env_id: an envcore id.
      **options: constructor options, or gymnax's `action_mapping_key` for DeepSea.

    Attributes:
      env: the envcore environment, with gymnax's observations.
    """

    def __init__(self, env_id: str, **options: Any):
        inner, _ = envcore.make(env_id, **options_of(env_id, options))
        self.env_id = env_id
        self.env = with_gymnax_rules(env_id, inner)

    @property
    def default_params(self) -> Any:
        return params_of(self.env_id, self.env)

    def step(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Takes one step with auto-reset. A scalar action may have shape () or (1,)."""
        params, state = self._given(params), as_gymnax_state(state)
        obs, state, reward, done, info = self.env.step(key, state, _shaped(self.env, action), params)
        if not returns_six_values():
            return obs, state, reward, done, _own(info, done)
        ends = {"terminated": info["terminated"], "truncated": info["truncated"]}
        more = {**_own(info, info["terminated"]), **ends, "final_observation": info["final_obs"]}
        return obs, state, reward, info["terminated"], info["truncated"], more

    def reset(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Starts an episode."""
        return self.env.reset(key, self._given(params))

    def step_env(self, key: jax.Array, state: Any, action: Any, params: Any = None) -> tuple[Any, ...]:
        params, state = self._given(params), as_gymnax_state(state)
        obs, state, reward, terminated, info = self.env.step_env(key, state, _shaped(self.env, action), params)
        done = terminated if returns_six_values() else terminated | info["truncated"]
        return obs, state, reward, done, _own(info, done)

    def reset_env(self, key: jax.Array, params: Any = None) -> tuple[Any, Any]:
        return self.reset(key, params)

    def get_obs(self, state: Any, params: Any = None, key: Any = None) -> Any:
        return self.env.observe(as_gymnax_state(state), self._given(params))

    def is_terminated(self, state: Any, params: Any = None) -> jax.Array:
        """Whether the last step ended the episode for a reason other than the time limit."""
        return as_gymnax_state(state).terminated

    def is_truncated(self, state: Any, params: Any = None) -> jax.Array:
        """Whether the time limit is reached."""
        return is_time_up(state.time, checked_params(self.env, self._given(params)).max_steps_in_episode)

    def is_terminal(self, state: Any, params: Any = None) -> jax.Array:
        """Whether the last step ended the episode. With six values, the time limit does not count."""
        terminated = self.is_terminated(state, params)
        return terminated if returns_six_values() else terminated | self.is_truncated(state, params)

    def render(self, state: Any, params: Any = None) -> jax.Array:
        """Renders the state as uint8 (height, width, 3)."""
        return self.env.render(as_gymnax_state(state), self._given(params))

    @property
    def name(self) -> str:
        """The id, such as `"CartPole-v1"`."""
        return self.env_id

    @property
    def num_actions(self) -> int:
        space: Any = self.action_space()
        return space.n if isinstance(space, spaces.Discrete) else space.shape[0]

    @property
    def obs_shape(self) -> tuple[int, ...]:
        """Shape of an observation."""
        return self.observation_space().shape

    @property
    def supports_transition_gradients(self) -> bool:
        """Whether `step` is differentiable. If so, `transition_gradients_enabled` is always True."""
        return self.env.differentiable

    transition_gradients_enabled = supports_transition_gradients

    def with_transition_gradients(self) -> EnvcoreEnvironment:
        """Returns this environment, because its `step` is always differentiable.

        Raises:
          ValueError: `step` is not differentiable.
        """
        if not self.supports_transition_gradients:
            raise ValueError(f"{self.name} does not support transition gradients")
        return self

    def action_space(self, params: Any = None) -> Any:
        return gymnax_spaces.of_envcore(self.env.action_space(self._given(params)), of_actions=True)

    def observation_space(self, params: Any = None) -> Any:
        return gymnax_spaces.of_envcore(self.env.observation_space(self._given(params)))

    def state_space(self, params: Any = None) -> Any:
        return self.env.state_space(self._given(params))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnvcoreEnvironment) and (self.env_id, self.env) == (other.env_id, other.env)

    def __hash__(self) -> int:
        return hash((self.env_id, self.env))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.env!r})"

    def _given(self, params: Any) -> Any:
        params = self.default_params if params is None else params
        end = getattr(params, "max_steps_in_episode", 0)
        if isinstance(end, float | np.floating):  # programs for gymnax pass jnp.inf
            end = NO_TIME_LIMIT if end == np.inf else int(end) if float(end).is_integer() else end
            params = params.replace(max_steps_in_episode=end)
        elif jnp.issubdtype(getattr(end, "dtype", type(end)), jnp.floating):
            finite = jnp.where(jnp.isinf(end), 0, end).astype(jnp.int32)
            params = params.replace(max_steps_in_episode=jnp.where(jnp.isinf(end), NO_TIME_LIMIT, finite))
        return params


def _shaped(env: Any, action: Any) -> Any:
    """Reshapes a scalar action to the shape of the action space. Other actions are unchanged."""
    shape, given = _shape_of_one_number(env), getattr(action, "shape", () if isinstance(action, int | float) else None)
    if shape is None or given == shape or given not in ((), (1,)):
        return action
    return np.full(shape, action) if isinstance(action, int | float) else action.reshape(shape)  # stays on the host


@functools.lru_cache(maxsize=512)
def _shape_of_one_number(env: Any) -> tuple[int, ...] | None:
    """Returns the shape of an action if it is a single number, else None."""
    space = env.action_space(env.default_params)
    return space.shape if isinstance(space, spaces.Discrete) or space.shape == (1,) else None


def _own(info: dict[str, Any], ended: jax.Array) -> dict[str, Any]:
    """Returns gymnax's info entries: the environment's, and the discount, which is 0 if the episode has `ended`."""
    return own_info(info) | {"discount": _discount(ended)}


@functools.partial(jax.jit, inline=True)  # otherwise it takes half the time of a step outside `jit`
def _discount(ended: jax.Array) -> jax.Array:
    return jnp.where(ended, np.float32(0), np.float32(1))
