"""How much memory there is, and whether what a user asks for fits into it."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import jax

from envcore_cli.errors import NotEnoughMemoryError


def tree_bytes(struct: Any) -> int:
    """Bytes of the arrays that a tree of `jax.ShapeDtypeStruct` describes; a random key counts as its words."""
    return sum(math.prod(leaf.shape) * getattr(leaf.dtype, "itemsize", 16) for leaf in jax.tree.leaves(struct))


def check_fits(option: str, count: int, bytes_each: int, available: int | None) -> None:
    """Raises `NotEnoughMemoryError` where `count` things of so many bytes each are more than there is room for.

    Args:
      option: what the user gave the count with, such as "--num-envs".
      count: how many.
      bytes_each: what one of them takes at most.
      available: bytes; None where nobody knows.
    """
    if available is not None and count * bytes_each > available:
        check_total(option, count, count * bytes_each, available, f"at most {available // bytes_each:,} fit")


def check_total(
    option: str, value: int, total: int, available: int | None, advice: str = "choose a smaller number"
) -> None:
    """Raises `NotEnoughMemoryError` where what the user asked for takes `total` bytes and fewer are available."""
    if available is not None and total > available:
        raise NotEnoughMemoryError(
            f"{option} {value:,} would take about {_shown(total)} of memory, and {_shown(available)} are free: "
            f"{advice}."
        )


@contextlib.contextmanager
def explained(option: str, count: int) -> Generator[None]:
    """Turns what an allocator raises into `NotEnoughMemoryError`, a line that names the option to make smaller."""
    try:
        yield
    except (MemoryError, jax.errors.JaxRuntimeError) as error:
        if isinstance(error, MemoryError) or "RESOURCE_EXHAUSTED" in str(error):
            raise NotEnoughMemoryError(
                f"{option} {count:,} takes more memory than there is; choose a smaller number."
            ) from error
        raise


def device_bytes() -> int | None:
    """Free memory of the first device: what its allocator still may take, or the host's for a CPU."""
    device = jax.devices()[0]
    stats = device.memory_stats() or {}
    if "bytes_limit" in stats:
        return stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    return host_bytes() if device.platform == "cpu" else None


def host_bytes(root: Path = Path("/")) -> int | None:
    """Memory that this process may still take: what the system has left, and what its control group allows.

    Args:
      root: where `proc` and `sys` are, for tests.

    Returns:
      None where the system does not say.
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
    """What the control groups of this process, and those around them, leave it; caches that can go do not count."""
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
        # In a container the path is often the host's; its own group is then at the top.
        for place in (folder, *folder.parents):
            with contextlib.suppress(OSError, ValueError):  # "max" is no number
                free = int((place / limit).read_text()) - int((place / used).read_text())
                yield max(0, free + _reclaimable(place / "memory.stat"))
            if place == top:
                break


def _reclaimable(stat: Path) -> int:
    with contextlib.suppress(OSError, ValueError):
        fields = dict(line.split() for line in stat.read_text().splitlines())
        return int(fields.get("total_inactive_file", fields.get("inactive_file", 0)))
    return 0


def _shown(count: int) -> str:
    """A number of bytes as people say it."""
    power = min(max(0, math.floor(math.log(max(count, 1), 1000))), 6)
    return f"{count / 1000**power:.3g} {('B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB')[power]}"
