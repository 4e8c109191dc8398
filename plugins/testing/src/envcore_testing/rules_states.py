"""Rules about what an author declares: each method works by itself, and the state space has the rules' bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from envcore import spaces
from envcore.errors import NoPictureError

from envcore_testing.breaches import Breach
from envcore_testing.rules_pictures import has_no_picture
from envcore_testing.subject import Subject
from envcore_testing.trees import type_differences

_HEIGHT = 64


def authors_methods(subject: Subject) -> Iterator[Breach]:
    """What authors write, `make_action_space` and `paint`, gives what users get from `action_space` and `render`."""
    env, params = subject.env, subject.params
    for public in ("action_space", "observation_space", "state_space"):
        written = f"make_{public}"
        try:
            is_same = getattr(env, written)(params) == getattr(env, public)(params)
        except NotImplementedError:
            problem = f"{written}(params) is not there"
        else:
            problem = None if is_same else f"{written}(params) differs from {public}(params)"
        if problem:
            yield Breach(
                f"{problem}: write {written}, and leave {public} to the base class.", subject.place(public, written)
            )
    if has_no_picture(subject) is None:
        yield from _paint(subject)


def bounded_states(subject: Subject) -> Iterator[Breach]:
    """Integers of the state have bounds, and what is outside of them is not in the state space, as a time of -1."""
    space, place = subject.env.state_space(subject.params), subject.place("make_state_space", "state_space")
    for name, part in _parts(space, "state"):
        if _has_no_bounds(part):
            yield Breach(
                f"{name} has no bounds in {part!r}: declare in make_state_space what the rules can reach, or a "
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


def _paint(subject: Subject) -> Iterator[Breach]:
    env, state = subject.env, subject.types.reset[1]
    rendered = jax.eval_shape(lambda state, params: env.render(state, params, height=_HEIGHT), state, subject.params)
    try:
        painted = jax.eval_shape(lambda state, params: env.paint(state, params, _HEIGHT), state, subject.params)
    except NoPictureError:
        problem = "there is no paint(state, params, height), but a picture from render"
    else:
        differences = type_differences(painted, rendered)
        problem = f"paint and render return different pictures: {differences[0]}" if differences else None
    if problem:
        yield Breach(f"{problem}: write paint, and leave render to the base class.", subject.place("render", "paint"))


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
