"""What a cluster listens on, and the token that it demands."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import ray
from counting import Count, Task
from envcore_ray import connection
from envcore_ray.errors import ClusterError
from envcore_ray.workers import RayWorkers

pytestmark = pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called")

LOCAL = """
import json, os, sys
from counting import Count, Task
from envcore_ray.workers import RayWorkers

def listening():
    "The addresses, as the kernel writes them, on which processes of this session listen."
    held, mine = set(), os.getsid(0)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == mine:
                held |= {os.readlink(f"/proc/{pid}/fd/{each}") for each in os.listdir(f"/proc/{pid}/fd")}
        except OSError:
            pass
    rows = [row.split() for name in ("tcp", "tcp6") for row in open(f"/proc/net/{name}").readlines()[1:]]
    return sorted({row[1].split(":")[0] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in held})

before, found = dict(os.environ), []
workers = RayWorkers()
workers.run({"a": Task(Count(1))}, 1, lambda *args: found.extend(listening()), lambda name: None)
changed = {name: value for name, value in os.environ.items() if before.get(name) != value}
print(json.dumps([found, sorted(each for each in changed if "AUTH" in each or "CLUSTER" in each)]))
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
"""127.0.0.1, the same for IPv6, and ::1, as a little-endian kernel writes them."""

HEAD = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 100 * 2**20})
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
TOKEN = "0123456789abcdef" * 4


def environment(home: Path, **variables: str) -> dict[str, str]:
    """Of a process whose user has no token."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH")}
    paths = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))
    return {**kept, "HOME": str(home), "PYTHONPATH": paths, "RAY_worker_niceness": "0", **variables}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_cluster_of_this_machine_is_closed_and_leaves_no_token(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOCAL],
        env=environment(tmp_path),
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    addresses, changed = json.loads(done.stdout.splitlines()[-1])
    assert addresses
    assert set(addresses) <= LOOPBACK
    assert changed == []
    assert not (tmp_path / ".ray").exists()
    assert done.stderr == ""


@pytest.fixture(scope="module")
def demanding(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """The address of a cluster that demands a token."""
    home = tmp_path_factory.mktemp("home")
    with subprocess.Popen(
        [sys.executable, "-c", HEAD],
        env=environment(home, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=TOKEN),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as head:
        assert head.stdout is not None
        yield head.stdout.readline().strip()
        head.communicate()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({}, "there is none here"),
        ({"RAY_AUTH_MODE": "token"}, "there is none here"),
        ({"RAY_AUTH_TOKEN": "abc"}, "the one that is here is another"),
        ({"RAY_AUTH_TOKEN": TOKEN, "RAY_AUTH_MODE": "disabled"}, "RAY_AUTH_MODE is disabled"),
        ({"RAY_AUTH_TOKEN": TOKEN}, None),
    ],
)
def test_a_cluster_that_demands_a_token(
    demanding: str,
    variables: dict[str, str],
    problem: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": str(tmp_path), **variables}.items():
        monkeypatch.setenv(name, value)
    before, finished = dict(os.environ), list[str]()

    def play() -> None:
        RayWorkers(demanding).run({"a": Task(Count(0))}, 1, lambda *_: None, finished.append)

    if problem is None:
        play()
        assert finished == ["a"]
    else:
        with pytest.raises(ClusterError) as error:
            play()
        assert str(error.value) == (
            f"the Ray cluster at {demanding} demands a token, and {problem}: set RAY_AUTH_MODE to token, and "
            "RAY_AUTH_TOKEN to what `ray get-auth-token` prints on its head node."
        )
    assert capfd.readouterr() == ("", "")
    assert {name: os.environ.get(name) for name in before} == before
    assert not ray.is_initialized()


@pytest.mark.slow
def test_the_cluster_that_is_found_demands_a_token_too(
    demanding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("RAY_ADDRESS", demanding)
    with pytest.raises(ClusterError, match=f"^the Ray cluster at {demanding} demands a token, and there is none here"):
        RayWorkers("auto").run({"a": Task(Count(0))}, 1, lambda *_: None, lambda _: None)
    assert capfd.readouterr() == ("", "")


@contextlib.contextmanager
def listening(answer: bytes | None, host: str = "127.0.0.1") -> Generator[int]:
    """The port of a server that answers the first bytes so and ends the connection; with None it says nothing."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as server:
        server.bind((host, 0))
        server.listen()

        def serve() -> None:
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(100)
                    connection.sendall(answer or b"")

        thread = threading.Thread(target=serve)
        if answer is not None:
            thread.start()
        yield server.getsockname()[1]
    if answer is not None:
        thread.join()


@pytest.mark.parametrize("answer", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"220"])
def test_a_server_of_something_else_is_one_line(answer: bytes | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_PATIENCE", 0.2)
    with listening(answer) as port, pytest.raises(ClusterError) as error:
        RayWorkers(f"127.0.0.1:{port}").run({"a": Task(Count(0))}, 1, lambda *_: None, lambda _: None)
    assert str(error.value) == f"what listens at 127.0.0.1:{port} is not a Ray cluster."


def test_an_address_of_ipv6_has_brackets() -> None:
    try:
        with listening(b"220", "::1") as port, pytest.raises(ClusterError, match="is not a Ray cluster") as error:
            RayWorkers(f"[::1]:{port}").run({"a": Task(Count(0))}, 1, lambda *_: None, lambda _: None)
    except OSError:
        pytest.skip("this machine has no IPv6")
    assert str(error.value) == f"what listens at [::1]:{port} is not a Ray cluster."


@pytest.mark.slow
def test_signals_stay_those_of_the_command(cluster: Any) -> None:
    def handler(*_: object) -> None: ...

    before, found = signal.signal(signal.SIGTERM, handler), list[Any]()
    try:
        workers = RayWorkers(cluster.address)
        workers.run({"a": Task(Count(0))}, 1, lambda *_: None, lambda _: found.append(signal.getsignal(signal.SIGTERM)))
    finally:
        signal.signal(signal.SIGTERM, before)
    assert found == [handler]
