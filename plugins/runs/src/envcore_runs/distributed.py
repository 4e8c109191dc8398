"""Distributed runs: connects several processes with JAX's distributed runtime, and splits arrays over their devices."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import sys
from importlib import metadata
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from envcore import registry, trees
from envcore.errors import InvalidArgumentError, one_line
from jax.experimental.multihost_utils import process_allgather
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from envcore_runs.errors import ProcessError

AXIS = "envs"
"""Name of the mesh axis over which a batch is split."""

_CPU_DEVICES = "JAX_NUM_CPU_DEVICES"
_COUNTS = ("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE")
"""Environment variables with which SLURM and Open MPI give the number of processes."""
_SIGNS = ("JAX_COORDINATOR_ADDRESS", "JOB_COMPLETION_INDEX", "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES")
"""Environment variables that an indexed job of Kubernetes or a Cloud TPU sets."""
_LIBRARIES = ("envcore", "jax", "jaxlib", "numpy", "flax")
_SETTINGS = ("jax_enable_x64", "jax_default_prng_impl", "jax_threefry_partitionable", "jax_default_matmul_precision")


def start(
    given: Any = None,
    devices: int | None = None,
    coordinator: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
) -> None:
    """Selects the devices, and connects the processes of a run with `jax.distributed.initialize`.

    Call it before you import algorithms, policies or environments, because JAX cannot connect after a module has
    computed something.

    Args:
      given: the arguments of this process. Their `repr` must be the same in all processes.
      devices: number of devices in this process, or None for all. JAX treats a CPU as one device, but here None makes
        every available core a device.
      coordinator: HOST:PORT where process 0 listens. With an IP address, it listens on that address only. Without
        `coordinator`, processes started by SLURM, Open MPI, Kubernetes or a Cloud TPU find each other, and any other
        process runs alone.
      num_processes: number of processes. 1 makes a process run alone even in a cluster.
      process_id: number of this process, starting at 0.

    Raises:
      ProcessError: the runtime cannot start, or the processes have different arguments, versions or numbers of devices.
    """
    _make_cpu_devices(devices)
    is_asked = coordinator is not None or process_id is not None or (num_processes or 1) > 1
    if not is_asked and (num_processes == 1 or not _is_in_cluster()):
        return
    jax.config.update("jax_enable_preemption_service", False)  # it would handle SIGTERM
    try:
        jax.distributed.initialize(
            coordinator, num_processes, process_id, coordinator_bind_address=_address(coordinator)
        )
        jax.devices()
    except Exception as error:  # from JAX, its runtime, or the cluster's manager
        advice = "" if is_asked else " To run alone, pass num_processes=1."
        raise ProcessError(f"JAX cannot connect the processes: {one_line(error)}{advice}") from error
    _check_same(given)


def is_first() -> bool:
    """Returns whether this is process 0, which writes and reports for all processes."""
    return jax.process_index() == 0


def gathered(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Gathers numbers from all processes: float64 (rows, ...), joined along the first axis in process order."""
    if jax.process_count() == 1:
        return numbers
    words = np.ascontiguousarray(numbers, np.float64).view(np.uint32)  # JAX would convert float64 to float32
    return np.ascontiguousarray(process_allgather(words, tiled=True)).view(np.float64)


def highest(number: float) -> float:
    """Returns the highest number among all processes."""
    return float(gathered(np.array([number], np.float64)).max())


def any_says(flag: bool) -> bool:
    """Returns whether the flag is true in any process. Waits for all of them."""
    return highest(flag) > 0


def whole(tree: Any) -> Any:
    """Gathers split arrays as numpy arrays in every process. Keys stay keys. The inverse of `placed`."""

    def leaf(x: Any) -> Any:
        if trees.is_key(x):
            return jax.random.wrap_key_data(jnp.asarray(leaf(jax.random.key_data(x))), impl=jax.random.key_impl(x))
        return process_allgather(x, tiled=True) if jax.process_count() > 1 else np.asarray(x)

    return jax.tree.map(leaf, tree)


