"""Rules about what an author declares: each method works by itself, and the state space has the rules' bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from envcore import spaces

from envcore_testing.breaches import Breach, breach_of_error
from envcore_testing.subject import Subject
from envcore_testing.trees import type_differences


def authors_methods(subject: Subject) -> Iterator[Breach]:
    """`observe` and `action_mask` return by themselves the types that `reset` and `step` return."""
    env, (obs, state), info = subject.env, subject.types.reset, subject.types.step[-1]
    for name, expected in (("observe", obs), ("action_mask", info.get("action_mask"))):
        for params, which in ((subject.params, "params"), (env.default_params, "env.default_params")):
            try:
                found = jax.eval_shape(lambda state: getattr(env, name)(state, params), state)  # noqa: B023
            except Exception as error:
                yield breach_of_error(error, subject.place(name))
                continue
            for problem in type_differences(found, expected):
                yield Breach(f"{name}(state, {which}) by itself {problem}: return that type.", subject.place(name))


def bounded_states(subject: Subject) -> Iterator[Breach]:
    """Integers of the state have bounds, and what is outside of them is not in the state space, as a time of -1."""
    space, place = subject.env.state_space(subject.params), subject.place("state_space", "state_space")
    for name, part in _parts(space, "state"):
        if _has_no_bounds(part):
            yield Breach(
                f"{name} has no bounds in {part!r}: declare in state_space what the rules can reach, or a "
                "spaces.Tree for numbers that have no bounds.",
                place,
            )
        for value in _outside(part):
            if part.contains(value):
                yield Breach(f"{part!r} of {name} contains {value}, which is outside of its bounds.", place)
    before = {**space.sample(subject.key), "time": np.int32(-1)}
    if space.contains(before):
        yield Breach("a state with a time of -1 is in the state space: declare spaces.NATURAL_NUMBERS for time.", place)


def is_wrapped(subject: Subject) -> str | None:
    """Why the rule about bounds does not apply, if it does not."""
    return "a wrapper's own fields have no bounds" if subject.is_wrapped else None


def _parts(space: spaces.Space, name: str) -> Iterator[tuple[str, spaces.Space]]:
    """The spaces of single arrays, each with the place of the array in the state."""
    if isinstance(space, spaces.Dict):
        for key, part in space.spaces.items():
            yield from _parts(part, f"{name}.{key}")
    elif isinstance(space, spaces.Tuple):
        for i, part in enumerate(space.spaces):
            yield from _parts(part, f"{name}[{i}]")
    else:
        yield name, space


def _has_no_bounds(space: spaces.Space) -> bool:
    """Whether an integer of more than 8 bits, which may be a pixel, can have every value of its dtype."""
    if not isinstance(space, spaces.Box) or space.dtype.kind not in "iu" or space.dtype.itemsize == 1:
        return False
    info = np.iinfo(space.dtype)
    return bool(((space.low == info.min) & (space.high == info.max)).any())


def _outside(space: spaces.Space) -> list[Any]:
    """Values whose first number is just outside of its bounds."""
    if isinstance(space, spaces.Discrete):
        return [np.int32(value) for value in (-1, space.n) if value <= np.iinfo(np.int32).max]
    if isinstance(space, spaces.MultiDiscrete):
        low, high = np.zeros_like(space.nvec), space.nvec - 1
    elif isinstance(space, spaces.Box) and space.dtype.kind in "iuf" and np.size(space.low):
        low, high = np.asarray(space.low), np.asarray(space.high)
    else:
        return []
    bounds: list[tuple[np.ndarray, int]] = [(low, -1), (high, 1)]
    found: list[Any] = []
    for bound, direction in bounds:
        value = bound.copy()
        first = bound.flat[0]
        if bound.dtype.kind == "f":
            beyond = np.nextafter(first, np.inf * direction, dtype=bound.dtype)
            if abs(beyond) < np.finfo(bound.dtype).tiny:  # XLA takes it for 0
                beyond = direction * np.finfo(bound.dtype).tiny
            is_number = np.isfinite(first) and np.isfinite(beyond)
        else:
            info = np.iinfo(bound.dtype)
            beyond, is_number = int(first) + direction, info.min <= int(first) + direction <= info.max
        if is_number:
            value.flat[0] = beyond
            found.append(value)
    return found
