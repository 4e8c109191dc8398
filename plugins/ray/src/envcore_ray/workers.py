"""`RayWorkers`: plays the tasks of a run on a Ray cluster.

A task reports to this process what is new and, now and then, its state, from which it can continue elsewhere. So the
nodes need no file system in common, and where one is lost, only the last seconds are played again. When this process is
interrupted, it asks for the last states: a key in Ray's own store is what the tasks look for.
"""

from __future__ import annotations

import collections
import contextlib
import importlib
import math
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any, Protocol

# Under `uv run`, Ray would otherwise copy the working directory to each node and install its environment there.
os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")

import ray
import ray.exceptions
from envcore.checks import positive_integer
from envcore.errors import InvalidArgumentError, one_line

from envcore_ray.connection import connected
from envcore_ray.errors import ClusterError, TasksFailedError

_store: Any = importlib.import_module("ray.experimental.internal_kv")  # Ray has no public name for it

_TO_SAVE = 0.7  # of the time that a signal leaves; the rest is for Ray to end
_TICK = 0.1  # seconds between looks for the key, each of which takes a millisecond

Play = Callable[[Any], Iterator[tuple[Any, Callable[[], Any]]]]


class Task(Protocol):
    """Work that can continue after an interruption, such as an `envcore_bsuite.workers.Task`.

    Attributes:
      play: does the work, from a state on or, with None, from its beginning. It yields now and then what is new, and a
        function that returns the state, which is valid until the next item. It can be pickled.
      state: where to begin.
    """

    @property
    def play(self) -> Play: ...

    @property
    def state(self) -> Any: ...


