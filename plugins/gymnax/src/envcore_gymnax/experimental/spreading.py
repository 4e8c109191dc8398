"""Rollouts over the devices of this process: for each key, and for each member of a population."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import forks
from envcore.devices import spread
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec

T = TypeVar("T")

_CONFIG: Any = jax.config


def for_each_key(rollout: Callable[[jax.Array, Any], T], keys: jax.Array, policy_params: Any) -> T:
    """`rollout(key, policy_params)` for each key, spread over the devices that are free."""
    forks.check()
    return _for_each_key(rollout, _free_devices(keys, policy_params), keys, policy_params)


def for_each_member(rollout: Callable[[jax.Array, Any], T], keys: jax.Array, policy_params: Any) -> T:
    """`rollout(key, policy_params)` for each member and each key: likewise, over members or else over keys."""
    forks.check()
    of_members = _free_devices(policy_params, keys)
    of_keys = _free_devices(keys, policy_params) if of_members is None else None
    return _for_each_member(rollout, of_members, of_keys, keys, policy_params)


@functools.partial(jax.jit, static_argnums=(0, 1))
def _for_each_key(
    rollout: Callable[..., Any], sharding: NamedSharding | None, keys: jax.Array, policy_params: Any
) -> Any:
    return spread(jax.vmap(rollout, (0, None)), sharding, (True, False))(keys, policy_params)


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _for_each_member(
    rollout: Callable[..., Any],
    of_members: NamedSharding | None,
    of_keys: NamedSharding | None,
    keys: jax.Array,
    policy_params: Any,
) -> Any:
    of_member = functools.partial(_for_each_key, rollout, of_keys)
    return spread(jax.vmap(of_member, (None, 0)), of_members, (False, True))(keys, policy_params)


def _free_devices(rows: Any, *args: Any) -> NamedSharding | None:
    """How rows are split over this process's devices where nobody says: over as many as divide their number.

    Args:
      rows: a pytree, whose leaves have an axis for the rows.
      *args: the other arguments of the program, pytrees.

    Returns:
      The split; None if it would be one device, or if something says where the program runs: an argument that is
      placed, a program that contains it, JAX's default device.
    """
    leaves = jax.tree.leaves((rows, args))
    is_inside = any(isinstance(x, Tracer) for x in [*leaves, jnp.zeros(())])  # a constant of a traced program is traced
    is_placed = is_inside or any(getattr(x, "committed", False) for x in leaves)
    num, *_ = *(np.shape(leaves[0]) if leaves else ()), 0
    if is_placed or _CONFIG.jax_default_device is not None or num == 0:
        return None
    devices = jax.local_devices()
    devices = devices[: max(each for each in range(1, len(devices) + 1) if num % each == 0)]
    return NamedSharding(Mesh(np.array(devices), ("envs",)), PartitionSpec("envs")) if len(devices) > 1 else None
