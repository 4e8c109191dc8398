"""Splits the first axis of a batch over devices, for `Batched` and `Sharded`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
import numpy as np
from jax import lax
from jax.sharding import NamedSharding, PartitionSpec

from envcore.typing import PyTree

T = TypeVar("T")

AxisName = str | tuple[str, ...]
"""The name of a mapped axis of `jax.shard_map` or `jax.pmap`, or a tuple of names that act as one axis."""


def axis_size(axis_name: AxisName) -> int:
    """Returns the number of devices along a mapped axis."""
    return int(lax.psum(1, axis_name))  # for a Python number, it is known while tracing


def first_row(num: int, axis_name: AxisName) -> jax.Array:
    """Returns the index of the first row of this device's share of a batch, with `num` rows per device: int32 ()."""
    return lax.axis_index(axis_name) * np.int32(num)


def share_of(tree: T, num: int, axis_name: AxisName) -> T:
    """Returns this device's `num` rows of every leaf. The leaves must be the same on all devices."""
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, first_row(num, axis_name), num), tree)


def vary_alike(tree: T, *others: PyTree) -> T:
    """Gives arrays the types that a loop inside `jax.shard_map` needs.

    With its default `check_vma=True`, an array's type lists the mesh axes along which the array may differ. A constant
    has no such axes, so a `lax.scan` cannot start from a constant and continue with values that depend on the device.
    This function gives every array the axes of all of them, and of `others`. Outside `jax.shard_map` it is a no-op.
    """
    axes = frozenset[str]().union(*map(_varying_axes, jax.tree.leaves((tree, others))))

    def leaf(x: Any) -> Any:
        missing = tuple(sorted(axes - _varying_axes(x)))
        return _cast_to_varying(x, missing) if missing else x

    return jax.tree.map(leaf, tree) if axes else tree


def _varying_axes(x: Any) -> frozenset[str]:
    aval = getattr(x, "aval", None)
    manual = getattr(aval, "manual_axis_type", None)  # since JAX 0.10
    return getattr(aval, "vma", frozenset[str]()) if manual is None else manual.varying


def _cast_to_varying(x: Any, axes: tuple[str, ...]) -> jax.Array:
    cast: Any = lax
    return cast.pcast(x, axes, to="varying") if hasattr(lax, "pcast") else cast.pvary(x, axes)  # before JAX 0.9


def all_devices() -> NamedSharding:
    """Returns a sharding of the first axis over all devices, including those of other processes."""
    return NamedSharding(jax.make_mesh((jax.device_count(),), ("envs",)), PartitionSpec("envs"))


def spread(
    fun: Callable[..., T], sharding: NamedSharding | None, arguments: Any, result: Any = True
) -> Callable[..., T]:
    """Runs `fun` on every device with its share of the arguments.

    Args:
      fun: a function of pytrees.
      sharding: sharding of the first axis of a batch. None for a single device, where `fun` is returned unchanged.
      arguments: for each argument, whether its first axis is split. If not, all devices get the whole argument. Can be
        pytrees, like `in_axes` of `jax.vmap`.
      result: the same for the return value. Leaves that are not split must be equal on all devices.
    """
    if sharding is None:
        return fun

    def specs_of(is_split: Any) -> Any:
        return jax.tree.map(lambda each: PartitionSpec(sharding.spec[0]) if each else PartitionSpec(), is_split)

    specs = specs_of(arguments)
    mapped = jax.shard_map(fun, mesh=sharding.mesh, in_specs=specs, out_specs=specs_of(result), check_vma=False)
    if not any("Explicit" in str(kind) for kind in sharding.mesh.axis_types or ()):
        return mapped

    def resharded(*args: PyTree) -> T:
        """Reshards the arguments, because a user's values, such as actions, may have another sharding in their type."""

        def part(spec: PartitionSpec, part: PyTree) -> Any:
            return jax.tree.map(lambda x: jax.sharding.reshard(x, NamedSharding(sharding.mesh, spec)), part)

        return mapped(*jax.tree.map(part, specs, args, is_leaf=lambda each: isinstance(each, PartitionSpec)))

    return resharded
