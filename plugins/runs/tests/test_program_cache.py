"""Programs that are stored on disk, and loaded by the next process."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import hostile_files
import jax
import pytest
import toy
from envcore.errors import EnvcoreError, InvalidArgumentError
from envcore_runs import program_cache
from envcore_runs.program_cache import SOUND_SINCE, fingerprint, keep_programs
from jax._src import compilation_cache as jax_cache
from jax._src import logging_config

PROGRAM = """
import sys
import jax
from envcore_runs.program_cache import keep_programs
from envcore.rollout import random_policy, run_rollout, start_rollout
from toy import Spring

events = []
jax.monitoring.register_event_listener(lambda event, **_: events.append(event.rpartition("/")[2]))
keep_programs(sys.argv[1])
env = Spring()
start = start_rollout(env, jax.random.key(0))
_, steps = jax.jit(lambda start: run_rollout(env, random_policy(env), start, 50))(start)
result = steps.reward.sum(), steps.obs.sum()
print(events.count("cache_misses"), events.count("cache_hits"), *result)
"""


TWO_FOLDERS = """
import sys
import jax
from envcore_runs.program_cache import keep_programs

for number, folder in enumerate(sys.argv[1:]):
    keep_programs(folder)
    jax.jit(lambda x: x + number)(1.0)
