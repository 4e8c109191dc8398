"""Rules about `render`."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np

from envcore.errors import ConformanceError, EnvironmentDefinitionError, NoPictureError
from envcore.frames import picture_struct
from envcore.testing.compare import as_numpy
from envcore.testing.subject import Subject

_NUM_PICTURES = 8
_HEIGHT = 64
_ROUNDING = 2  # of 255 levels
_SHARE_ROUNDED = 0.01  # of levels that may differ by more, where rounding decides between two sides of a hard edge


def pictures(subject: Subject) -> None:
    """`render` returns uint8 (height, width, 3) of the height asked for, with and without params."""
    env, state = subject.env, subject.types.reset[1]
    for params, height in ((None, 256), (subject.params, 64)):
        try:
            picture_struct(env, state, params, height)
        except EnvironmentDefinitionError as error:
            raise ConformanceError(str(error)) from error


def changing_pictures(subject: Subject) -> None:
    """Where the observation changes over an episode, the picture does."""
    env, params = subject.env, subject.params
    states = _states(subject)
    drawn, seen = jax.jit(jax.vmap(lambda s: (env.render(s, params, height=_HEIGHT), env.get_obs(s, params))))(states)
    if any(map(_changes, jax.tree.leaves(seen))) and not _changes(drawn):
        raise ConformanceError("render draws the same picture whatever happens: draw the state that it is given.")


def pictures_under_vmap(subject: Subject) -> None:
    """`render` draws the same under `jit` and `vmap` as for one state alone, but for rounding."""
    env, params = subject.env, subject.params
    draw = functools.partial(env.render, params=params, height=_HEIGHT)
    ways = jax.jit(lambda states: (jax.vmap(draw)(states), jax.lax.map(draw, states)))
    together, alone = (as_numpy(pictures).astype(np.int32) for pictures in ways(_states(subject)))
    differ = (np.abs(together - alone) > _ROUNDING).mean()
    if differ > _SHARE_ROUNDED:
        raise ConformanceError(
            f"render draws {differ:.1%} of the levels differently under vmap: let a picture depend on its own state."
        )


def cannot_draw(subject: Subject) -> str | None:
    """Why the rules about pictures do not apply, if they do not."""
    try:
        jax.eval_shape(subject.env.render, subject.types.reset[1], subject.params)
    except NoPictureError:
        return "the environment has no picture"
    return None


def _states(subject: Subject) -> Any:
    """Some states of one recorded trace, from its first to its last."""
    steps = np.linspace(0, subject.num_steps - 1, _NUM_PICTURES, dtype=np.int32)
    return jax.tree.map(lambda x: x[0, steps], subject.recording.state)


def _changes(values: Any) -> bool:
    values = as_numpy(values)
    return bool((values != values[:1]).any())
