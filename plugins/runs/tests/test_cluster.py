"""Which devices and processes a command may be given, and whether a cluster has started it."""

from __future__ import annotations

import importlib.util
import os

import pytest
from envcore.errors import InvalidArgumentError
from envcore_runs import cluster


@pytest.mark.parametrize("devices", [None, 1, 1024])
def test_devices(devices: int | None) -> None:
    cluster.check_devices(devices)


@pytest.mark.parametrize(
    ("devices", "message"), [(0, "at least 1, got 0"), (1_000_000, "at most 1,024, got 1,000,000")]
)
def test_too_few_and_too_many_devices(devices: int, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "num_cores", lambda: 4)
    with pytest.raises(InvalidArgumentError, match=rf"^--devices must be {message}\.$"):
        cluster.check_devices(devices)


def test_a_machine_may_have_more_cores_than_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "num_cores", lambda: 2000)
    cluster.check_devices(2000)


@pytest.mark.parametrize("given", [(None, None, None), (None, 1, None), ("a:1", 2, 1), ("[::1]:65535", None, 7)])
def test_addresses(given: tuple[str | None, int | None, int | None]) -> None:
    cluster.check_addresses(*given)


MALFORMED = "--coordinator must be HOST:PORT, as in 10.0.0.1:1234, got "


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, 0, None), "--num-processes must be at least 1, got 0"),
        ((None, 2, None), "--num-processes and --process-id need --coordinator HOST:PORT"),
        ((None, None, 0), "--num-processes and --process-id need --coordinator HOST:PORT"),
        (("a:1", 2, 2), "--process-id must be at least 0 and less than --num-processes, got 2"),
        (("a:1", None, -1), "--process-id must be at least 0 and less than --num-processes, got -1"),
        (("here", None, None), MALFORMED + "'here'"),
        ((":1234", None, None), MALFORMED + "':1234'"),
        (("a:0", None, None), MALFORMED + "'a:0'"),
        (("a:65536", None, None), MALFORMED + "'a:65536'"),
        (("a:x", None, None), MALFORMED + "'a:x'"),
        ((f"a:{'1' * 5000}", None, None), MALFORMED + f"'a:{'1' * 5000}'"),
    ],
)
def test_addresses_that_are_refused(given: tuple[str | None, int | None, int | None], message: str) -> None:
    with pytest.raises(InvalidArgumentError) as error:
        cluster.check_addresses(*given)
    assert str(error.value) == f"{message}."


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({}, False),
        ({"SLURM_NTASKS": "1"}, False),
        ({"SLURM_NTASKS": "2"}, True),
        ({"OMPI_COMM_WORLD_SIZE": "4"}, True),
        ({"JOB_COMPLETION_INDEX": "0"}, True),
        ({"TPU_WORKER_HOSTNAMES": "localhost"}, True),
    ],
)
def test_signs_of_a_cluster(variables: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*cluster._COUNTS, *cluster._SIGNS):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert cluster.is_in_cluster() == expected
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)  # with the library of TPUs
    assert cluster.is_in_cluster()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system gives a process all cores")
def test_only_cores_that_the_process_may_use_count() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert cluster.num_cores() == 1
    finally:
        os.sched_setaffinity(0, before)
