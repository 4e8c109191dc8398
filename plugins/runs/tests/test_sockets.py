"""Sockets that listen, messages, and connections that pass through those of other processes."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import pytest
from envcore_runs import sockets
from envcore_runs.errors import ProcessError
from several_processes import SOON, free_port

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def run(program: Awaitable[Any]) -> Any:
    async def in_time() -> Any:
        return await asyncio.wait_for(program, SOON)

    return asyncio.run(in_time())


@contextlib.asynccontextmanager
async def connected() -> AsyncGenerator[tuple[Streams, Streams]]:
    """Both ends of a connection."""
    ends = [await asyncio.open_connection(sock=each) for each in socket.socketpair()]
    yield ends[0], ends[1]
    for _, writer in ends:
        writer.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_address_of_this_machine_is_listened_at_alone(host: str) -> None:
    listening = sockets.listening_at(host, free_port())
    assert listening is not None
    with listening:
        assert listening.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("host", ["a-name", "192.0.2.1"])  # the latter is the address of no machine
def test_at_a_name_or_anothers_address_all_interfaces_are_listened_at(host: str) -> None:
    listening = sockets.listening_at(host, free_port())
    assert listening is not None
    with listening:
        assert listening.getsockname()[0] in ("::", "0.0.0.0")
        socket.create_connection(("127.0.0.1", listening.getsockname()[1])).close()


@pytest.mark.parametrize("host", ["127.0.0.1", "a-name"])
def test_a_port_that_is_taken(host: str) -> None:
    with socket.create_server(("", 0)) as taken:
        assert sockets.listening_at(host, taken.getsockname()[1]) is None


@pytest.mark.parametrize(("host", "where"), [("127.0.0.1", "127.0.0.1:80"), ("a-name", "port 80")])
def test_an_address_at_which_nothing_may_listen(host: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(ProcessError, match=rf"^cannot listen at {where}: Permission denied\.$"):
        sockets.listening_at(host, 80)


def test_messages_are_heard_in_their_order_until_the_connection_ends() -> None:
    async def program() -> list[Any]:
        async with connected() as ((reader, _), (_, writer)):
            await sockets.say(writer, "text", "two\nlines")
            await sockets.say(writer, "leaving")
            writer.close()
            return [await sockets.heard(reader) for _ in range(3)]

    assert run(program()) == [("text", "two\nlines"), ("leaving", None), None]


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1", b"5", b"[1]", b"null", b"\xff", b"[" * 60_000, b"0" * 70_000])
def test_what_no_process_of_a_command_says(line: bytes) -> None:
    async def program() -> Any:
        async with connected() as ((reader, _), (_, writer)):
            writer.write(line + b"\n")
            return await sockets.heard(reader)

    assert run(program()) is None


def test_nothing_is_raised_where_the_other_end_is_closed() -> None:
    async def program() -> Any:
        async with connected() as ((reader, writer), (_, other)):
            other.transport.abort()
            for _ in range(3):
                await sockets.say(writer, "text", "a" * 2**20)
            return await sockets.heard(reader)

    assert run(program()) is None


async def serving(handle: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]) -> tuple[Any, int]:
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


def test_a_relayed_connection_waits_for_the_coordinator_and_never_sees_it_close() -> None:
    async def program() -> None:
        port = free_port()  # of the coordinator

        async def first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            assert await sockets.heard(reader) == ("relay", None)
            await sockets.connect_with(port, reader, writer)

        async def coordinator(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write((await reader.readline()).upper())
            await writer.drain()
            writer.close()

        process_0, there = await serving(first)
        relay, here = await serving(lambda *streams: sockets.relayed("127.0.0.1", there, *streams))
        reader, writer = await asyncio.open_connection("127.0.0.1", here)
        writer.write(b"question\n")
        await asyncio.sleep(0.1)
        server = await asyncio.start_server(coordinator, "127.0.0.1", port)
        assert await reader.readline() == b"QUESTION\n"
        for _ in range(3):
            writer.write(b"heartbeat\n")
            await writer.drain()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(reader.read(1), 0.1)
        writer.close()
        assert await reader.read() == b""  # closed as soon as this end is
        for each in (server, relay, process_0):
            each.close()

    run(program())


def test_lost_machines_are_noticed() -> None:
    with socket.socket() as connection:
        sockets.notice_lost_machines(connection)
        assert connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
