"""The state of a rollout before its first step, on the devices, and whether it fits into memory."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore.devices import spread
from envcore.environment import Environment
from envcore.errors import InvalidArgumentError
from envcore.rollout import RolloutState, start_rollout
from envcore.wrappers import Batched
from jax.sharding import NamedSharding

from envcore_runs import distributed, memory
from envcore_runs.episode_statistics import Running, empty_summary, nothing_running
from envcore_runs.policies import Player


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Carry:
    """The state of a measured rollout on the device.

    Attributes:
      rollout: the state that `run_rollout` continues from.
      obs: the last observation. It is carried from step to step because XLA would not compute an observation that
        nothing reads, but a real policy reads it.
      is_valid: whether all actions so far were in the action space, bool (num_envs,).
      running: the unfinished episodes.
    """

    rollout: RolloutState
    obs: Any
    is_valid: jax.Array
    running: Running


SPLIT: Any = Carry(RolloutState(False, True), True, True, True)  # pyright: ignore[reportArgumentType]
"""Which parts of a `Carry` have an axis for the environments."""


def check_memory(
    env: Environment, params: Any, num_envs: int, sharding: NamedSharding, recorded_bytes: int = 0
) -> None:
    """Checks, before anything is allocated, that so many environments fit into memory.

    Args:
      env: the environment.
      params: its params.
      num_envs: number of copies.
      sharding: the devices.
      recorded_bytes: what is recorded of a chunk of one environment.

    Raises:
      NotEnoughMemoryError: they do not; the message says how many fit.
      InvalidArgumentError: they fit, but int32 cannot count them.
    """
    key = jax.eval_shape(lambda: jax.random.key(0))
    one = Batched(env, 1)
    carry = jax.eval_shape(functools.partial(_begin, one, params), key, 1)
    summary = jax.eval_shape(empty_summary, carry.running)
    action = jax.eval_shape(one.action_space(params).sample, key)
    # Measured: the carries at the start, before and after a chunk, the loop's arrays, and the batch's action space.
    bytes_each = 3 * memory.tree_bytes(carry) + 5 * memory.tree_bytes(summary) + 4 * memory.tree_bytes(action)
    bytes_each += 3 * recorded_bytes  # the rows, the joined ones and the file
    memory.check_fits("num_envs", num_envs, bytes_each, memory.device_bytes(sharding))
    if num_envs >= 2**31:
        raise InvalidArgumentError(f"num_envs must be less than 2**31, got {num_envs:,}.")


def batched(player: Player, num_envs: int, sharding: NamedSharding) -> tuple[NamedSharding | None, Batched]:
    """The devices over which the environments are spread, None for one, and the batch of one of them."""
    num = sharding.mesh.size
    return (sharding if num > 1 else None), Batched(player.env, num_envs // num, distributed.AXIS if num > 1 else None)


def started(batch: Batched, params: Any, key: jax.Array, episodes: int, sharding: NamedSharding | None) -> Carry:
    """The state before the first step, on all devices; `episodes` of each environment are to be counted."""
    # Numpy's arrays are those that every process can hand to a program of all processes.
    words, impl = np.asarray(jax.random.key_data(key)), jax.random.key_impl(key)

    def begin(words: jax.Array, episodes: jax.Array) -> Carry:
        return _begin(batch, params, jax.random.wrap_key_data(words, impl=impl), episodes)

    return jax.jit(spread(begin, sharding, (False, False), SPLIT))(words, np.int32(episodes))


def _begin(batch: Batched, params: Any, key: jax.Array, episodes: jax.Array) -> Carry:
    """Resets the environments."""
    rollout = start_rollout(batch, key, params)
    return Carry(
        rollout,
        batch.observe(rollout.state, params),
        jnp.ones(batch.num_envs, jnp.bool_),
        nothing_running(batch.batch_shape, episodes),
    )
