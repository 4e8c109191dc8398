"""Compiled functions of one environment, from packed arrays to packed arrays."""

from __future__ import annotations

import functools
import operator
import re
import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment, spaces
from envcore.engine import arguments
from envcore.engine.stepping import own_info
from jax import lax

from envcore_adapters.gymnasium.kernels import one_kernel
from envcore_adapters.gymnasium.packing import Layout, Memories, Packed, memories, reader
from envcore_adapters.gymnasium.spaces import widener
from envcore_adapters.inputs import typed_key

# Operations as XLA counts them. A program of fewer it runs on the CPU in the thread that calls it, others in another
# one, which takes 30 us longer. Two steps of Breakout have 57,000; Space Invaders' 86,000 take longer than two calls.
_MOST_IN_THE_SAME_THREAD, _MOST = 1_000, 60_000
_UNCOUNTED = re.compile("stablehlo.while|callback")

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


class Position(NamedTuple):
    """A snapshot among others.

    Attributes:
      packed: the packed snapshots, one after the other.
      row: the number of the one that was stepped to.
      host: the memories of the arrays on the host.
    """

    packed: Packed
    row: int
    host: Memories

    def __reduce__(self) -> tuple[Any, ...]:
        return _position, (self.packed, self.row)


def _num_rows(n: int) -> int:
    """The snapshots after the first of `n` actions, after two, and the first of an episode; one if there are none."""
    return n + n * n + 1


def _count(program: Any) -> float:
    return (program.cost_analysis() or {}).get("flops", np.inf)


def _position(packed: Packed, row: int) -> Position:
    return Position(packed, row, memories(packed))


