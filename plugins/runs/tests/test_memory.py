"""How the commands determine what fits into memory."""

from __future__ import annotations

from pathlib import Path

import jax
import pytest
from envcore_runs import memory
from envcore_runs.errors import NotEnoughMemoryError


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


MEMINFO = {"proc__meminfo": "MemTotal: 9000 kB\nMemFree: 10 kB\nMemAvailable: 4000 kB\n"}


def test_free_memory_of_the_system(tmp_path: Path):
    assert memory.host_bytes(write(tmp_path, **MEMINFO)) == 4000 * 1024


def test_free_memory_of_a_control_group(tmp_path: Path):
    group = {
        "proc__self__cgroup": "0::/job/step\n",
        "sys__fs__cgroup__job__memory_DOT_max": "1000000\n",
        "sys__fs__cgroup__job__memory_DOT_current": "700000\n",
        "sys__fs__cgroup__job__memory_DOT_stat": "anon 1\ninactive_file 50000\n",
        "sys__fs__cgroup__job__step__memory_DOT_max": "max\n",
        "sys__fs__cgroup__job__step__memory_DOT_current": "900000\n",
    }
    assert memory.host_bytes(write(tmp_path, **MEMINFO, **group)) == 350_000


def test_says_how_many_fit():
    memory.check_fits("--num-envs", 10, 100, 1000)
    memory.check_fits("--num-envs", 10**20, 100, None)
    with pytest.raises(
        NotEnoughMemoryError, match=r"--num-envs 11 would take about 1.1 kB of memory, but only 1 kB are free"
    ):
        memory.check_fits("--num-envs", 11, 100, 1000)
    with pytest.raises(NotEnoughMemoryError, match=r"at most 25 fit\.$"):
        memory.check_fits("--num-envs", 10**12, 40, 1000)
    with pytest.raises(NotEnoughMemoryError, match=r"only 1 kB are free: not one fits\.$"):
        memory.check_fits("--num-envs", 1, 1001, 1000)


@pytest.mark.parametrize("error", [MemoryError(), jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory")])
def test_an_allocator_s_error_is_explained(error: Exception):
    message = "^--num-envs 9,000 takes more memory than is available"
    with pytest.raises(NotEnoughMemoryError, match=message), memory.explained("--num-envs 9,000"):
        raise error
