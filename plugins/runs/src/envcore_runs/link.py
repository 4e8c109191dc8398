"""The link between the processes of a command. All of them connect with process 0. Imports no JAX.

Once JAX's runtime loses its coordinator, C++ code ends the process with a stack trace, and no release from 0.6 to 0.12
lets Python prevent that. Therefore the runtime talks through the link, and does not notice: its coordinator listens on
process 0's loopback interface alone, every other process has a relay there, and when a process ends, the link says so.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import socket
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from envcore_runs import notes
from envcore_runs.errors import ProcessError
from envcore_runs.notes import fail
from envcore_runs.sockets import (
    LONGEST,
    LOOPBACK,
    connect_with,
    heard,
    listening_at,
    notice_lost_machines,
    relayed,
    say,
)

_LEAVING = 10.0  # seconds in which process 0 waits for the others to leave
_GRACE = 2.0  # seconds in which a process that has lost another one may end with an error of its own

_T = TypeVar("_T")


class Link:
    """Connects this process with the others.

    Args:
      address: HOST:PORT, at which process 0 listens: on that address alone if it is one of this machine, and not a name
        other than localhost; otherwise on all interfaces.
      num: number of processes.
      number: of this process.
      timeout: seconds to wait for the others.

    Attributes:
      coordinator: where JAX's coordinator has to listen in process 0, and where it can be reached in the others.

    Raises:
      ProcessError: the others cannot be reached, or have other numbers than they should.
    """

    def __init__(self, address: str, num: int, number: int, timeout: float):
        self._address, self._num, self._number, self._timeout = address, num, number, timeout
        host, _, port = address.rpartition(":")
        self._host, self._port = host.strip("[]"), int(port)
        self._writers: dict[int, asyncio.StreamWriter] = {}  # the processes with which this one is connected
        self._greetings: list[tuple[int, int, asyncio.StreamReader, asyncio.StreamWriter]] = []
        self._texts: dict[int, str] = {}  # in process 0: those of the exchange that is going on
        self._has_left: set[int] = set()
        self._lost: ProcessError | None = None
        self._tasks: set[asyncio.Future[Any]] = set()  # the loop itself would forget them
        self._loop = asyncio.new_event_loop()
        self._complete, self._texts_of_all, self._late = (self._loop.create_future() for _ in range(3))
        threading.Thread(target=self._loop.run_forever, name="link", daemon=True).start()
        self.coordinator = f"{LOOPBACK}:{self._run(self._open())}"

    def exchange(self, text: str = "") -> list[str]:
        """Waits until every process has called this; returns what each of them has given, in their order.

        Raises:
          ProcessError: a process has ended.
        """
        return self._run(self._exchange(text))

    def lost(self) -> ProcessError | None:
        """The error if a process has ended; waits a moment, because JAX can be the first to notice."""
        until = time.monotonic() + _GRACE / 2
        while self._lost is None and time.monotonic() < until:
            time.sleep(0.01)
        return self._lost

    def leave(self) -> None:
        """Says that this process ends without an error; process 0 waits until the others have done so."""
        self._run(self._leave())

    def _run(self, work: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _keep(self, work: Coroutine[Any, Any, Any]) -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _open(self) -> int:
        """Connects the processes; returns the port of the coordinator or of its relay."""
        if self._number == 0 and (listening := listening_at(self._host, self._port)) is not None:
            with socket.create_server((LOOPBACK, 0)) as free:
                self._coordinator_port: int = free.getsockname()[1]
            await self._gather(listening)
            return self._coordinator_port
        await self._join()
        self._relays = await asyncio.start_server(functools.partial(relayed, self._host, self._port), LOOPBACK)
        return self._relays.sockets[0].getsockname()[1]

    async def _gather(self, listening: socket.socket) -> None:
        """In process 0: waits for the others."""
        self._server = await asyncio.start_server(self._accept, sock=listening, limit=LONGEST)
        if self._num == 1:
            self._complete.set_result(None)
        is_complete = await notes.wait(self._complete, self._who_is_absent, self._timeout)
        problem = self._misnumbered() if is_complete else self._not_all()
        for number, _, reader, writer in self._greetings:
            if problem:
                await say(writer, "refused", problem)
                writer.close()
            else:
                self._connected(number, reader, writer)
                await say(writer, "welcome")
        if problem:
            self._server.close()
            raise ProcessError(problem)

    async def _who_is_absent(self, waited: float) -> list[int]:
        """In process 0: the processes that have not connected; those that have are told too."""
        here = {0, *(number for number, *_ in self._greetings)}
        absent = [number for number in range(self._num) if number not in here]
        for *_, writer in self._greetings:
            await say(writer, "absent", [absent, waited])
        return absent

    def _misnumbered(self) -> str:
        """What is wrong with the numbers of the processes."""
        for number, num, *_ in self._greetings:
            if num != self._num:
                return (
                    f"process {number} was given --num-processes {num}, and process 0 --num-processes {self._num}: "
                    "give all processes the same command."
                )
        numbers = [0, *(number for number, *_ in self._greetings)]
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        return f"several processes were given --process-id {twice[0]}: give each a number of its own." if twice else ""

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """In process 0: another process, its relay or a stranger has connected."""
        match await heard(reader):
            case "relay", None:
                await connect_with(self._coordinator_port, reader, writer)
            case "hello", [int(number), int(num)] if not self._complete.done() and 0 <= number < num:
                gone = [each for each in self._greetings if each[2].at_eof() or each[2].exception() is not None]
                self._greetings = [each for each in self._greetings if each not in gone]
                self._greetings.append((number, num, reader, writer))
                if num != self._num or len(self._greetings) == self._num - 1:
                    self._complete.set_result(None)
            case "hello", [number, _]:
                problem = f"another process {number} is connected at {self._address} already: "
                await say(
                    writer, "refused", f"{problem}give each process a number, and each command a port, of its own."
                )
                writer.close()
            case _:
                writer.close()

    async def _join(self) -> None:
        """Connects with process 0, which may start later. A second process 0 does so too, and is refused."""
        until, next_note = (began := self._loop.time()) + self._timeout, began + notes.PATIENCE
        while True:
            problem = f"nothing answers at {self._address} within {self._timeout} s: is process 0 running, and can its "
            problem += "port be reached?"
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout_at(until):
                    reader, writer = await asyncio.open_connection(self._host, self._port, limit=LONGEST)
                    problem = self._not_all()
                    if await self._is_welcome(reader, writer):
                        return self._connected(0, reader, writer)
            if self._number == 0:
                raise ProcessError(f"cannot listen at {self._address}: another program does.")
            if self._loop.time() >= until:
                raise ProcessError(problem)
            if self._loop.time() >= next_note:
                notes.say_late([0], self._loop.time() - began)
                next_note += notes.SELDOM
            await asyncio.sleep(0.1)

    async def _is_welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Greets process 0, which answers when all have connected."""
        with contextlib.ExitStack() as unless_welcome:
            unless_welcome.callback(writer.close)
            await say(writer, "hello", [self._number, self._num])
            while True:
                match await heard(reader):
                    case "absent", [[*absent], int() | float() as waited] if self._are_numbers(absent):
                        notes.say_late(absent, waited)
                    case "welcome", _:
                        unless_welcome.pop_all()
                        return True
                    case "refused", reason:
                        raise ProcessError(str(reason))
                    case _:
                        return False

    def _not_all(self) -> str:
        return f"not all processes have connected to {self._address} within {self._timeout} s: are they all running?"

    def _connected(self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers[number] = writer
        writer.transport.set_write_buffer_limits(0)  # so that `drain` waits until the system has everything
        notice_lost_machines(writer.get_extra_info("socket"))
        self._keep(self._listen(number, reader))

    async def _listen(self, number: int, reader: asyncio.StreamReader) -> None:
        """Handles what another process says, until it ends."""
        while (message := await heard(reader)) is not None:
            match message:
                case "text", str(text):
                    await self._arrived(number, text)
                case "texts", [*texts] if len(texts) == self._num and all(isinstance(each, str) for each in texts):
                    _settle(self._texts_of_all, texts)
                case "who is late", None:
                    await say(self._writers[number], "late", self._missing())
                case "late", [*numbers] if self._are_numbers(numbers):
                    _settle(self._late, numbers)
                case "ended", int(other) if other in range(self._num):
                    await self._lose(other)
                case "leaving", None:
                    self._has_left.add(number)
                case _:
                    await self._lose(number, "has sent what no process of a command sends")
                    break
        if number not in self._has_left:
            self._has_left.add(number)
            await self._lose(number)

    async def _exchange(self, text: str) -> list[str]:
        if self._lost is not None:
            raise self._lost
        self._texts_of_all = self._loop.create_future()
        if self._number == 0:
            await self._arrived(0, text)
        else:
            await say(self._writers[0], "text", text)
        await notes.wait(self._texts_of_all, self._who_is_late)
        return self._texts_of_all.result()

    async def _arrived(self, number: int, text: str) -> None:
        """In process 0: a process has come to the exchange."""
        self._texts[number] = text
        if len(self._texts) == self._num:
            texts = [self._texts[each] for each in range(self._num)]
            self._texts = {}
            for writer in self._writers.values():
                await say(writer, "texts", texts)
            _settle(self._texts_of_all, texts)

    def _are_numbers(self, found: list[Any]) -> bool:
        return all(each in range(self._num) for each in found)

    def _missing(self) -> list[int]:
        return [number for number in range(self._num) if number not in self._texts]

    async def _who_is_late(self, waited: float) -> list[int]:
        """The processes that have not come to the exchange; process 0 knows."""
        if self._number == 0:
            return self._missing()
        self._late = self._loop.create_future()
        await say(self._writers[0], "who is late")
        answered, _ = await asyncio.wait([self._late], timeout=2)
        return self._late.result() if answered else [0]

    async def _lose(self, number: int, what: str = "has ended") -> None:
        """Ends this process because another one has ended: by an error in the next exchange, if it comes soon."""
        if self._lost is not None or self._number in self._has_left:
            return
        self._lost = ProcessError(f"process {number} of this command {what}.")
        for other, writer in self._writers.items():
            if other not in self._has_left:
                await say(writer, "ended", number)
        if not self._texts_of_all.done():
            self._texts_of_all.set_exception(self._lost)
        self._loop.call_later(_GRACE, fail, str(self._lost))

    async def _leave(self) -> None:
        self._has_left.add(self._number)
        for writer in self._writers.values():
            await say(writer, "leaving")
        until = self._loop.time() + _LEAVING
        while self._number == 0 and len(self._has_left) < self._num and self._loop.time() < until:
            await asyncio.sleep(0.01)
        for task in self._tasks:
            task.cancel()  # Python would complain of them at its end


def _settle(future: asyncio.Future[Any], result: Any) -> None:
    if not future.done():
        future.set_result(result)
