"""What plays the programs of a run: threads of this process, or something else that `run` is given."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from envcore.checks import positive_integer
from envcore.typing import PyTree

from envcore_bsuite.errors import RunError


@dataclasses.dataclass(frozen=True)
class Task:
    """Work that can continue after an interruption.

    Attributes:
      play: does the work, from a state on or, with None, from its beginning. It yields now and then what is new, and a
        function that returns the state, which is valid until the next item. It can be pickled.
      state: where to begin.
    """

    play: Callable[[PyTree], Iterator[tuple[object, Callable[[], PyTree]]]]
    state: PyTree = None


@runtime_checkable
class Workers(Protocol):
    """Plays tasks, several at a time."""

    def run(
        self,
        tasks: Mapping[str, Task],
        seconds: float,
        handle: Callable[[str, Any, PyTree], None],
        finish: Callable[[str], None],
    ) -> None:
        """Plays all tasks to their ends.

        Args:
          tasks: by name.
          seconds: how often the state of each is wanted.
          handle: called with the name, what is new and, every few seconds, the state (None in between).
          finish: called with the name of each task that has come to its end.
        """
        ...


_MOST_THREADS = 1024  # more than a program can use: a thread has a stack of megabytes


class Threads:
    """Plays tasks in threads of this process.

    Args:
      num: number of threads.

    Raises:
      RunError: the number is not a positive integer, or is above 1,024.
    """

    def __init__(self, num: int):
        self._num = positive_integer("workers", num, RunError, at_most=_MOST_THREADS)

    def run(
        self,
        tasks: Mapping[str, Task],
        seconds: float,
        handle: Callable[[str, Any, PyTree], None],
        finish: Callable[[str], None],
    ) -> None:
        """As `Workers.run`. If one fails or Ctrl-C is pressed, the others hand in their states and stop."""
        stopped = threading.Event()

        def play(name: str, task: Task) -> None:
            if stopped.is_set():
                return
            saved = time.monotonic()
            for update, save in task.play(task.state):
                is_last = stopped.is_set()
                is_due = is_last or time.monotonic() - saved >= seconds
                handle(name, update, save() if is_due else None)
                if is_last:
                    return
                if is_due:
                    saved = time.monotonic()
            finish(name)

        with concurrent.futures.ThreadPoolExecutor(self._num) as pool:
            futures = [pool.submit(play, *each) for each in tasks.items()]
            try:
                for future in concurrent.futures.as_completed(futures):
                    future.result()
            except BaseException:
                stopped.set()
                pool.shutdown(cancel_futures=True)
                raise
