"""Rules about `render`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from envcore.errors import EnvironmentDefinitionError, InvalidArgumentError, NoPictureError
from envcore.rendering import picture_struct

from envcore_testing.breaches import Breach
from envcore_testing.compilation import quick_jit
from envcore_testing.subject import Subject
from envcore_testing.trees import as_numpy

_NUM_PICTURES = 8
_HEIGHT = 64
_ROUNDING = 2  # of 255 levels
_SHARE_ROUNDED = 0.01  # of levels that may differ by more, where rounding decides between two sides of a hard edge


def pictures(subject: Subject) -> Iterator[Breach]:
    """`render` returns uint8 (height, width, 3) of the requested height."""
    env, state = subject.env, subject.types.reset[1]
    for height in (_HEIGHT, _HEIGHT // 2):
        try:
            picture_struct(env, state, subject.params, height)
        except EnvironmentDefinitionError as error:
            yield Breach(str(error), subject.place("render"))


def height_of_a_picture(subject: Subject) -> Iterator[Breach]:
    """`render` refuses a height that is not a positive integer, by an `InvalidArgumentError`."""
    env, state = subject.env, subject.types.reset[1]
    for height in (0, -1):
        try:
            jax.eval_shape(functools.partial(env.render, height=height), state, subject.params)
        except InvalidArgumentError:
            continue
        yield Breach(
            f"render takes a height of {height}: use envcore.painting.paint, or check it by its checked_height.",
            subject.place("render"),
        )


def changing_pictures(subject: Subject) -> Iterator[Breach]:
    """Where the observation changes over an episode, so does the picture."""
    pictures, _, seen = subject.shared(_paint)
    if any(map(_changes, jax.tree.leaves(seen))) and not _changes(pictures):
        yield Breach(
            "render shows the same picture whatever happens: paint the state that it is given.",
            subject.place("render"),
        )


def pictures_under_vmap(subject: Subject) -> Iterator[Breach]:
    """`render` gives the same under `jit` and `vmap` as for one state alone, except for rounding."""
    together, alone = (as_numpy(pictures).astype(np.int32) for pictures in subject.shared(_paint)[:2])
    differ = (np.abs(together - alone) > _ROUNDING).mean()
    if differ > _SHARE_ROUNDED:
        yield Breach(
            f"{differ:.1%} of the levels differ under vmap: let a picture depend on its own state alone.",
            subject.place("render"),
        )


def has_no_picture(subject: Subject) -> str | None:
    """Why the rules about pictures do not apply, if they do not."""
    return subject.shared(_no_picture)


def _no_picture(subject: Subject) -> str | None:
    try:
        jax.eval_shape(functools.partial(subject.env.render, height=_HEIGHT), subject.types.reset[1], subject.params)
    except NoPictureError:
        return "the environment has no picture"
    except Exception:
        return None  # the rule reports it
    return None


def _paint(subject: Subject) -> tuple[Any, Any, Any]:
    """Some states painted under `vmap`, painted one by one, and observed."""
    env, params = subject.env, subject.params
    render = functools.partial(env.render, params=params, height=_HEIGHT)

    def render_all(states: Any) -> tuple[Any, Any, Any]:
        return jax.vmap(render)(states), jax.lax.map(render, states), jax.vmap(lambda s: env.observe(s, params))(states)

    return quick_jit(render_all)(_states(subject))


def _states(subject: Subject) -> Any:
    """Some states of one recorded trace, from its first to its last."""
    steps = np.linspace(0, subject.num_steps - 1, _NUM_PICTURES, dtype=np.int32)
    return jax.tree.map(lambda x: x[0, steps], subject.recording.state)


def _changes(values: Any) -> bool:
    values = as_numpy(values)
    return bool((values != values[:1]).any())
