"""The first axis of a batch, spread over devices: what `Batched` and `Sharded` need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from envcore.errors import EnvcoreError
from envcore.typing import PyTree

T = TypeVar("T")

AxisName = str | tuple[str, ...]
"""Of a mapped axis of `jax.shard_map` or `jax.pmap`, or of several that together are one."""

_CONFIG: Any = jax.config

IS_SUPPORTED = jax.__version_info__ >= (0, 8)
"""In older releases a loop on a CPU cannot ask which device it runs on: the process crashes."""


def check_supported(what: str) -> None:
    """Raises `EnvcoreError` on releases of JAX that are too old."""
    if not IS_SUPPORTED:
        raise EnvcoreError(f"{what} needs JAX 0.8.0 or newer, this is {jax.__version__}: pip install --upgrade jax.")


def axis_size(axis_name: AxisName) -> int:
    """The number of devices along a mapped axis."""
    return int(lax.psum(1, axis_name))  # of a Python number, it is known during tracing


def first_row(num: int, axis_name: AxisName) -> jax.Array:
    """The first row of this device's share of a batch, of which every device has `num` rows: int32 ()."""
    return lax.axis_index(axis_name) * np.int32(num)


def share_of(tree: T, num: int, axis_name: AxisName) -> T:
    """This device's `num` rows of every leaf; the leaves are the same on all devices."""
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, first_row(num, axis_name), num), tree)


def free_devices(rows: PyTree, *args: PyTree) -> NamedSharding | None:
    """How rows are split over this process's devices where nobody says: over as many as divide their number.

    Args:
      rows: a pytree, whose leaves have an axis for the rows.
      *args: the other arguments of the program, pytrees.

    Returns:
      The split; None if it would be one device, or if something says where the program runs: an argument that is
      placed, a program that contains it, JAX's default device; and before JAX 0.8.0.
    """
    leaves = jax.tree.leaves((rows, args))
    is_inside = any(isinstance(x, Tracer) for x in [*leaves, jnp.zeros(())])  # a constant of a traced program is traced
    is_placed = is_inside or any(getattr(x, "committed", False) for x in leaves)
    num, *_ = *(np.shape(leaves[0]) if leaves else ()), 0
    if is_placed or not IS_SUPPORTED or _CONFIG.jax_default_device is not None or num == 0:
        return None
    devices = jax.local_devices()
    devices = devices[: max(each for each in range(1, len(devices) + 1) if num % each == 0)]
    return NamedSharding(Mesh(np.array(devices), ("envs",)), PartitionSpec("envs")) if len(devices) > 1 else None


def all_devices(axis_name: str = "envs") -> NamedSharding:
    """The first axis of an array split over all devices, those of other processes included."""
    return NamedSharding(jax.make_mesh((jax.device_count(),), (axis_name,)), PartitionSpec(axis_name))


def spread(
    fun: Callable[..., T], sharding: NamedSharding | None, arguments: tuple[PyTree, ...], result: PyTree = True
) -> Callable[..., T]:
    """Runs `fun` on every device with its share of the arguments.

    Args:
      fun: a function of pytrees.
      sharding: of the first axis of a batch; None for one device, where it is `fun` itself.
      arguments: for each argument, whether its leaves have that axis; if not, all devices get the same. Like those of
        `in_axes` of `jax.vmap`, they may be pytrees.
      result: likewise for what it returns; leaves without that axis must be equal on all devices.
    """
    if sharding is None:
        return fun

    def specs_of(is_split: PyTree) -> PyTree:
        return jax.tree.map(lambda each: PartitionSpec(sharding.spec[0]) if each else PartitionSpec(), is_split)

    specs = specs_of(arguments)
    mapped = jax.shard_map(fun, mesh=sharding.mesh, in_specs=specs, out_specs=specs_of(result), check_vma=False)
    if not any("Explicit" in str(kind) for kind in sharding.mesh.axis_types or ()):
        return mapped

    def resharded(*args: PyTree) -> T:
        """What a user computes, such as actions, may have another sharding, which is then part of its type."""

        def part(spec: PartitionSpec, part: PyTree) -> PyTree:
            return jax.tree.map(lambda x: jax.sharding.reshard(x, NamedSharding(sharding.mesh, spec)), part)

        return mapped(*jax.tree.map(part, specs, args, is_leaf=lambda each: isinstance(each, PartitionSpec)))

    return resharded
