"""How much memory is available, and whether the requested work fits into it."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import jax
from jax.sharding import NamedSharding

from envcore_runs.errors import NotEnoughMemoryError


def tree_bytes(struct: Any) -> int:
    """The bytes of the arrays that a tree of `jax.ShapeDtypeStruct` describes; a random key counts as its words."""
    return sum(math.prod(leaf.shape) * getattr(leaf.dtype, "itemsize", 16) for leaf in jax.tree.leaves(struct))


def check_fits(option: str, count: int, bytes_each: int, available: int | None) -> None:
    """Raises `NotEnoughMemoryError` if `count` things of so many bytes each do not fit into memory.

    Args:
      option: the option with which the user chose the count, such as "--num-envs".
      count: the number of things.
      bytes_each: the most bytes that one of them takes.
      available: the free bytes; None if unknown.
    """
    if available is not None and count * bytes_each > available:
        fit = available // bytes_each
        check_total(option, count, count * bytes_each, available, f"at most {fit:,} fit" if fit else "not one fits")


def check_total(
    option: str, value: int, total: int, available: int | None, advice: str = "choose a smaller number"
) -> None:
    """Raises `NotEnoughMemoryError` if the requested work takes `total` bytes and fewer are available."""
    if available is not None and total > available:
        raise NotEnoughMemoryError(
            f"{option} {value:,} would take about {shown_bytes(total)} of memory, but only {shown_bytes(available)} "
            f"are free: {advice}."
        )


@contextlib.contextmanager
def explained(option: str, count: int) -> Generator[None]:
    """Turns an allocator's errors into `NotEnoughMemoryError`, whose message names the option to reduce."""
    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            raise NotEnoughMemoryError(
                f"{option} {count:,} takes more memory than is available; choose a smaller number."
            ) from error
        raise


def device_bytes(sharding: NamedSharding | None = None) -> int | None:
    """The free memory of devices: what their allocators may still take, or the host's memory for CPUs.

    Args:
      sharding: the devices; those of other processes are taken to have what those of this one have. By default the
        first device.
    """
    if sharding is None:
        return _device_bytes(jax.local_devices()[0])
    here = sorted(sharding.addressable_devices, key=lambda device: device.id)
    free = [_device_bytes(device) for device in (here[:1] if here[0].platform == "cpu" else here)]
    return None if None in free else sum(filter(None, free)) * jax.process_count()


def _device_bytes(device: Any) -> int | None:
    stats = device.memory_stats() or {}
    if "bytes_limit" in stats:
        return stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    return host_bytes() if device.platform == "cpu" else None


def host_bytes(root: Path = Path("/")) -> int | None:
    """The memory that this process may still take, limited by the system's free memory and by its control groups.

    Args:
      root: the folder that contains `proc` and `sys`, for tests.

    Returns:
      The number of bytes; None if the system does not say.
    """
    known = [_free_bytes(root), *_group_bytes(root)]
    return min((each for each in known if each is not None), default=None)


def _free_bytes(root: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError, IndexError):
        for line in (root / "proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _group_bytes(root: Path) -> Iterator[int]:
    """The bytes that each control group of this process and its parents leave; reclaimable caches count as free."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top = root / ("sys/fs/cgroup/memory" if controllers else "sys/fs/cgroup")
        limit, used = (
            ("memory.limit_in_bytes", "memory.usage_in_bytes") if controllers else ("memory.max", "memory.current")
        )
        folder = top / path.lstrip("/")
        # In a container the path is often the host's; the container's group is then at the top.
        for place in (folder, *folder.parents):
            with contextlib.suppress(OSError, ValueError):  # "max" is not a number
                free = int((place / limit).read_text()) - int((place / used).read_text())
                yield max(0, free + _reclaimable(place / "memory.stat"))
            if place == top:
                break


def _reclaimable(stat: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        fields = dict(line.split() for line in stat.read_text().splitlines())
        return int(fields.get("total_inactive_file", fields.get("inactive_file", 0)))
    return 0


def shown_bytes(count: int) -> str:
    """A number of bytes in a readable unit."""
    power = min(max(0, math.floor(math.log(max(count, 1), 1000))), 6)
    return f"{count / 1000**power:.3g} {('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')[power]}"
