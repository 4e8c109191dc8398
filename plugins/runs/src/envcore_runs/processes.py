"""The devices and the processes that a run works on. JAX's distributed runtime does the work.

Imports no JAX before `start`, which is called before JAX starts its backend.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import functools
import inspect
import os
import re
import sys
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from envcore.errors import InvalidArgumentError, one_line

from envcore_runs import cluster, interrupt, request
from envcore_runs.errors import ProcessError

if TYPE_CHECKING:
    import numpy as np
    from jax.sharding import Mesh

    from envcore_runs.link import Link

_CPU_DEVICES = "JAX_NUM_CPU_DEVICES"
_FOREVER = 7 * 24 * 3600  # seconds
_END = "end"

_LONGEST_TIMEOUT = 10**6
"""Seconds, eleven days: a thread can wait for 292 years, and JAX for 68."""


class _Runtime:
    """State that exists once per process."""

    link: Link | None = None
    has_agreed = False  # to end by a signal


def start(
    given: Mapping[str, str],
    devices: int | None = None,
    coordinator: str | None = None,
    num_processes: int | None = None,
    process_id: int | None = None,
    timeout: int = 300,
    cache: Path | None = None,
) -> None:
    """Prepares JAX: chooses the devices, and connects the processes of one run.

    Call it before you import algorithms, policies or environments: JAX cannot connect once a module has computed
    something. A process that is alone does not import JAX here, unless there is a `cache`.

    All processes have to be asked to do the same, and have the same versions.

    Args:
      given: what this process is asked to do, texts by name: the processes compare them.
      devices: devices of this process; None for all. On a CPU, which JAX takes for one device, None makes each of the
        cores that this process may use a device.
      coordinator: host and port at which process 0 listens. Without it, the processes that a cluster has started
        (SLURM, Open MPI, Kubernetes, Cloud TPU) find each other, and any other process is alone.
      num_processes: number of processes; 1 for a process that is alone in spite of what a cluster has started.
      process_id: number of this process, from 0.
      timeout: seconds to wait for the others.
      cache: a folder for compiled programs; None to compile them each time.

    Raises:
      InvalidArgumentError: an argument is invalid, or one of them is missing.
      ProcessError: the others do not answer in time, they were given something else, or JAX's runtime cannot start.
    """
    cluster.check_devices(devices)
    if timeout < 1:
        raise InvalidArgumentError(f"--connect-timeout must be at least 1, got {timeout}.")
    if timeout > _LONGEST_TIMEOUT:
        raise InvalidArgumentError(f"--connect-timeout must be at most {_LONGEST_TIMEOUT:,}, got {timeout:,}.")
    cluster.check_addresses(coordinator, num_processes, process_id)
    if cache is not None:
        from envcore_runs.program_cache import keep_programs

        keep_programs(cache)
    _make_cpu_devices(cluster.num_cores() if devices is None else devices)
    if coordinator is not None or (num_processes is None and cluster.is_in_cluster()):
        _connect(given, coordinator, num_processes, process_id, timeout)


def is_first() -> bool:
    """Whether this is process 0, which reports for all of them."""
    import jax

    return jax.process_index() == 0


def is_alone() -> bool:
    """Whether this is the only process of its command."""
    import jax

    return jax.process_count() == 1


def whole(tree: Any) -> Any:
    """Arrays that are split over devices, as this process's own: the inverse of `placement.placed`.

    Raises:
      ProcessError: a process has ended.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np
    from envcore import trees

    words = jax.tree.map(lambda x: jax.random.key_data(x) if trees.is_key(x) else x, tree)
    if jax.process_count() > 1:
        with _together():
            words = jax.block_until_ready(_everywhere(jax.tree.leaves(words)[0].sharding.mesh)(words))

    def leaf(x: Any, found: Any) -> Any:
        values = np.asarray(found)  # on the host: the arrays of all devices may not fit into one
        return jax.random.wrap_key_data(jnp.asarray(values), impl=jax.random.key_impl(x)) if trees.is_key(x) else values

    return jax.tree.map(leaf, tree, words)


