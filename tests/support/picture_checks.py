"""Pictures of states with chosen fields, where their colors are, and what holds for the pictures of every suite."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from envcore import painting, trees


@dataclasses.dataclass(frozen=True)
class Case:
    """An environment and what its picture must show.

    Attributes:
      env: the environment.
      aspect: of the picture.
      start: fields of a state in which every part is visible; the others are zero.
      shown: other values of each field that the picture shows.
      shaping: other values of each param that it shows.
      colors: those that are visible in a picture of 64 pixels.
    """

    env: Any
    aspect: float
    start: dict[str, Any]
    shown: dict[str, Any]
    shaping: dict[str, Any]
    colors: Sequence[painting.Color]

    def render(self, params: dict[str, Any] | None = None, **fields: Any) -> Any:
        return self.env.render(self.state(**fields), params_of(self.env, **(params or {})), height=64)

    def state(self, **fields: Any) -> Any:
        return state_of(self.env, **self.start | fields)


@functools.cache
def blank(env: Any) -> Any:
    """A state of zeros, which needs no compiled reset."""
    return jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), jax.eval_shape(env.reset, jax.random.key(0))[1])


def state_of(env: Any, **fields: Any) -> Any:
    """A state with some fields set, the others 0."""
    state = blank(env)
    return state.replace(**{name: np.asarray(value, getattr(state, name).dtype) for name, value in fields.items()})


def params_of(env: Any, **fields: Any) -> Any:
    """The default params with other numbers in some fields, as arrays, so that all share a compilation."""
    params = trees.narrow(env.default_params)
    return params.replace(**{name: jnp.asarray(value, getattr(params, name).dtype) for name, value in fields.items()})


def near(picture: Any, color: painting.Color, tolerance: int = 2) -> Any:
    """Where pictures have a color, bool (..., height, width)."""
    return (np.abs(np.asarray(picture, int) - np.array(color)) <= tolerance).all(-1)


def places(picture: Any, color: painting.Color, tolerance: int = 2) -> np.ndarray:
    """Positions of a color, (x, y) from the picture's center, y up, in units of the picture's height: (n, 2)."""
    rows, columns = np.nonzero(near(picture, color, tolerance))
    assert len(rows), f"nothing is {color}"
    height, width = np.asarray(picture).shape[:2]
    return np.stack([columns - (width - 1) / 2, (height - 1) / 2 - rows], axis=-1) / height


def middle(picture: Any, color: painting.Color, tolerance: int = 2) -> np.ndarray:
    return places(picture, color, tolerance).mean(0)


def check_size(case: Case) -> None:
    """The width follows from the height, by default 256. The kit checks which heights are taken."""
    for height, options in ((1, {"height": 1}), (85, {"height": 85}), (256, {})):
        render = functools.partial(case.env.render, **options)
        picture = jax.eval_shape(render, case.state(), case.env.default_params)
        assert (picture.shape, picture.dtype) == ((height, max(1, round(case.aspect * height)), 3), jnp.uint8)


def check_parts(case: Case) -> None:
    """Every part is visible in a small picture."""
    picture = case.render()
    for color in case.colors:
        assert near(picture, color, tolerance=50).sum() >= 4, color


def check_changes(case: Case) -> None:
    """The picture changes with each field that it shows, and with each param that shapes it."""
    picture = case.render()
    for name, value in case.shown.items():
        assert (case.render(**{name: value}) != picture).any(-1).sum() >= 4, name
    for name, value in case.shaping.items():
        assert (case.render({name: value}) != picture).any(-1).sum() >= 4, name


CHECKS = [check_parts, check_changes, pytest.param(check_size, marks=pytest.mark.slow)]
"""That pictures are the same under `vmap` the kit checks, and in x64 mode core's tests."""
