"""The first axis of a batch, spread over devices: what `Batched` and `Sharded` need."""

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
"""Of a mapped axis of `jax.shard_map` or `jax.pmap`, or of several that together are one."""


def axis_size(axis_name: AxisName) -> int:
    """The number of devices along a mapped axis."""
    return int(lax.psum(1, axis_name))  # of a Python number, it is known during tracing


def first_row(num: int, axis_name: AxisName) -> jax.Array:
    """The first row of this device's share of a batch, of which every device has `num` rows: int32 ()."""
    return lax.axis_index(axis_name) * np.int32(num)


def share_of(tree: T, num: int, axis_name: AxisName) -> T:
    """This device's `num` rows of every leaf; the leaves are the same on all devices."""
    return jax.tree.map(lambda x: lax.dynamic_slice_in_dim(x, first_row(num, axis_name), num), tree)


def vary_alike(tree: T, *others: PyTree) -> T:
    """The same arrays with the types that a loop inside `jax.shard_map` needs.

    With its default `check_vma=True`, the type of an array names the mesh axes along which it may differ. A constant
    has none, so a `lax.scan` could not start from it and go on with values that depend on the device. Here every array
    gets the axes of all of them, and of `others`. Outside `jax.shard_map` this does nothing.
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
    """The first axis of an array split over all devices, those of other processes included."""
    return NamedSharding(jax.make_mesh((jax.device_count(),), ("envs",)), PartitionSpec("envs"))


def spread(
    fun: Callable[..., T], sharding: NamedSharding | None, arguments: Any, result: Any = True
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

    def specs_of(is_split: Any) -> Any:
        return jax.tree.map(lambda each: PartitionSpec(sharding.spec[0]) if each else PartitionSpec(), is_split)

    specs = specs_of(arguments)
    mapped = jax.shard_map(fun, mesh=sharding.mesh, in_specs=specs, out_specs=specs_of(result), check_vma=False)
    if not any("Explicit" in str(kind) for kind in sharding.mesh.axis_types or ()):
        return mapped

    def resharded(*args: PyTree) -> T:
        """What a user computes, such as actions, may have another sharding, which is then part of its type."""

        def part(spec: PartitionSpec, part: PyTree) -> Any:
            return jax.tree.map(lambda x: jax.sharding.reshard(x, NamedSharding(sharding.mesh, spec)), part)

        return mapped(*jax.tree.map(part, specs, args, is_leaf=lambda each: isinstance(each, PartitionSpec)))

    return resharded