def placed(tree: Any, sharding: NamedSharding) -> Any:
    """Splits arrays that every process has over the devices, along their first axis."""

    def leaf(x: Any) -> jax.Array:
        words = np.asarray(jax.random.key_data(x) if trees.is_key(x) else x)
        split = jax.make_array_from_callback(words.shape, sharding, lambda index: words[index])
        return jax.random.wrap_key_data(split, impl=jax.random.key_impl(x)) if trees.is_key(x) else split

    return jax.tree.map(leaf, tree)


def sharding(name: str, count: int, devices: int | None = None) -> NamedSharding:
    """Splits `count` items evenly over the devices of all processes, using as many devices as possible.

    Args:
      name: name of the argument that set the count.
      count: number of items.
      devices: maximum number of devices per process, or None for all.

    Raises:
      InvalidArgumentError: there are fewer devices, or the count is not a multiple of the number of processes.
    """
    here, num_processes = jax.local_device_count(), jax.process_count()
    if devices is not None and devices > here:
        raise InvalidArgumentError(f"devices is {devices:,}, but JAX has {here:,} in this process.")
    if count % num_processes:
        raise InvalidArgumentError(
            f"{name} must be a multiple of the number of processes, {num_processes}, got {count:,}."
        )
    num = max(num for num in range(1, (devices or here) + 1) if count // num_processes % num == 0)
    found = sorted(jax.devices(), key=lambda device: (device.process_index, device.id))
    chosen = np.array(found).reshape(num_processes, here)[:, :num].reshape(-1)
    return NamedSharding(Mesh(chosen, (AXIS,)), PartitionSpec(AXIS))


def sharding_of_some(count: int, devices: int | None = None) -> NamedSharding:
    """Splits `count` items over the devices of all processes, with at least one per device.

    The count doesn't need to be a multiple of the number of devices. The caller has to pad it.

    Raises:
      InvalidArgumentError: there are fewer devices.
    """
    here = min(devices or jax.local_device_count(), -(-count // jax.process_count()))
    return sharding("devices", here * jax.process_count(), here if devices is None else devices)


def leave(status: int) -> None:
    """Exits a failed process at once if there are others, because a regular exit would wait for them."""
    if jax.distributed.is_initialized():
        sys.stderr.flush()
        os._exit(status)


def _make_cpu_devices(devices: int | None) -> None:
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "") or _CPU_DEVICES in os.environ:
        return
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with contextlib.suppress(RuntimeError):  # the backend has already started, with its own number of devices
        jax.config.update("jax_num_cpu_devices", devices or cores)


def _is_in_cluster() -> bool:
    """Returns whether a cluster has started this process together with others."""
    is_counted = any(os.environ.get(name, "1") != "1" for name in _COUNTS)
    return is_counted or any(name in os.environ for name in _SIGNS) or importlib.util.find_spec("libtpu") is not None


def _address(coordinator: str | None) -> str | None:
    """Returns where process 0 listens. None means all interfaces: host names often resolve to 127.0.1.1 locally."""
    host = (coordinator or "").rpartition(":")[0]
    is_address = host == "localhost" or host.startswith("[") or host.replace(".", "").isdigit()
    return coordinator if is_address else None


def _check_same(given: Any) -> None:
    if jax.device_count() != jax.process_count() * jax.local_device_count():
        raise ProcessError("the processes have different numbers of devices: start all of them with the same number.")
    versions: dict[str, Any] = {name: metadata.version(name) for name in _LIBRARIES}
    versions |= {each.distribution: each.version for each in registry.plugins if each.status == "loaded"}
    versions |= {name: getattr(jax.config, name) for name in _SETTINGS}
    kinds = {"command": given, "versions or JAX settings": versions}
    digests = [np.frombuffer(hashlib.sha256(repr(each).encode()).digest(), np.uint8) for each in kinds.values()]
    found = process_allgather(np.stack(digests))
    for number, kind in np.argwhere((found != found[0]).any(-1)):
        jax.distributed.shutdown()  # all processes get here and exit one by one
        raise ProcessError(f"process {number} differs from process 0 in its {list(kinds)[kind]}: they must match.")
