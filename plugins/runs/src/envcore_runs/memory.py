"""Checks whether the requested work fits into the available memory."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Generator
from pathlib import Path
from typing import Any

import jax
from jax.sharding import NamedSharding

from envcore_runs.errors import NotEnoughMemoryError


def tree_bytes(struct: Any) -> int:
    """Returns the size in bytes of a tree of `jax.ShapeDtypeStruct`s. Random keys count as their words."""
    return sum(math.prod(leaf.shape) * getattr(leaf.dtype, "itemsize", 16) for leaf in jax.tree.leaves(struct))


def check_fits(name: str, count: int, bytes_each: int, available: int | None) -> None:
    """Raises `NotEnoughMemoryError` if `count` items do not fit into memory.

    Args:
      name: name of the argument or option that set the count.
      count: number of items.
      bytes_each: maximum size of an item in bytes.
      available: free bytes, or None if unknown.
    """
    if available is not None and count * bytes_each > available:
        fit = available // bytes_each
        check_total(name, count, count * bytes_each, available, f"at most {fit:,} fit" if fit else "not one fits")


def check_total(
    name: str, value: int, total: int, available: int | None, advice: str = "choose a smaller number"
) -> None:
    """Raises `NotEnoughMemoryError` if the work takes `total` bytes and fewer are available."""
    if available is not None and total > available:
        raise NotEnoughMemoryError(
            f"{name} {value:,} would take about {shown_bytes(total)} of memory, but only {shown_bytes(available)} "
            f"are free: {advice}."
        )


@contextlib.contextmanager
def explained(what: str, advice: str = "Choose a smaller number.") -> Generator[None]:
    """Converts an allocator's error into a `NotEnoughMemoryError`.

    Args:
      what: what needs the memory, for the error message.
      advice: the last sentence of the message, which names what to reduce.
    """
    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            raise NotEnoughMemoryError(f"{what} takes more memory than is available. {advice}") from error
        raise


def device_bytes(sharding: NamedSharding) -> int | None:
    """Returns the free memory of devices: what their allocators can still take, or the host's memory for CPUs.

    Args:
      sharding: the devices. Other processes are assumed to have as much memory as this one.
    """
    devices = list(sharding.addressable_devices)
    if devices[0].platform == "cpu":
        free = host_bytes()
    else:
        stats = [device.memory_stats() or {} for device in devices]
        known = [each["bytes_limit"] - each.get("bytes_in_use", 0) for each in stats if "bytes_limit" in each]
        free = sum(known) if len(known) == len(devices) else None
    return free and free * jax.process_count()


def host_bytes(root: Path = Path("/")) -> int | None:
    """Returns the memory that this process can still take, as Linux reports it for the system and the control group.

    Args:
      root: folder that contains `proc` and `sys`, for tests.

    Returns:
      The number of bytes, or None if the system doesn't report it.
    """
    known: list[int] = []
    with contextlib.suppress(OSError, KeyError):
        known.append(1024 * int(_fields(root / "proc/meminfo")["MemAvailable:"]))
    with contextlib.suppress(OSError):
        path = (root / "proc/self/cgroup").read_text().strip().rpartition(":")[2].lstrip("/")
        group, top = root / "sys/fs/cgroup" / path, root / "sys/fs/cgroup"
        for place in (group, *group.parents):
            with contextlib.suppress(OSError, ValueError):  # the limit may be the word "max"
                limit, used = (int((place / name).read_text()) for name in ("memory.max", "memory.current"))
                cache = int(_fields(place / "memory.stat").get("inactive_file", 0))  # can be reclaimed
                known.append(max(0, limit - used + cache))
            if place == top:
                break
    return min(known, default=None)


def _fields(path: Path) -> dict[str, str]:
    """Returns the first two words of each line."""
    return {words[0]: words[1] for line in path.read_text().splitlines() if len(words := line.split()) > 1}


def shown_bytes(count: int) -> str:
    """Formats a number of bytes with a unit."""
    power = min(max(0, math.floor(math.log(max(count, 1), 1000))), 6)
    return f"{count / 1000**power:.3g} {('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')[power]}"