"""

DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "none": lambda content: content,
    "of a writer that was killed": lambda content: content[: len(content) // 2],
    "its last byte is missing": lambda content: content[:-1],
    "empty": lambda content: b"",
    "garbage": lambda content: b"\xff" * len(content),
    "a bit": lambda content: content[:50] + bytes([content[50] ^ 4]) + content[51:],
    "a bit before it was compressed": lambda content: flipped(content),
    "an entry of JAX's own": lambda content: content[:-32],
}


def flipped(content: bytes) -> bytes:
    """A valid stream whose program has one bit changed, which XLA may not notice, or may crash on."""
    program = bytearray(zlib.decompress(content))
    program[len(program) // 2] ^= 4
    return zlib.compress(program) + content[-32:]


def run(folder: Path) -> tuple[int, int, str]:
    """How many programs a new process compiles and loads, and its result."""
    command = [sys.executable, "-W", "error:.*compilation cache", "-c", PROGRAM, str(folder)]
    done = subprocess.run(command, cwd=Path(toy.__file__).parent, capture_output=True, text=True, check=True)
    assert "on the host machine" not in done.stderr
    misses, hits, result = done.stdout.split(" ", 2)
    return int(misses), int(hits), result


@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    first, second = run(tmp_path / "new" / "programs"), run(tmp_path / "new" / "programs")
    assert first[0] > 0
    assert second[0] == 0 < second[1]
    assert second[2] == first[2]
    (folder,) = (tmp_path / "new" / "programs").iterdir()
    assert folder.name == fingerprint()


@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_the_last_folder_counts(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", TWO_FOLDERS, str(tmp_path / "first"), str(tmp_path / "second")], check=True)
    first, second = ({path.name for path in tmp_path.glob(f"{name}/*/*-cache")} for name in ("first", "second"))
    assert first
    assert second - first


@pytest.mark.slow
@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_a_damaged_program_is_compiled_once_more(tmp_path: Path) -> None:
    misses, _, result = run(tmp_path)
    entries = sorted(tmp_path.glob("*/*-cache"))
    assert len(entries) == misses >= len(DAMAGE)
    damaged = 0
    for entry, damage in zip(entries, itertools.cycle(DAMAGE.values()), strict=False):
        content = entry.read_bytes()
        entry.write_bytes(damage(content))
        damaged += damage(content) != content
    assert run(tmp_path) == (damaged, misses - damaged, result)
    assert run(tmp_path) == (0, misses, result)


def folder(entry: Path) -> None:
    entry.mkdir()
    (entry / "file").touch()


NO_FILES: dict[str, Callable[[Path], Any]] = {
    "a folder": folder,
    "a link to nothing": lambda entry: entry.symlink_to("nothing"),
    "a link to a folder": lambda entry: entry.symlink_to("."),
    "a link to itself": lambda entry: entry.symlink_to(entry.name),
    "a pipe": os.mkfifo,
    "a link to a device": lambda entry: entry.symlink_to("/dev/zero"),
}


@pytest.fixture
def entries(tmp_path: Path) -> Iterator[Any]:
    """Checked entries of the folder."""
    make = jax_cache.get_file_cache
    program_cache._check_entries.__wrapped__()
    program_cache._checked_folders.add(str(tmp_path))
    yield cast("Any", jax_cache.get_file_cache(str(tmp_path)))[0]
    program_cache._checked_folders.discard(str(tmp_path))
    jax_cache.get_file_cache = make


@pytest.mark.parametrize("case", NO_FILES)
def test_what_is_not_a_file_is_replaced(tmp_path: Path, entries: Any, case: str) -> None:
    NO_FILES[case](tmp_path / "key-cache")
    assert entries.get("key") is None
    entries.put("key", b"value")
    assert entries.get("key") == b"value"
    assert [path.name for path in tmp_path.iterdir()] == ["key-cache"]


def test_what_cannot_be_read_is_replaced(tmp_path: Path, entries: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(key: str) -> bytes:
        raise PermissionError

    entries.put("key", b"other")
    with monkeypatch.context() as patch:
        patch.setattr(entries._entries, "get", fail)
        assert entries.get("key") is None
    entries.put("key", b"value")
    assert entries.get("key") == b"value"


@pytest.mark.parametrize("mutations", hostile_files.MUTATIONS)
def test_any_bytes_of_an_entry(tmp_path: Path, entries: Any, mutations: int) -> None:
    entries.put("key", b"value" * 20)

    def read(content: bytes) -> None:
        (tmp_path / "key-cache").write_bytes(content)
        found = entries.get("key")
        if found is None:
            raise EnvcoreError("it is damaged")
        assert found == b"value" * 20

    hostile_files.check(read, hostile_files.of_bytes((tmp_path / "key-cache").read_bytes()), mutations)


def test_an_entry_may_be_a_link_to_a_file(tmp_path: Path, entries: Any) -> None:
    entries.put("key", b"value")
    (tmp_path / "key-cache").rename(tmp_path / "elsewhere")
    (tmp_path / "key-cache").symlink_to("elsewhere")
    assert entries.get("key") == b"value"
    assert (tmp_path / "key-cache").is_symlink()


@pytest.mark.slow
@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_a_program_under_the_name_of_another_is_compiled_once_more(tmp_path: Path) -> None:
    misses, _, result = run(tmp_path)
    first, second = sorted(tmp_path.glob("*/*-cache"))[:2]
    first.write_bytes(second.read_bytes())
    assert run(tmp_path) == (1, misses - 1, result)


def test_only_the_given_folders_have_digests(tmp_path: Path) -> None:
    make = jax_cache.get_file_cache
    program_cache._check_entries()
    program_cache._check_entries()
    (tmp_path / "ours").mkdir()
    program_cache._checked_folders.add(str(tmp_path / "ours"))
    try:
        for name, has_digest in (("ours", True), ("theirs", False)):
            entries: Any = jax_cache.get_file_cache(str(tmp_path / name))
            entries[0].put("key", b"value")
            assert entries[0].get("key") == b"value"
            assert len((tmp_path / name / "key-cache").read_bytes()) == len(b"value") + 32 * has_digest
    finally:
        program_cache._checked_folders.discard(str(tmp_path / "ours"))
        jax_cache.get_file_cache = make


@pytest.mark.skipif(jax.__version_info__ < SOUND_SINCE, reason="this JAX is too old")
def test_programs_are_loaded_in_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[Any] = []
    entries: Any = jax_cache
    config: Any = jax.config
    levels: Any = logging_config
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    monkeypatch.setattr(levels.utils, "absl_set_min_log_level", events.append)
    monkeypatch.setattr(entries, "get_executable_and_time", lambda: events.append("loaded"))
    program_cache._load_in_silence.__wrapped__()
    monkeypatch.setattr(program_cache, "_checked_folders", set())
    entries.get_executable_and_time()
    assert events == ["loaded"]
    monkeypatch.setattr(program_cache, "_checked_folders", {config.jax_compilation_cache_dir})
    entries.get_executable_and_time()
    assert events == ["loaded", 3, "loaded", 2]


def test_a_jax_that_works_otherwise_keeps_its_own_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(jax_cache, "get_file_cache")
    program_cache._check_entries.__wrapped__()
    assert not hasattr(jax_cache, "get_file_cache")
    monkeypatch.delattr(jax_cache, "get_executable_and_time")
    program_cache._load_in_silence.__wrapped__()
    assert not hasattr(jax_cache, "get_executable_and_time")


def test_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program_cache, "SOUND_SINCE", (0, 0))
    (tmp_path / "file").touch()
    with pytest.raises(InvalidArgumentError, match=r"cannot make the folder .*file.*: Not a directory"):
        keep_programs(tmp_path / "file")
    monkeypatch.setattr(program_cache, "SOUND_SINCE", (99, 0))
    with pytest.raises(InvalidArgumentError, match=r"stored programs need JAX 0\.10 or newer, this is "):
        keep_programs(tmp_path)
    assert not (tmp_path / fingerprint()).exists()
