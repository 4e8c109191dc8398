from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import program_cache
import pytest

CONFTEST = """
import jax, jax.numpy as jnp, program_cache, pytest

hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event.endswith("/cache_hits")))
program_cache.MAX_PROGRAMS_IN_MEMORY = 0
traces = []

@jax.jit
def total(x):
    traces.append(x)
    return jnp.linalg.cholesky(jnp.outer(x, x) + jnp.eye(len(x)))

@pytest.fixture(autouse=True)
def compiled():
    total(jnp.arange(7.0)).block_until_ready()
    yield
    with open("log", "w") as log:
        print(sum(hits) > 0, len(traces), file=log)
"""


@pytest.mark.slow
@pytest.mark.skipif(jax.__version_info__ < program_cache.SOUND_SINCE, reason="the plugin does nothing on an old JAX")
def test_the_next_run_loads_what_this_one_compiled(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text("def test_1(): pass\ndef test_2(): pass\n")
    (tmp_path / "test_b.py").write_text("def test_3(): pass\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "JAX_"))}
    environment["PYTHONPATH"] = str(Path(program_cache.__file__).parent)

    def run(*more: str) -> str:
        command = [sys.executable, "-m", "pytest", "-p", "program_cache", *more]
        subprocess.run(command, cwd=tmp_path, env=environment, check=True)
        return (tmp_path / "log").read_text().strip()

    # Between two modules programs leave the memory, so each run traces twice, and the second time loads.
    (tmp_path / "test_b.py").rename(tmp_path / "later.py")
    assert run() == "False 1"
    (tmp_path / "later.py").rename(tmp_path / "test_b.py")
    assert run() == "True 2"
    assert run("--cache-clear", "test_a.py") == "False 1"


@pytest.mark.parametrize("is_worker", [True, False])
def test_only_the_distributing_process_clears_the_cache(is_worker: bool) -> None:
    config: Any = SimpleNamespace(option=SimpleNamespace(cacheclear=True), **{"workerinput": {}} if is_worker else {})
    assert program_cache.pytest_cmdline_main(config) is None
    assert config.option.cacheclear != is_worker


def test_the_oldest_programs_are_deleted_when_the_folder_is_full(tmp_path: Path) -> None:
    for age, name in enumerate(("new", "old", "older", "oldest")):
        (tmp_path / name).write_bytes(bytes(4))
        os.utime(tmp_path / name, (0, 1000 - age))
    program_cache.prune(tmp_path, max_bytes=9)
    assert {path.name for path in tmp_path.iterdir()} == {"new", "old"}
