"""How long a rollout takes, and its chunks: short enough to show progress, too long for a call's fixed cost to matter.

Imports no JAX.
"""

from __future__ import annotations

import math

from envcore.errors import InvalidArgumentError

_SECONDS = 0.1  # per chunk: the interval at which progress is shown and Ctrl-C is noticed
_FIXED = 0.1  # of the time of its steps a call itself may take, as long as that keeps the chunk short enough:
_LONGEST = 1.0  # seconds that the steps of a chunk take

_LONG, _NEVER = 3600.0, 10 * 365 * 86400.0  # seconds: what is said before it starts, and what cannot end


MEASURED = 1.0
"""Seconds after which a second estimate is good."""


class Pace:
    """Tells the fixed cost of calling a program from that of its steps, by calls of different lengths.

    A call copies the state of all environments in and out and sums up their episodes, which takes a million
    environments as long as several steps. Whatever else the machine does makes a call longer, never shorter: so the
    fixed cost is that of the line through the shortest call and the one with the least time for a step.

    Attributes:
      per_call: seconds of a call without steps; 0 until calls of different lengths tell.
      per_step: seconds of a step, of the last call; infinite before the first.
    """

    def __init__(self) -> None:
        self.per_call, self.per_step = 0.0, math.inf
        self._last = self._shortest = self._fastest = 1, math.inf  # steps and seconds

    def add(self, steps: int, seconds: float) -> None:
        """Learns from a call."""
        self._last = steps, seconds
        self._shortest = min(self._last, self._shortest, key=lambda call: call[1])
        self._fastest = min(self._last, self._fastest, key=lambda call: call[1] / call[0])
        (few, least), (many, most) = self._shortest, self._fastest
        self.per_call = least - few * (most - least) / (many - few) if many > few else 0.0
        self.per_step = max(seconds - self.per_call, 1e-9) / steps

    def chunk(self) -> int:
        """How many steps the next call should take, at least 1. Processes that have learned the same agree."""
        steps, seconds = self._last
        if math.isinf(seconds):
            return 1
        wanted = min(max(_SECONDS, self.per_call / _FIXED), _LONGEST) / self.per_step
        if steps == self._shortest[0] == self._fastest[0]:  # no longer call has told the two costs apart
            wanted = max(wanted, 2 * steps)
        # Even without a fixed cost, the call would take so many seconds at the most.
        longest = 2 * max(_LONGEST, self._shortest[1])
        return max(1, int(min(wanted, longest * steps / seconds)))

    def seconds(self, steps: int) -> float:
        """About how long so many steps take."""
        return steps * (self.per_step + self.per_call / self.chunk())


def duration(seconds: float) -> str:
    """A duration in the unit that fits: seconds, minutes, hours, days or years."""
    for unit, size in (("years", 365 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


def check_duration(option: str, value: int, seconds: float) -> str:
    """What to tell the user about a run that is estimated to take so long; empty if it is less than an hour.

    Args:
      option: the option with which the user chose the length, such as "--steps".
      value: its value.
      seconds: the estimate.

    Raises:
      InvalidArgumentError: more than ten years.
    """
    if seconds > _NEVER:
        raise InvalidArgumentError(f"{option} {value:,} would take about {duration(seconds)} here: choose less.")
    return f"{option} {value:,} will take about {duration(seconds)}." if seconds > _LONG else ""


class Notice:
    """Tells the user once that a run takes long.

    The estimate before the first step comes from two calls, and can be a hundredth of the truth. So it is made again
    once `MEASURED` seconds have been measured.

    Args:
      option: as for `check_duration`.
      value: as for `check_duration`.
    """

    def __init__(self, option: str, value: int):
        self._option, self._value = option, value
        self._due = 0.0  # seconds measured

    def text(self, measured: float, left: float) -> str:
        """What to say now; empty for nothing.

        Args:
          measured: seconds that the run has taken so far.
          left: the estimate of the rest.

        Raises:
          InvalidArgumentError: more than ten years.
        """
        if measured < self._due:
            return ""
        note = check_duration(self._option, self._value, measured + left)
        self._due = MEASURED if self._due < MEASURED and not note else math.inf
        return note
