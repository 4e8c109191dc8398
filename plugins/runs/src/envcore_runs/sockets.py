"""What travels between the processes of a command: messages of the link, and the connections of JAX's runtime in it."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import json
import socket
from typing import Any

from envcore_runs.errors import ProcessError

LOOPBACK = "127.0.0.1"
LONGEST = 2**24
"""Bytes of a message."""


def listening_at(host: str, port: int) -> socket.socket | None:
    """A socket that listens at an address of this machine alone; at a name or another address, on all interfaces.

    Returns None if another program listens there.

    Raises:
      ProcessError: nothing may listen there.
    """
    with contextlib.suppress(ValueError):  # of a name: machines often know themselves as 127.0.1.1
        address = str(ipaddress.ip_address(LOOPBACK if host == "localhost" else host))
        try:
            return socket.create_server((address, port), family=_family(":" in address))
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:  # that is the address of a router
                return _in_use(error, f"{host}:{port}")
    both = socket.has_dualstack_ipv6()
    try:
        return socket.create_server(("", port), family=_family(both), dualstack_ipv6=both)
    except OSError as error:
        return _in_use(error, f"port {port}")


def _family(is_ipv6: bool) -> socket.AddressFamily:
    return socket.AF_INET6 if is_ipv6 else socket.AF_INET


def _in_use(error: OSError, where: str) -> None:
    if error.errno != errno.EADDRINUSE:
        raise ProcessError(f"cannot listen at {where}: {error.strerror or error}.") from error


async def say(writer: asyncio.StreamWriter, kind: str, content: Any = None) -> None:
    """Sends a message; the one who reads there notices if the connection has ended."""
    with contextlib.suppress(OSError):
        writer.write(json.dumps([kind, content]).encode() + b"\n")
        await writer.drain()


async def heard(reader: asyncio.StreamReader) -> tuple[str, Any] | None:
    """The next message; None if the connection has ended, or something else than a process of a command is there."""
    try:
        kind, content = json.loads(await reader.readline())
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    return str(kind), content


async def connect_with(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """In process 0: connects the relay of another one with the coordinator, which may start later."""
    while True:
        with contextlib.suppress(OSError):
            found, there = await asyncio.open_connection(LOOPBACK, port)
            break
        await asyncio.sleep(0.02)
    copies = [asyncio.create_task(_copy(reader, there)), asyncio.create_task(_copy(found, writer))]
    await asyncio.wait(copies, return_when=asyncio.FIRST_COMPLETED)
    there.close()
    writer.close()


async def relayed(host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """In another process: connects JAX's runtime with process 0. It never sees that end of the connection close."""
    with contextlib.suppress(OSError):
        found, there = await asyncio.open_connection(host, port)
        await say(there, "relay")
        back = asyncio.create_task(_copy(found, writer))
        await _copy(reader, there)
        there.close()
        await back
    with contextlib.suppress(OSError):
        while await reader.read(2**16):
            pass
    writer.close()


def notice_lost_machines(connection: socket.socket) -> None:
    """Makes the system ask whether the other machine is there, which it answers also for a process that is stopped."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, seconds in {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 6}.items():
        if hasattr(socket, name):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), seconds)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while found := await reader.read(2**16):
            writer.write(found)
            await writer.drain()