class Program:
    """Compiled functions of an environment, from packed arrays to packed arrays: one call, one array or two to read.

    A step of CartPole takes 17 us; it takes 180 us with a state and results of separate arrays. What a step reads and
    returns is prepared here, because each Python function that it calls takes a microsecond.

    A call takes longer than the steps of a light environment. Where it has few actions, a call takes the next two steps
    for every choice of both, so that only every other step needs one: with a reader of observations and resets,
    CartPole takes 24 us instead of 38, Breakout 50 instead of 78. Floats may be rounded differently than in `step_env`.

    Attributes:
      looks_ahead: whether it does so.
      params: where the params lie.
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
        data = jax.ShapeDtypeStruct((2,), np.uint32)
        self._struct: _Snapshot = jax.eval_shape(self._example, data)
        self._layout = Layout(self._struct)
        parts: _Snapshot = self._layout.parts
        self.obs = _obs_reader(parts.obs, widener(env.observation_space(default)))
        self.reward_and_flags = struct.Struct(f"={parts.reward.start}xf?3x?").unpack_from
        self.info = _info_reader(parts.info)
        self.first_info = _info_reader({name: part for name, part in parts.info.items() if name == ACTION_MASK})
        self._one_step, self._two_steps = jax.jit(self._step), jax.jit(self._ahead)
        self._start, self._restart = jax.jit(self._started), jax.jit(self._restarted)
        self._snapshot = jax.jit(lambda latest, row: self._layout.unpack(self._row(latest, row)))
        self._packed_struct: Packed = jax.eval_shape(self._layout.pack, self._struct)
        self._widths = [array.size for array in self._packed_struct]
        space = env.action_space(default)
        self._num_actions = n = space.n if isinstance(space, spaces.Discrete) and self._gains(space) else 0
        self.looks_ahead = n > 0
        num_rows = _num_rows(n)
        self._last_row = num_rows - 1
        self._rows = jax.device_put([np.int32(row) for row in range(num_rows)])  # from the host, 5 us each time
        self._slices = [[slice(row * width, (row + 1) * width) for width in self._widths] for row in range(num_rows)]

    def start(self, data: Any, params: Packed) -> Position:
        """Begins an episode from nothing; `data` is a random key's, uint32 (2,)."""
        return _position(self._start(data, params), self._last_row)

    def restart(self, latest: Position, params: Packed) -> Position:
        """Begins the next episode."""
        return _position(self._restart(latest.packed, self._rows[latest.row], params), self._last_row)

    def step(self, latest: Position, params: Packed, action: Any) -> Position:
        """Takes a step; with a look ahead, the action is an `int` of the space."""
        packed, row, host = latest
        n = self._num_actions
        if not n:
            return _position(self._one_step(packed, params, action), 0)
        if row < n:
            return Position(packed, n + row * n + action, host)
        return _position(self._two_steps(packed, self._rows[row], params), action)

    def snapshot(self, position: Position) -> _Snapshot:
        """The snapshot as a tree of JAX arrays."""
        return self._snapshot(position.packed, self._rows[position.row])

    def memories(self, position: Position) -> Memories:
        """The memories of the snapshot on the host."""
        if not self.looks_ahead:
            return position.host
        return list(map(operator.getitem, position.host, self._slices[position.row]))

    def _gains(self, space: spaces.Discrete) -> bool:
        """Whether two steps for every choice take less time than a call."""
        if any(part.start is None for part in self._layout.leaves):
            return False
        params = jax.eval_shape(self.params.pack, arguments.default_params(self._env))
        number = jax.ShapeDtypeStruct((), np.int32)
        one = self._one_step.lower(self._packed_struct, params, number)
        count = _count(one)
        if count * space.n * (space.n + 1) > _MOST or _UNCOUNTED.search(one.as_text()):
            return False
        if count > _MOST_IN_THE_SAME_THREAD:
            return True
        num_rows = _num_rows(space.n)
        rows = [jax.ShapeDtypeStruct((num_rows * array.size,), array.dtype) for array in self._packed_struct]
        two = self._two_steps.lower(tuple(rows), number, params)
        return _count(two) <= _MOST_IN_THE_SAME_THREAD and _count(two.compile()) <= _MOST_IN_THE_SAME_THREAD

    def _example(self, data: Any) -> _Snapshot:
        params = arguments.default_params(self._env)
        obs, state = self._env.reset(typed_key(data), params)
        action = self._env.action_space(params).sample(typed_key(data))
        return _snapshot(data, *self._env.step_env(typed_key(data), state, action, params))._replace(obs=obs)

    def _started(self, data: Any, packed: Packed) -> Packed:
        params = self.params.unpack(packed)
        return self._first(data, self._env.reset(typed_key(data), params)[1], params)

    def _restarted(self, latest: Packed, row: Any, packed: Packed) -> Packed:
        params, before = self.params.unpack(packed), self._layout.unpack(self._row(latest, row))
        data = next_key(before.key)
        return self._first(data, self._env.restart(typed_key(data), jnp.array(True), before.state, params), params)

    def _first(self, data: Any, state: Any, params: Any) -> Packed:
        empty = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), self._struct[3:])
        first = _Snapshot(data, state, self._env.observe(state, params), *empty)
        first = first._replace(info=first.info | legal_actions(self._env, state, params))
        packed = self._layout.pack(first)
        return tuple(jnp.pad(array, (self._last_row * array.size, 0)) for array in packed)

    def _step(self, latest: Packed, packed: Packed, action: Any) -> Packed:
        params, before = self.params.unpack(packed), self._layout.unpack(latest)
        return self._layout.pack(one_kernel(self._stepped, before, params, action))

    def _ahead(self, latest: Packed, row: Any, packed: Packed) -> Packed:
        space: Any = self._env.action_space(arguments.default_params(self._env))
        actions = np.arange(space.n, dtype=space.dtype)

        def each_action(before: Packed, params: Any) -> Packed:
            step = functools.partial(self._stepped, self._layout.unpack(before), params)
            return jax.vmap(lambda action: self._layout.pack(step(action)))(actions)

        def both_steps(latest: Packed, row: Any, packed: Packed) -> list[Packed]:
            params = self.params.unpack(packed)
            first = each_action(self._row(latest, row), params)
            # Not `vmap`: in two of them XLA's simplifier goes round in circles, and complains.
            second = [each_action(tuple(array[action] for array in first), params) for action in range(space.n)]
            empty = tuple(jnp.zeros(width, array.dtype) for array, width in zip(latest, self._widths, strict=True))
            return [first, *second, empty]

        parts = zip(*one_kernel(both_steps, latest, row, packed), strict=True)
        return tuple(jnp.concatenate([part.reshape(-1) for part in each]) for each in parts)

    def _row(self, packed: Packed, row: Any) -> Packed:
        """One packed snapshot of several; a single one itself."""
        if packed[0].size == self._widths[0]:
            return packed
        pairs = zip(packed, self._widths, strict=True)
        return tuple(lax.dynamic_slice(array, (row * width,), (width,)) for array, width in pairs)

    def _stepped(self, before: _Snapshot, params: Any, action: Any) -> _Snapshot:
        data = next_key(before.key)
        return _snapshot(data, *self._env.step_env(typed_key(data), before.state, action, params))


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