def gathered(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The numbers of all processes, float64 (rows, ...): joined along the first axis, in the order of the processes.

    Raises:
      ProcessError: a process has ended.
      KeyboardInterrupt: a signal has come to a process, inside `interruptible(is_shared=True)`; raised in all of them.
    """
    import jax
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    if jax.process_count() == 1:
        return numbers
    words = np.append(numbers, float(interrupt.noted()))[None].view(np.uint32)  # JAX would make them float32
    mesh = Mesh(np.array([found[0] for found in devices_of_processes()]), ("processes",))
    with _together():
        split = jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("processes")), words)
        found = np.asarray(_everywhere(mesh)(split))
    found = found.view(np.float64)
    if signum := int(found[:, -1].max()):
        _Runtime.has_agreed = True
        interrupt.agree(signum)
    return found[:, :-1].reshape(-1, *numbers.shape[1:])


def any_says(flag: bool) -> bool:
    """Whether the flag is true in any process; waits for all of them.

    Raises:
      ProcessError, KeyboardInterrupt: as for `gathered`.
    """
    import numpy as np

    return bool(gathered(np.array([flag], np.float64)).any())


@functools.cache  # and so the program: it is compiled once, and called for every chunk of a rollout
def _everywhere(mesh: Mesh) -> Callable[[Any], Any]:
    """A program that copies split arrays to all devices of a mesh."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    return jax.jit(lambda tree: tree, out_shardings=NamedSharding(mesh, PartitionSpec()))


def devices_of_processes() -> list[list[Any]]:
    """The devices of each process, in a fixed order."""
    import jax

    found: dict[int, list[Any]] = {}
    for device in sorted(jax.devices(), key=lambda device: (device.process_index, device.id)):
        found.setdefault(device.process_index, []).append(device)
    return list(found.values())


def _make_cpu_devices(num: int) -> None:
    if "xla_force_host_platform_device_count" in os.environ.get("XLA_FLAGS", "") or _CPU_DEVICES in os.environ:
        return
    if "jax" not in sys.modules:  # it reads the variable; to import it only for this would delay the first errors
        os.environ[_CPU_DEVICES] = str(num)
        return
    import jax

    with contextlib.suppress(RuntimeError):  # the backend has been started, with the devices that it has
        jax.config.update("jax_num_cpu_devices", num)


def _connect(
    given: Mapping[str, str], coordinator: str | None, num_processes: int | None, process_id: int | None, timeout: int
) -> None:
    """Connects the processes and starts JAX's distributed runtime; a process without any others stays alone."""
    import jax
    from jax._src import clusters  # nothing public says where the processes of a cluster are

    from envcore_runs.link import Link

    with contextlib.suppress(AttributeError):  # an older JAX does not have it
        jax.config.update("jax_enable_preemption_service", False)  # when another process ends, it logs that too
    with contextlib.suppress(AttributeError):
        jax.config.update("jax_check_proxy_envs", False)  # it would warn of the variable below
    os.environ.setdefault("no_grpc_proxy", "127.0.0.1")  # of the link
    coordinator = coordinator or os.environ.get("JAX_COORDINATOR_ADDRESS")
    try:
        found = clusters.ClusterEnv.auto_detect_unset_distributed_params(
            coordinator, num_processes, process_id, None, None, timeout
        )
    except Exception as error:
        raise ProcessError(f"cannot find the other processes of the cluster: {one_line(error)}") from error
    address, num, number, _ = found
    if address is None or num is None or number is None:
        if coordinator is not None:
            raise InvalidArgumentError("--coordinator needs --num-processes and --process-id here.")
        return
    link = _Runtime.link = Link(address, num, number, timeout)
    texts = link.exchange(request.described(given).text())
    if different := request.difference([request.Request.of_process(*each) for each in enumerate(texts)]):
        raise ProcessError(different)
    more: dict[str, Any] = {}
    if "heartbeat_timeout_seconds" in inspect.signature(jax.distributed.initialize).parameters:
        more["heartbeat_timeout_seconds"] = _FOREVER  # a process that is stopped is waited for
    try:
        with interrupt.kept():  # an older JAX takes SIGTERM for itself
            jax.distributed.initialize(link.coordinator, num, number, coordinator_bind_address=link.coordinator, **more)
        jax.devices()
    except Exception as error:
        raise ProcessError(f"cannot start JAX's distributed runtime: {one_line(error)}") from error
    atexit.register(_end, link)


def leave(status: int) -> None:
    """Ends a process that has failed, if it is connected: a regular exit would wait for the others."""
    if _Runtime.link is not None:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def part() -> None:
    """Disconnects processes that have agreed to end: a process that vanished would make the others fail."""
    if _Runtime.has_agreed and _Runtime.link is not None:
        with contextlib.suppress(Exception):
            _leave_together(_Runtime.link)


def _end(link: Link) -> None:
    """At the end of the process."""
    from envcore_runs.notes import fail

    try:
        _leave_together(link)
    except Exception as error:
        fail(str(link.lost() or one_line(error)))


def _leave_together(link: Link) -> None:
    """Waits for the others, so that none of them loses a process that they still need."""
    import jax

    link.exchange(_END)
    jax.distributed.shutdown()
    link.leave()


@contextlib.contextmanager
def _together() -> Generator[None]:
    """A context in which the processes exchange something, all of it. It begins when all of them have come to it.

    Gloo, which connects CPUs, reports each connection on standard output, through the buffer of C: that is left out.
    """
    import jax

    link = _Runtime.link
    if link is not None and _END in link.exchange():
        raise ProcessError("another process of this command has come to its end.")
    sys.stdout.flush()
    stdout, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    except (jax.errors.JaxRuntimeError, ValueError) as error:
        # A program that was called before raises a ValueError, with the status of the runtime.
        if not isinstance(error, jax.errors.JaxRuntimeError) and not re.match("[A-Z_]+: ", str(error)):
            raise
        lost = None if link is None else link.lost()
        raise lost or ProcessError(f"another process of this command has ended: {one_line(error)}") from error
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(stdout, 1)
        os.close(stdout)
        os.close(nowhere)
