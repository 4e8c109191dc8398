"""How a run splits its arrays over the devices of all its processes. Imports no JAX itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envcore.errors import InvalidArgumentError

from envcore_runs import processes
from envcore_runs.naming import argument

if TYPE_CHECKING:
    from jax.sharding import NamedSharding

AXIS = "envs"
"""The name of the mesh's axis over which a batch is split."""


def sharding(option: str, count: int, devices: int | None = None) -> NamedSharding:
    """How `count` things are split over the devices of all processes: evenly, over as many devices as possible.

    Args:
      option: what the user chose the count by, such as "--num-envs".
      count: number of things.
      devices: the most devices to use in each process; None for all.

    Raises:
      InvalidArgumentError: there are fewer devices, or the processes cannot have the same number of things.
    """
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    here = jax.local_device_count()
    if devices is not None and devices > here:
        raise InvalidArgumentError(f"{argument('devices')} {devices:,}, but JAX has {here:,} in this process.")
    if count % jax.process_count():
        raise InvalidArgumentError(
            f"{option} must be a multiple of the number of processes, {jax.process_count()}, got {count:,}."
        )
    each, of_processes = count // jax.process_count(), processes.devices_of_processes()
    most = devices or min(map(len, of_processes))  # all processes must come to the same mesh
    num = max(num for num in range(1, most + 1) if each % num == 0)
    chosen = [device for found in of_processes for device in found[:num]]
    return NamedSharding(Mesh(np.array(chosen), (AXIS,)), PartitionSpec(AXIS))


def sharding_of_some(count: int, devices: int | None = None) -> NamedSharding:
    """How `count` things are split over the devices of all processes, each of which gets one or several.

    Their number need not be a multiple of that of the devices: the caller fills up.

    Raises:
      InvalidArgumentError: there are fewer devices.
    """
    import jax

    here = min(devices or jax.local_device_count(), -(-count // jax.process_count()))
    return sharding(argument("devices"), here * jax.process_count(), here if devices is None else devices)


def placed(tree: Any, sharding: NamedSharding) -> Any:
    """Arrays that every process has, split over the devices along their first axis."""
    import jax
    import numpy as np
    from envcore import trees

    def leaf(x: Any) -> jax.Array:
        words = np.asarray(jax.random.key_data(x) if trees.is_key(x) else x)
        split = jax.make_array_from_callback(words.shape, sharding, lambda index: words[index])
        return jax.random.wrap_key_data(split, impl=jax.random.key_impl(x)) if trees.is_key(x) else split

    return jax.tree.map(leaf, tree)