class RayWorkers:
    """Plays tasks on a Ray cluster, as many at a time as it has room for.

    The nodes need the same packages as this process, or get them by `runtime_env`.

    Args:
      address: of the cluster: HOST:PORT, or "auto" for the one that this machine belongs to. None starts Ray
        on this machine for as long as a run takes. If Ray has been initialized already, that is used.
      num_cpus: cores of each task.
      num_gpus: GPUs of each task; it may be a fraction.
      attempts: how often in a row, without a new state, a task may fail before it is given up.
      patience: seconds to wait for a node that has room for a task.
      runtime_env: of the tasks, as for `ray.remote`: packages, environment variables, files. The variable NPROC, the
        number of XLA's threads, is `num_cpus` by default.

    Raises:
      InvalidArgumentError: a number is out of range.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        num_cpus: float = 1,
        num_gpus: float = 0,
        attempts: int = 3,
        patience: float = 60.0,
        runtime_env: Mapping[str, Any] | None = None,
    ):
        if num_cpus < 0 or num_gpus < 0:
            raise InvalidArgumentError(f"num_cpus and num_gpus must be at least 0, got {num_cpus} and {num_gpus}.")
        if address is not None and address.startswith("ray://"):
            raise InvalidArgumentError(
                f"address must be HOST:PORT of a cluster that this machine belongs to, or 'auto', got {address!r}: "
                "Ray Client has no tasks that report while they run."
            )
        self._address = address
        self._attempts = positive_integer("attempts", attempts, InvalidArgumentError)
        self._patience = patience
        # XLA would start a thread for each core of the node, and take three quarters of a GPU's memory.
        variables = {"NPROC": str(max(1, math.ceil(num_cpus)))}
        if 0 < num_gpus < 1:
            variables["XLA_PYTHON_CLIENT_MEM_FRACTION"] = f"{0.9 * num_gpus:.3f}"
        given = dict(runtime_env or {})
        runtime_env = {**given, "env_vars": {**variables, **given.get("env_vars", {})}}
        self._options = {"num_cpus": num_cpus, "num_gpus": num_gpus, "runtime_env": runtime_env}

    def run(
        self,
        tasks: Mapping[str, Task],
        seconds: float,
        handle: Callable[[str, Any, Any], None],
        finish: Callable[[str], None],
    ) -> None:
        """Plays all tasks to their ends.

        Args:
          tasks: by name.
          seconds: how often each reports its state.
          handle: called in one thread with the name, what is new and, every few seconds, the state (None in between).
          finish: called with the name of each task that has come to its end.

        Raises:
          ClusterError: there is no cluster at the address, or it has no node for a task.
          TasksFailedError: some tasks kept failing.
        """
        if not tasks:
            return
        with connected(self._address):
            try:
                _Run(self._options, self._attempts, self._patience, seconds, handle, finish).complete(tasks)
            except ray.exceptions.RayError as error:
                raise ClusterError(f"the Ray cluster failed: {one_line(error)}.") from error


class _Run:
    """The tasks of one run."""

    def __init__(
        self,
        options: Mapping[str, Any],
        attempts: int,
        patience: float,
        seconds: float,
        handle: Callable[[str, Any, Any], None],
        finish: Callable[[str], None],
    ):
        self._needs = {"CPU": options["num_cpus"], "GPU": options["num_gpus"]}
        self._attempts, self._patience = attempts, patience
        self._seconds, self._handle, self._finish = seconds, handle, finish
        self._reports = ray.remote(_reports).options(num_returns="streaming", max_retries=0, **options)
        self._states: dict[str, Any] = {}
        self._failures: collections.Counter[str] = collections.Counter()
        self._running: dict[Any, str] = {}
        self._unsaved: set[str] = set()  # tasks that have reported something since their last state
        self._received = ""  # the task whose report is being received
        self._thread = ThreadPoolExecutor(1)  # handles a report to its end, also where the main thread is interrupted
        self._handling: Future[None] | None = None
        self._stop = f"envcore {secrets.token_hex(16)}".encode()

    def complete(self, tasks: Mapping[str, Task]) -> None:
        reasons: dict[str, str] = {}
        self._states = {name: task.state for name, task in tasks.items()}
        try:
            for name in tasks:
                self._start(name, tasks)
            last = time.monotonic()
            while self._running:
                ready, _ = ray.wait(list(self._running), timeout=1, fetch_local=False)
                if ready or self._has_room():
                    last = time.monotonic()
                elif time.monotonic() - last > self._patience:
                    needs = " and ".join(f"{number:g} {name}" for name, number in self._needs.items() if number)
                    raise ClusterError(f"no node of the Ray cluster has {needs}, which a task needs.")
                for reports in ready:
                    name = self._running[reports]
                    try:
                        self._receive(name, reports)
                        continue
                    except StopIteration:
                        self._finish(name)
                    except ray.exceptions.RayError as error:
                        ray.cancel(reports, force=True)  # the error may be of its way to us, and not of the task
                        cause = error.cause if isinstance(error, ray.exceptions.RayTaskError) else error
                        self._failures[name] += 1
                        if self._failures[name] < self._attempts:
                            self._start(name, tasks)
                        else:
                            reasons[name] = one_line(cause)
                    del self._running[reports]
        except (KeyboardInterrupt, SystemExit):
            with contextlib.suppress(ray.exceptions.RayError):
                self._save()
            raise
        finally:
            self._thread.shutdown(wait=False)
            for reports in self._running:
                ray.cancel(reports, force=True)
        if reasons:
            raise TasksFailedError(reasons, len(tasks), self._attempts)

    def _start(self, name: str, tasks: Mapping[str, Task]) -> None:
        self._unsaved.discard(name)
        self._running[self._reports.remote(tasks[name].play, self._states[name], self._seconds, self._stop)] = name

    def _receive(self, name: str, reports: Any) -> None:
        """Handles the next report of a task; raises StopIteration after the last one."""
        self._received = name
        update, state = ray.get(next(reports))
        self._handling = self._thread.submit(self._handle, name, update, state)
        self._unsaved.add(name)
        if state is not None:
            self._states[name] = state
            self._failures[name] = 0
            self._unsaved.discard(name)
        self._received = ""
        self._handling.result()

    def _save(self) -> None:
        """Handles the last states of the tasks that have something to save, as far as they come in time."""
        until = time.monotonic() + _TO_SAVE * 20.0
        if self._handling is not None and wait([self._handling], until - time.monotonic()).not_done:
            return
        wanted = self._unsaved - {self._received}  # one of its reports may be lost
        waiting = {reports: name for reports, name in self._running.items() if name in wanted}
        if not waiting:
            return
        _store._internal_kv_put(self._stop, b"")
        try:
            for reports in self._running.keys() - waiting.keys():
                ray.cancel(reports, force=True)
            while waiting and (left := until - time.monotonic()) > 0:
                ready, _ = ray.wait(list(waiting), timeout=left, fetch_local=False)
                for reports in ready:
                    try:
                        self._receive(waiting[reports], reports)
                    except (StopIteration, ray.exceptions.RayError):
                        del waiting[reports]
        finally:
            _store._internal_kv_del(self._stop)

    def _has_room(self) -> bool:
        """Whether there is a node that is large enough for a task, used or not."""
        return any(
            node["Alive"] and all(node["Resources"].get(name, 0) >= number for name, number in self._needs.items())
            for node in ray.nodes()
        )


def _reports(play: Play, state: Any, seconds: float, stop: bytes) -> Iterator[tuple[Any, Any]]:
    """Plays on a node; yields what is new, with a state if the last one is old; ends with one when the key is there."""
    saved = looked = time.monotonic()
    for update, save in play(state):
        now = time.monotonic()
        is_last = now - looked >= _TICK and _store._internal_kv_exists(stop)
        looked = now if now - looked >= _TICK else looked
        is_due = is_last or now - saved >= seconds
        yield update, save() if is_due else None
        if is_last:
            return
        if is_due:
            saved = time.monotonic()
