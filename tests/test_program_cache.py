from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import program_cache
import pytest
from envcore_runs.program_cache import SOUND_SINCE, fingerprint
from program_cache import prune

CONFTEST = """
import json, os
import jax, jax.numpy as jnp, numpy as np, program_cache, pytest

hits, traces = [], []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event.endswith("/cache_hits")))
program_cache.MAX_PROGRAMS_IN_MEMORY = int(os.environ.get("MAX_PROGRAMS", 150))

@jax.jit
def total(x):
    traces.append(x)
    shuffled = jax.random.permutation(jax.random.key(0), x)
    carry, sums = jax.lax.scan(lambda carry, y: (carry + y, jnp.sin(carry)), np.float32(0), shuffled)
    factor = jnp.linalg.cholesky(jnp.outer(x, x) + jnp.eye(len(x)))
    return jnp.concatenate([shuffled, sums, factor.ravel(), carry[None]])

@pytest.fixture
def report(request):
    yield lambda: np.asarray(total(np.linspace(0, 1, 7, dtype=np.float32))).tobytes().hex()
    if "KILLED" in os.environ:
        os._exit(1)

@pytest.fixture(autouse=True)
def written(request, report):
    result = report()
    line = {"test": request.node.name, "result": result, "hits": sum(hits), "traces": len(traces)}
    with open("log", "a") as log:
        log.write(json.dumps(line) + "\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Two test modules, which log the result of a program, and how often programs have been loaded and traced."""
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_a.py").write_text("def test_1(): pass\ndef test_2(): pass\n")
    (tmp_path / "test_b.py").write_text("def test_3(): pass\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    return tmp_path


def run(project: Path, *arguments: str, **variables: str) -> list[dict[str, Any]]:
    """Runs the project's tests in new processes. Returns what they logged, in the order of their names."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "JAX_"))}
    environment["PYTHONPATH"] = str(Path(program_cache.__file__).parent)
    command = [sys.executable, "-m", "pytest", "-p", "program_cache", *arguments]
    done = subprocess.run(command, cwd=project, env={**environment, **variables}, capture_output=True, check=False)
    assert done.returncode == (1 if "KILLED" in variables else 0), done.stdout
    log = project / "log"
    notes = [json.loads(line) for line in log.read_text().splitlines()]
    log.unlink()
    return sorted(notes, key=lambda note: note["test"])


def stored(project: Path) -> list[Path]:
    return sorted((project / ".pytest_cache" / "d" / "programs").glob("jaxlib-*/*-cache"))


@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="the plugin does nothing on an old JAX")
@pytest.mark.slow
def test_the_next_run_loads_what_this_one_compiled(project: Path) -> None:
    run(project, KILLED="1")
    for program in stored(project):  # a process that was killed may have written half a file
        program.write_bytes(program.read_bytes()[:99])

    first = run(project, MAX_PROGRAMS="0")
    programs = stored(project)
    contents = [program.read_bytes() for program in programs]
    assert first[0]["hits"] == 0
    assert [note["traces"] for note in first] == [1, 1, 2]  # between two modules, programs leave the memory
    assert programs

    again = run(project, "-n2")  # two processes at once
    assert again[0]["hits"] > 0
    assert {note["result"] for note in again} == {note["result"] for note in first}
    assert [program.read_bytes() for program in stored(project)] == contents

    cleared = run(project, "--cache-clear")  # in one process: of two, one may load what the other just compiled
    assert cleared[0]["hits"] == 0
    assert stored(project)


@pytest.mark.parametrize("is_worker", [True, False])
def test_only_the_distributing_process_clears_the_cache(is_worker: bool) -> None:
    config: Any = SimpleNamespace(option=SimpleNamespace(cacheclear=True), **{"workerinput": {}} if is_worker else {})
    assert program_cache.pytest_cmdline_main(config) is None
    assert config.option.cacheclear != is_worker


@pytest.mark.parametrize("chosen", ["no cache of pytest's", "JAX's own folder", "an old JAX"])
def test_it_does_nothing_where_it_is_not_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    started: list[str] = []
    cache = SimpleNamespace(mkdir=lambda name: name)
    config: Any = SimpleNamespace(getoption=lambda *_: None, pluginmanager=SimpleNamespace(register=started.append))
    jax_config = SimpleNamespace(jax_compilation_cache_dir=None)
    jax_module = SimpleNamespace(
        config=jax_config, __version_info__=(0, 9, 2) if chosen == "an old JAX" else (0, 10, 0)
    )
    monkeypatch.setattr(program_cache, "jax", jax_module)
    monkeypatch.setattr(program_cache, "_Programs", lambda folder: folder)
    if chosen != "no cache of pytest's":
        config.cache = cache
    if chosen == "JAX's own folder":
        jax_config.jax_compilation_cache_dir = str(tmp_path)
    program_cache.pytest_configure(config)
    assert started == []

    config.cache, jax_config.jax_compilation_cache_dir, jax_module.__version_info__ = cache, None, (0, 10, 0)
    program_cache.pytest_configure(config)
    assert started == ["programs"]


def test_each_jaxlib_and_cpu_has_separate_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = fingerprint()
    monkeypatch.setattr(metadata, "version", lambda _: "0.0.1")
    other_release = fingerprint()
    monkeypatch.setattr(metadata, "version", lambda _: "0.0.1")
    monkeypatch.setattr(Path, "read_text", lambda *_: "model: x\nflags: fpu avx512\n")
    other_cpu = fingerprint()
    monkeypatch.setattr(Path, "read_text", lambda *_: "model: y\nflags: fpu avx512\n")
    assert fingerprint() == other_cpu
    assert len({ours, other_release, other_cpu}) == 3


def fill(folder: Path, **sizes: int) -> None:
    for name, size in sizes.items():
        (folder / f"{name}-cache").write_bytes(bytes(size))


def names(folder: Path) -> set[str]:
    return {path.name.removesuffix("-cache") for path in folder.iterdir()}


def test_the_oldest_programs_are_deleted_when_the_folder_is_full(tmp_path: Path) -> None:
    fill(tmp_path, new=4, old=4, older=4, oldest=4)
    for age, name in enumerate(("new", "old", "older", "oldest")):
        os.utime(tmp_path / f"{name}-cache", (0, time.time() - 100 * age))
    prune(tmp_path, max_bytes=9)
    assert names(tmp_path) == {"new", "old"}
    assert program_cache.MAX_STORED_BYTES == 2**30


def test_a_folder_that_another_process_has_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prune(tmp_path / "absent")
    fill(tmp_path, a=1)
    monkeypatch.setattr(Path, "glob", lambda folder, _: iter([folder / "gone", folder / "a-cache"]))
    prune(tmp_path, max_bytes=0)
    assert names(tmp_path) == set()
