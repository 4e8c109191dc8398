"""The link between processes. Here, threads take the place of the processes."""

from __future__ import annotations

import functools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from envcore_runs import link as link_module
from envcore_runs import notes
from envcore_runs.errors import ProcessError
from envcore_runs.link import Link
from several_processes import SOON, free_port

_KEPT: list[Link] = []
"""A link stays until its process ends."""


def links(*numbers: int, num: int | None = None, timeout: float = SOON) -> list[Any]:
    """What becomes of processes with these numbers: a link or an error."""
    address = f"127.0.0.1:{free_port()}"

    def link(number: int) -> Any:
        try:
            found = Link(address, num or len(numbers), number, timeout)
        except ProcessError as error:
            return str(error)
        _KEPT.append(found)
        return found

    return in_threads(*(lambda number=number: link(number) for number in numbers))


def in_threads(*functions: Callable[[], Any]) -> list[Any]:
    with ThreadPoolExecutor() as pool:
        return [each.result(SOON) for each in [pool.submit(function) for function in functions]]


@pytest.fixture
def failures(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """With what `fail` would have ended the process."""
    found: list[str] = []
    others = len(_KEPT)
    monkeypatch.setattr(link_module, "fail", found.append)
    monkeypatch.setattr(link_module, "_GRACE", 0.05)
    yield found
    for each in _KEPT[others:]:  # what they notice later must not reach the next test
        each._loop.call_soon_threadsafe(each._loop.stop)
        while each._loop.is_running():
            time.sleep(0.01)


def test_processes_exchange_texts() -> None:
    found = links(0, 1, 2)
    for letter in "abc":
        texts = [f"{letter}{number}" for number in range(3)]
        calls = [functools.partial(link.exchange, text) for link, text in zip(found, texts, strict=True)]
        assert in_threads(*calls) == [texts] * 3


def test_a_number_that_is_given_twice_ends_all() -> None:
    assert links(0, 1, 1) == ["several processes were given --process-id 1: give each a number of its own."] * 3
    assert links(0, 0) == ["several processes were given --process-id 0: give each a number of its own."] * 2


def test_a_late_process_with_a_taken_number_is_refused() -> None:
    first, second = links(0, 1)
    with pytest.raises(ProcessError, match="another process 1 is connected at 127"):
        Link(first._address, 2, 1, SOON)
    assert in_threads(first.exchange, second.exchange) == [["", ""]] * 2


def test_an_absent_process_is_an_error_in_time() -> None:
    (alone,) = links(0, num=2, timeout=0.1)
    assert alone.startswith("not all processes have connected to 127.0.0.1:")
    (alone,) = links(1, num=2, timeout=0.1)
    assert alone.startswith("nothing answers at 127.0.0.1:")


def test_other_programs_are_told_from_processes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        threading.Thread(target=lambda: taken.accept()[0].close(), daemon=True).start()
        with pytest.raises(ProcessError, match="another program does"):
            Link(address, 2, 0, SOON)
    address = f"127.0.0.1:{free_port()}"
    with ThreadPoolExecutor() as pool:
        first = pool.submit(Link, address, 2, 0, SOON)
        while True:
            try:
                stranger = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])))
                break
            except ConnectionRefusedError:
                time.sleep(0.01)
        with stranger:
            stranger.sendall(b"GET / HTTP/1.1\r\n\r\n")
            assert stranger.recv(1) == b""
        second = pool.submit(Link, address, 2, 1, SOON)
        _KEPT.extend([first.result(), second.result()])
        assert in_threads(first.result().exchange, second.result().exchange) == [["", ""]] * 2


def test_a_process_that_has_ended_is_named(failures: list[str]) -> None:
    first, second, third = links(0, 1, 2)
    second._loop.call_soon_threadsafe(second._writers[0].close)  # as the system does for a process that was killed
    for each in first, third:
        with pytest.raises(ProcessError, match="process 1 of this command has ended"):
            each.exchange()
        assert "process 1" in str(each.lost())
    until = time.monotonic() + SOON
    while len(failures) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    assert sorted(failures)[1:] == ["process 1 of this command has ended."] * 2  # the other one is that of process 1


@pytest.mark.parametrize(
    "line",
    [
        "5",
        '"junk"',
        "[1, 2]",
        "{}",
        "[" * 200_000,
        '["text", 5]',
        '["text", ["a"]]',
        '["texts", 5]',
        '["texts", ["a"]]',
        '["texts", ["a", 1]]',
        '["late", 5]',
        '["late", [null, "x"]]',
        '["ended", "x"]',
        '["ended", 7]',
        '["welcome", []]',
        '["leaving", 3]',
    ],
)
@pytest.mark.parametrize("sender", [0, 1])
def test_junk_from_a_process_is_an_error(failures: list[str], sender: int, line: str) -> None:
    found = links(0, 1)
    writer = found[sender]._writers[1 - sender]
    found[sender]._loop.call_soon_threadsafe(writer.write, line.encode() + b"\n")
    with pytest.raises(ProcessError, match=f"^process {sender} of this command has (ended|sent what no process of a )"):
        found[1 - sender].exchange()


def test_processes_that_leave_lose_nobody(failures: list[str]) -> None:
    found = links(0, 1)
    in_threads(*(each.leave for each in found))
    assert found[0]._has_left == {0, 1}
    for each in found:
        for writer in each._writers.values():
            each._loop.call_soon_threadsafe(writer.close)
    time.sleep(0.2)
    assert failures == []


@pytest.mark.parametrize("late", [0, 1, 2])
def test_a_process_says_for_whom_it_waits(
    late: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = links(0, 1, 2)
    monkeypatch.setattr(notes, "PATIENCE", 0.1)
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(each.exchange) for number, each in enumerate(found) if number != late]
        time.sleep(0.5)
        assert found[late].exchange() == [""] * 3
        assert [each.result(SOON) for each in waiting] == [[""] * 3] * 2
    assert capsys.readouterr().err == f"note: waiting for process {late}, 0 s so far.\n" * 2


def test_a_process_says_who_has_not_connected(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(notes, "PATIENCE", 0.3)
    found = links(0, 1, num=4, timeout=1)
    assert all(each.startswith("not all processes have connected to 127.0.0.1:") for each in found)
    assert capsys.readouterr().err == "note: waiting for processes 2, 3, 0 s so far.\n" * 2
    (alone,) = links(1, num=2, timeout=1)
    assert alone.startswith("nothing answers at 127.0.0.1:")
    assert capsys.readouterr().err == "note: waiting for process 0, 0 s so far.\n"


def test_an_address_of_this_machine_is_listened_at_alone() -> None:
    first, _ = links(0, 1)
    port = first._port
    with socket.create_connection(("127.0.0.1", port)), pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", port))


def test_what_jax_sends_passes_through_the_link() -> None:
    first, second = links(0, 1)
    host, _, port = first.coordinator.rpartition(":")
    with (
        socket.create_server((host, int(port))) as coordinator,
        socket.create_connection(("127.0.0.1", int(second.coordinator.rpartition(":")[2])), timeout=SOON) as client,
    ):
        client.sendall(b"question")
        served, _ = coordinator.accept()
        assert served.recv(100) == b"question"
        served.sendall(b"answer")
        assert client.recv(100) == b"answer"
        served.close()  # as where process 0 was killed
        client.settimeout(0.3)
        for _ in range(3):
            client.sendall(b"heartbeat")
            with pytest.raises(TimeoutError):
                client.recv(1)
