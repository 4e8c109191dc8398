"""One environment of a batch, with the keys and actions that it has in the batch."""

from __future__ import annotations

import dataclasses

import jax
from envcore import random, spaces
from envcore.typing import PyTree
from envcore.wrappers import Wrapper
from jax import lax

AXIS = "envs"


@dataclasses.dataclass(frozen=True)
class Lane(Wrapper):
    """The environment number `lax.axis_index(AXIS)` of `Batched(env, n)`, where the mapped axis has the size n.

    It is traced without a batch axis, so that its program is that of one environment.
    """

    def action_space(self, params: PyTree) -> spaces.Space:
        return _LaneSpace(self.env.action_space(params))

    def draw_start(self, key: jax.Array, params: PyTree) -> PyTree:
        return self.env.draw_start(_lane_key(key), params)

    def draw(self, key: jax.Array, params: PyTree) -> PyTree:
        return self.env.draw(_lane_key(key), params)

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return self.env.restart(_lane_key(key), done, state, params)


class _LaneSpace(spaces.Space):
    """A space that samples this lane's value of a whole batch."""

    def __init__(self, space: spaces.Space):
        self._space = space

    @property
    def shape(self) -> PyTree:
        return self._space.shape

    @property
    def dtype(self) -> PyTree:
        return self._space.dtype

    def sample(self, key: jax.Array) -> PyTree:
        return jax.tree.map(lambda x: lax.squeeze(x, (0,)), self._space.batch(1, AXIS).sample(key))

    def mismatch(self, value: PyTree) -> str | None:
        return self._space.mismatch(value)

    def value_problem(self, value: PyTree) -> str | None:
        return self._space.value_problem(value)

    def cast(self, value: PyTree) -> PyTree:
        return self._space.cast(value)

    def _static(self) -> tuple[PyTree, ...]:
        return (self._space,)


def _lane_key(key: jax.Array) -> jax.Array:
    return random.spawn(key, 1, AXIS)[0]
