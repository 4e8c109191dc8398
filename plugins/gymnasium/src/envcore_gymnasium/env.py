"""`GymnasiumEnv`: one environment as a `gymnasium.Env`."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment
from envcore.choice import chosen
from envcore.engine import arguments
from envcore.engine.types import own_info
from envcore.errors import InvalidArgumentError
from gymnasium.error import ResetNeeded

from envcore_gymnasium.actions import ActionReader
from envcore_gymnasium.packing import Layout, Memories, Packed, memories, reader
from envcore_gymnasium.render_modes import RENDER_HEIGHT, RENDER_MODES, check_render_mode
from envcore_gymnasium.spaces import to_gymnasium_space, widener


class GymnasiumEnv(gymnasium.Env[Any, Any]):
    """An environment of envcore as a `gymnasium.Env`.

    Observations are numpy arrays of the observation space's dtypes, new and writable on every step; those of a
    `Discrete` space are `numpy.int64`. Rewards are Python floats, `terminated` and `truncated` Python bools, and
    `info` has the environment's own entries.

    `reset(seed=...)` begins from nothing. `reset()` keeps what survives an auto-reset in envcore, such as the
    statistics of `NormalizeObservation`.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: its params, or a mapping of those that differ from the defaults.
      render_mode: `"rgb_array"` for pictures, uint8 (height, width, 3), or None. `gymnasium.make` also takes `"human"`
        (a window, by pygame) and `"rgb_array_list"`.
      render_height: height of the pictures in pixels.
      **options: constructor options, where `env` is an id.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: an argument is invalid, or the environment is a batch: use `GymnasiumVectorEnv`.
    """

    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 10}  # noqa: RUF012

    def __init__(
        self,
        env: str | Environment[Any, Any],
        params: Any = None,
        *,
        render_mode: str | None = None,
        render_height: int = RENDER_HEIGHT,
        **options: Any,
    ):
        check_render_mode(render_mode)
        self.env, self.params = chosen(env, params, options)
        if self.env.batch_shape:
            raise InvalidArgumentError(f"{self.env.name} is a batch of environments: use GymnasiumVectorEnv.")
        self.metadata = {**type(self).metadata, "render_fps": self.env.render_fps}
        self.render_mode, self.render_height = render_mode, render_height
        space = self.env.action_space(self.params)
        self.action_space = to_gymnasium_space(space)
        self.observation_space = to_gymnasium_space(self.env.observation_space(self.params))
        self._program = _Program.of(self.env)
        self._packed_params = self._program.params.pack(self.params)
        self._packed: Packed | None = None
        self._action = ActionReader(self.env, space)

    @property
    def state(self) -> Any:
        """The state of the environment, as `step` of envcore returns it.

        Raises:
          ResetNeeded: there has been no reset.
        """
        return self._program.snapshot(self._latest()).state

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Starts an episode. `options` are not used."""
        super().reset(seed=seed)
        if self._packed is None or seed is not None:
            key = self.np_random.integers(2**32, size=2, dtype=np.uint32)
            packed = self._program.start(key, self._packed_params)
        else:  # a key from the host would make it three times slower
            packed = self._program.restart(self._packed, self._packed_params)
        self._packed = packed
        return self._program.obs(memories(packed)), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Takes one step; after the end of an episode call `reset`.

        Raises:
          ResetNeeded: there has been no reset.
          InvalidActionError: the action is not of the action space's structure, shape or kind, or is a discrete action
            outside of it.
        """
        program = self._program
        self._packed = packed = program.step(self._latest(), self._packed_params, self._action(action))
        host = memories(packed)
        return program.obs(host), *program.reward_and_flags(host[0]), program.info(host)

    def render(self) -> Any:
        """The picture of the state: uint8 (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        return np.array(render(self.env, self.render_height, self.state, self.params))

    def _latest(self) -> Packed:
        if self._packed is None:
            raise ResetNeeded(f"{self.env.name} has no state yet: call reset() first.")
        return self._packed

    def __getstate__(self) -> dict[str, Any]:
        """Compiled programs stay behind; a copy finds or makes them again."""
        return {name: value for name, value in vars(self).items() if name != "_program"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._program = _Program.of(self.env)


def typed_key(data: Any) -> jax.Array:
    """The threefry key with this data, uint32 (2,)."""
    return jax.random.wrap_key_data(data, impl="threefry2x32")


def next_key(data: Any) -> Any:
    """The data of the next step's key: counted up, as `random.spawn` does, because `split` costs a microsecond."""
    return data + np.array([0, 1], np.uint32)


class _Snapshot(NamedTuple):
    """What the next step needs, and all that this one returns; `key` is a random key's data, uint32 (2,)."""

    key: Any
    state: Any
    obs: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]


class _Program:
    """Compiled functions of an environment, from packed arrays to packed arrays: one call, one array or two to read.

    A step of CartPole takes 17 us; it takes 180 us with a state and results of separate arrays. What a step reads and
    returns is prepared here, because each Python function that it calls takes a microsecond.

    Attributes:
      params: where the params lie.
      obs: makes the observation, of new arrays, from the memories of a packed snapshot.
      reward_and_flags: reads reward, terminated and truncated, each in a word of its own, from the first memory.
      info: makes the environment's own entries of `info`.
    """

    @staticmethod
    @functools.lru_cache(maxsize=512)
    def of(env: Environment[Any, Any]) -> _Program:
        return _Program(env)

    def __init__(self, env: Environment[Any, Any]):
        self._env = env
        default = arguments.default_params(env)
        self.params = Layout(default)
        data = jax.ShapeDtypeStruct((2,), np.uint32)
        self._struct: _Snapshot = jax.eval_shape(self._example, data)
        self._layout = Layout(self._struct)
        parts: _Snapshot = self._layout.parts
        self.obs = _obs_reader(parts.obs, widener(env.observation_space(default)))
        self.reward_and_flags = struct.Struct(f"={parts.reward.start}xf?3x?").unpack_from
        self.info = _info_reader(parts.info)
        self.start, self.restart, self.step = map(jax.jit, (self._start, self._restart, self._step))
        self.snapshot = jax.jit(self._layout.unpack)

    def _example(self, data: Any) -> _Snapshot:
        params = arguments.default_params(self._env)
        obs, state = self._env.reset(typed_key(data), params)
        action = self._env.action_space(params).sample(typed_key(data))
        return _snapshot(data, *self._env.step_env(typed_key(data), state, action, params))._replace(obs=obs)

    def _start(self, data: Any, packed: Packed) -> Packed:
        params = self.params.unpack(packed)
        return self._first(data, self._env.reset(typed_key(data), params)[1], params)

    def _restart(self, latest: Packed, packed: Packed) -> Packed:
        params, before = self.params.unpack(packed), self._layout.unpack(latest)
        data = next_key(before.key)
        return self._first(data, self._env.restart(typed_key(data), jnp.array(True), before.state, params), params)

    def _first(self, data: Any, state: Any, params: Any) -> Packed:
        empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), self._struct[3:])
        return self._layout.pack(_Snapshot(data, state, self._env.get_obs(state, params), *empty))

    def _step(self, latest: Packed, packed: Packed, action: Any) -> Packed:
        params, before = self.params.unpack(packed), self._layout.unpack(latest)
        data = next_key(before.key)
        return self._layout.pack(_snapshot(data, *self._env.step_env(typed_key(data), before.state, action, params)))


def _obs_reader(parts: Any, widen: Callable[[Any], Any] | None) -> Callable[[Memories], Any]:
    read = reader(parts)
    return read if widen is None else lambda host: widen(read(host))


def _info_reader(parts: dict[str, Any]) -> Callable[[Memories], dict[str, Any]]:
    if not parts:
        return lambda host: {}
    read = reader(parts)
    return lambda host: jax.tree.map(lambda array: array[()], read(host))  # numbers instead of arrays of shape ()


def _snapshot(data: Any, obs: Any, state: Any, reward: Any, terminated: Any, info: dict[str, Any]) -> _Snapshot:
    return _Snapshot(data, state, obs, reward, terminated, info["truncated"], own_info(info))


@functools.partial(jax.jit, static_argnums=(0, 1))
def render(env: Environment[Any, Any], height: int, state: Any, params: Any) -> jax.Array:
    return env.render(state, params, height=height)
