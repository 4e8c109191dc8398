"""Rules about `render`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from envcore.errors import InvalidArgumentError, NoPictureError
from envcore.rendering import picture_struct

from envcore_testing.compilation import quick_jit
from envcore_testing.subject import Subject
from envcore_testing.trees import as_numpy

_NUM_PICTURES = 8
_HEIGHT = 64
_ROUNDING = 2  # of 255 levels
_SHARE_ROUNDED = 0.01  # of levels that may differ more, because rounding decides the side of a hard edge


def pictures(subject: Subject) -> Iterator[str]:
    """`render` returns uint8 (height, width, 3) with the requested height."""
    for height in (_HEIGHT, _HEIGHT // 2):
        picture_struct(subject.env, subject.types.reset[1], subject.params, height)
    yield from ()


def height_of_a_picture(subject: Subject) -> Iterator[str]:
    """`render` raises `InvalidArgumentError` if the height is not a positive integer."""
    render = functools.partial(subject.env.render, height=0)
    try:
        jax.eval_shape(render, subject.types.reset[1], subject.params)
    except InvalidArgumentError:
        return
    yield "render: it accepts a height of 0"


def changing_pictures(subject: Subject) -> Iterator[str]:
    """The picture changes over an episode if the observation does."""
    pictures, _, seen = subject.shared(_paint)
    if any(map(_changes, jax.tree.leaves(seen))) and not _changes(pictures):
        yield "render: it always shows the same picture"


def pictures_under_vmap(subject: Subject) -> Iterator[str]:
    """`render` gives the same picture under `vmap` as for a single state, except for rounding."""
    together, alone = (as_numpy(pictures).astype(np.int32) for pictures in subject.shared(_paint)[:2])
    differ = (np.abs(together - alone) > _ROUNDING).mean()
    if differ > _SHARE_ROUNDED:
        yield f"render: {differ:.1%} of the levels differ under vmap"


def has_no_picture(subject: Subject) -> str | None:
    """Returns why the rules about pictures do not apply, or None if they apply."""
    try:
        jax.eval_shape(subject.env.render, subject.types.reset[1], subject.params)
    except NoPictureError:
        return "the environment has no picture"
    except Exception:
        return None  # the rule reports it
    return None


def _paint(subject: Subject) -> tuple[Any, Any, Any]:
    """Renders some recorded states under `vmap` and one by one, and returns both with the states' observations."""
    env, params = subject.env, subject.params
    render = functools.partial(env.render, params=params, height=_HEIGHT)

    def render_all(states: Any) -> tuple[Any, Any, Any]:
        return jax.vmap(render)(states), jax.lax.map(render, states), jax.vmap(lambda s: env.observe(s, params))(states)

    times = np.linspace(0, subject.num_steps - 1, _NUM_PICTURES, dtype=np.int32)
    return quick_jit(render_all)(jax.tree.map(lambda x: x[0, times], subject.recording.state))


def _changes(values: Any) -> bool:
    values = as_numpy(values)
    return bool((values != values[:1]).any())
