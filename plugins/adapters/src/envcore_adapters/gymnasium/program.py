"""Compiled functions of one environment, from packed arrays to packed arrays."""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment
from envcore.engine import arguments
from envcore.engine.stepping import own_info

from envcore_adapters.gymnasium.kernels import one_kernel
from envcore_adapters.gymnasium.packing import Layout, Memories, Packed, reader
from envcore_adapters.gymnasium.spaces import widener
from envcore_adapters.inputs import typed_key

ACTION_MASK = "action_mask"


def next_key(data: Any) -> Any:
    """The data of the next step's key: counted up, as `random.spawn` does, because `split` costs a microsecond."""
    return data + np.array([0, 1], np.uint32)


def legal_actions(env: Environment, state: Any, params: Any) -> dict[str, Any]:
    """The entry of `info` that says which actions are legal in a state; none if all always are."""
    mask = env.action_mask(state, params)
    return {} if mask is None else {ACTION_MASK: mask}


class _Snapshot(NamedTuple):
    """What the next step needs, and all that this one returns; `key` is a random key's data, uint32 (2,)."""

    key: Any
    state: Any
    obs: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]


class Program:
    """Compiled functions of an environment, from packed arrays to packed arrays: one call, one array or two to read.

    A call of CartPole's step takes 8 us, and 180 us with a state and results of separate arrays. What a step reads and
    returns is prepared here, because each Python function that it calls takes a microsecond.

    Attributes:
      params: where the params lie.
      start: begins an episode from nothing: a random key's data, uint32 (2,), and params to a snapshot, all packed.
      restart: begins the next episode: a snapshot and params to a snapshot.
      step: takes a step: a snapshot, params and an action to a snapshot.
      snapshot: unpacks a snapshot.
      obs: makes the observation, of new arrays, from the memories of a snapshot.
      reward_and_flags: reads reward, terminated and truncated, each in a word of its own, from the first memory.
      info: makes the environment's own entries of `info`.
      first_info: makes those of them that a reset has: the mask of legal actions, if there are masks.
    """

    @staticmethod
    @functools.lru_cache(maxsize=512)
    def of(env: Environment) -> Program:
        """The program, made once for equal environments."""
        return Program(env)

    def __init__(self, env: Environment):
        self._env = env
        default = arguments.default_params(env)
        self.params = Layout(default)
        self._struct: _Snapshot = jax.eval_shape(self._example, jax.ShapeDtypeStruct((2,), np.uint32))
        self._layout = Layout(self._struct)
        parts: _Snapshot = self._layout.parts
        self.obs = _obs_reader(parts.obs, widener(env.observation_space(default)))
        self.reward_and_flags = struct.Struct(f"={parts.reward.start}xf?3x?").unpack_from
        self.info = _info_reader(parts.info)
        self.first_info = _info_reader({name: part for name, part in parts.info.items() if name == ACTION_MASK})
        self.start, self.restart, self.step = jax.jit(self._start), jax.jit(self._restart), jax.jit(self._step)
        self.snapshot = jax.jit(self._layout.unpack)

    def _example(self, data: Any) -> _Snapshot:
        params = arguments.default_params(self._env)
        obs, state = self._env.reset(typed_key(data), params)
        action = self._env.action_space(params).sample(typed_key(data))
        return _snapshot(data, *self._env.step_env(typed_key(data), state, action, params))._replace(obs=obs)

    def _start(self, data: Any, packed: Packed) -> Packed:
        def first(data: Any, packed: Packed) -> Packed:
            params = self.params.unpack(packed)
            return self._first(data, self._env.reset(typed_key(data), params)[1], params)

        return one_kernel(first, data, packed)

    def _restart(self, latest: Packed, packed: Packed) -> Packed:
        def first(latest: Packed, packed: Packed) -> Packed:
            params, before = self.params.unpack(packed), self._layout.unpack(latest)
            data = next_key(before.key)
            return self._first(data, self._env.restart(typed_key(data), jnp.array(True), before.state, params), params)

        return one_kernel(first, latest, packed)

    def _first(self, data: Any, state: Any, params: Any) -> Packed:
        empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), self._struct[3:])
        first = _Snapshot(data, state, self._env.observe(state, params), *empty)
        first = first._replace(info=first.info | legal_actions(self._env, state, params))
        return self._layout.pack(first)

    def _step(self, latest: Packed, packed: Packed, action: Any) -> Packed:
        # Everything in one kernel, also what reads and packs: a step of Breakout takes half the time.
        def stepped(latest: Packed, packed: Packed, action: Any) -> Packed:
            params, before = self.params.unpack(packed), self._layout.unpack(latest)
            data = next_key(before.key)
            step = self._env.step_env(typed_key(data), before.state, action, params)
            return self._layout.pack(_snapshot(data, *step))

        return one_kernel(stepped, latest, packed, action)


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
