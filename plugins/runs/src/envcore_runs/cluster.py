"""What a process has been started with: its cores, and the others of its cluster. Imports no JAX."""

from __future__ import annotations

import importlib.util
import os

from envcore.errors import InvalidArgumentError

_COUNTS = ("SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE")
"""Environment variables with the number of processes that SLURM or Open MPI has started."""
_SIGNS = ("JOB_COMPLETION_INDEX", "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES")
"""Environment variables of processes that an indexed job of Kubernetes or a Cloud TPU has started."""
_MOST_DEVICES = 1024
"""Devices into which a CPU may be divided: far more than make a program faster, as for a test of a large machine's
program. JAX would begin to make a million, with gigabytes of threads."""


def check_devices(devices: int | None) -> None:
    """Checks what `processes.start` is given; its errors are those of that function."""
    if devices is not None and devices < 1:
        raise InvalidArgumentError(f"--devices must be at least 1, got {devices}.")
    most = max(_MOST_DEVICES, num_cores())
    if devices is not None and devices > most:
        raise InvalidArgumentError(f"--devices must be at most {most:,}, got {devices:,}.")


def check_addresses(coordinator: str | None, num_processes: int | None, process_id: int | None) -> None:
    """Checks what `processes.start` is given; its errors are those of that function."""
    if num_processes is not None and num_processes < 1:
        raise InvalidArgumentError(f"--num-processes must be at least 1, got {num_processes}.")
    if process_id is not None and not 0 <= process_id < (num_processes or process_id + 1):
        raise InvalidArgumentError(f"--process-id must be at least 0 and less than --num-processes, got {process_id}.")
    if coordinator is None:
        if process_id is not None or (num_processes or 1) > 1:
            raise InvalidArgumentError("--num-processes and --process-id need --coordinator HOST:PORT.")
        return
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdecimal() or len(port) > 5 or not 0 < int(port) < 2**16:
        raise InvalidArgumentError(f"--coordinator must be HOST:PORT, as in 10.0.0.1:1234, got {coordinator!r}.")


def is_in_cluster() -> bool:
    """Whether a cluster has started this process together with others."""
    is_counted = any(os.environ.get(name, "1") != "1" for name in _COUNTS)
    return is_counted or any(name in os.environ for name in _SIGNS) or importlib.util.find_spec("libtpu") is not None


def num_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
