"""Tasks that count, for tests of the cluster; what they report says where they ran."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from typing import Any


@dataclasses.dataclass(frozen=True)
class Count:
    """Counts from the state to `end`.

    Attributes:
      end: the last number.
      seconds: between numbers.
      fails_at: the number at which it raises an error.
      kills_at: the number at which it ends its process.
      hangs_at: the number at which it sleeps for a minute.
    """

    end: int
    seconds: float = 0.0
    fails_at: int | None = None
    kills_at: int | None = None
    hangs_at: int | None = None

    def __call__(self, state: int | None) -> Iterator[tuple[Any, Callable[[], int]]]:
        import ray

        for number in range(state or 0, self.end):
            if number == self.fails_at:
                raise ValueError(f"no {number}\nand more lines")
            if number == self.kills_at:
                os._exit(1)
            time.sleep(60 if number == self.hangs_at else self.seconds)
            yield (ray.get_runtime_context().get_node_id(), number), lambda number=number: number + 1


@dataclasses.dataclass(frozen=True)
class Task:
    play: Count
    state: int | None = None
