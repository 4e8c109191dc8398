"""`RandomizeParams`: randomizes params for each episode, or once for each environment of a batch."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from envcore import random, suggestions, trees
from envcore.engine import arguments
from envcore.environment import Outcome
from envcore.errors import InvalidParamsError
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper, WrapperState

_MOST_INTEGERS = 2**23  # in a range, the number of different float32 values that `units` draws from [0, 1)


@dataclasses.dataclass(frozen=True)
class UniformParams:
    """Draws some params uniformly. Each element of an array is drawn independently.

    Attributes:
      ranges: name, lowest and highest value of each param. Integer params can take both ends.
    """

    ranges: tuple[tuple[str, float, float], ...]

    def __call__(self, key: jax.Array, params: PyTree) -> PyTree:
        """Returns the params with new values drawn by `key`."""
        values = [getattr(params, name) for name, _, _ in self.ranges]
        units = random.units(key, *map(jnp.shape, values))  # one block is cheapest
        rows = zip(self.ranges, units, values, strict=True)
        return params.replace(**{name: _scaled(unit, value, low, high) for (name, low, high), unit, value in rows})


class RandomizedStart(NamedTuple):
    """Draws of the start of an episode: its params, and the draws of the wrapped environment."""

    params: PyTree
    start: PyTree


@struct.dataclass
class RandomizedState(WrapperState):
    """State of `RandomizeParams`.

    Attributes:
      episode_params: the params of the running episode.
    """

    episode_params: PyTree


@dataclasses.dataclass(frozen=True)
class RandomizeParams(Wrapper):
    """Randomizes params at the start of each episode (domain randomization).

        RandomizeParams(env, {"length": (0.3, 0.8), "masspole": (0.05, 0.2)})
        RandomizeParams(env, lambda key, params: params.replace(length=jax.random.uniform(key, minval=0.3, maxval=0.8)))

    Inside `Batched`, each environment of the batch draws its own params. `state.episode_params` contains the params of
    the running episode. Rules, observations, masks and pictures use them. Spaces use the params that you pass to
    `reset` and `step`, so these should cover all drawn values. For example, pass the longest time limit if you draw it.
    The draws of a step are its key.

    Attributes:
      env: the environment.
      draw_params: a pure function `(key, params) -> params` that works under `jit` and `vmap`, where params are those
        passed to `reset` or `step`. Or a dict from names to the lowest and highest value of each param, which becomes a
        `UniformParams`. The values that a function draws are not checked.
      each_episode: if False, only `reset` draws params, and auto-resets keep them.

    Raises:
      InvalidParamsError: a range is malformed or has invalid ends, or the environment has no such param. Or, while
        tracing, the function returns params of other types.
      ValueError: the environment is a batch, which has only one set of params. Put `Batched` around this wrapper.
    """

    draw_params: Callable[[jax.Array, PyTree], PyTree] | Mapping[str, tuple[float, float]]
    each_episode: bool = True

    def __post_init__(self) -> None:
        if self.batch_shape:
            raise ValueError("RandomizeParams goes inside Batched: Batched(RandomizeParams(env, ...), num_envs)")
        if isinstance(self.draw_params, Mapping):
            ranges = _checked_ranges(self.env, self.draw_params)
            object.__setattr__(self, "draw_params", UniformParams(ranges))
        self.check_params(arguments.default_params(self.env))

    def __repr__(self) -> str:  # the default one of a function contains its address
        draw = getattr(self.draw_params, "__qualname__", self.draw_params)
        return f"RandomizeParams(env={self.env!r}, draw_params={draw}, each_episode={self.each_episode})"

    def check_params(self, params: PyTree) -> None:
        """Checks the params, and both ends of all ranges."""
        super().check_params(params)
        ranges = self.draw_params.ranges if isinstance(self.draw_params, UniformParams) else ()
        for end in (1, 2) if ranges else ():
            ends = {row[0]: np.full(np.shape(getattr(params, row[0])), row[end]) for row in ranges}
            arguments.checked_params(self.env, params.replace(**ends))

    def may_truncate(self, params: PyTree) -> bool:
        return True  # the time limit may be drawn

    def draw_start(self, key: jax.Array, params: PyTree) -> RandomizedStart:
        params = self._drawn(key, params)
        return RandomizedStart(params, self.env.draw_start(random.reset_key(key), params))

    def init_state(self, draws: RandomizedStart, params: PyTree, /) -> RandomizedState:
        return RandomizedState(arguments.init_state(self.env, draws.start, draws.params), draws.params)

    def draw(self, key: jax.Array, params: PyTree) -> jax.Array:
        return key  # the draws depend on the episode's params, which only `advance` knows

    def advance(self, state: RandomizedState, action: PyTree, draws: jax.Array, params: PyTree) -> Outcome:
        params = state.episode_params
        outcome = self.env.advance(state.env_state, action, self.env.draw(draws, params), params)
        return outcome._replace(state=RandomizedState(outcome.state, params))

    def restart(self, key: jax.Array, done: jax.Array, state: RandomizedState, params: PyTree) -> RandomizedState:
        of_episode = state.episode_params
        if self.each_episode:
            of_episode = trees.where(done, self._drawn(key, params), of_episode)
        return RandomizedState(self.env.restart(random.reset_key(key), done, state.env_state, of_episode), of_episode)

    def observe(self, state: RandomizedState, params: PyTree) -> PyTree:
        return self.env.observe(state.env_state, state.episode_params)

    def action_mask(self, state: RandomizedState, params: PyTree) -> PyTree:
        return self.env.action_mask(state.env_state, state.episode_params)

    def render(self, state: RandomizedState, params: PyTree, height: int = 256) -> jax.Array:
        return self.env.render(state.env_state, state.episode_params, height)

    def _drawn(self, key: jax.Array, params: PyTree) -> PyTree:
        draw: Any = self.draw_params
        what = f"what draw_params returns for {self.name}"
        drawn = trees.conform(draw(key, params), arguments.default_params(self.env), what, InvalidParamsError)
        return jax.tree.map(jnp.asarray, drawn)


def _scaled(unit: jax.Array, value: Any, low: float, high: float) -> jax.Array:
    """Scales float32 numbers from [0, 1) to [low, high], in the kind of dtype of `value`."""
    if trees.kind(jnp.result_type(value)) == "float":
        return jnp.minimum(np.float32(low) + unit * np.float32(high - low), np.float32(high))
    return np.int32(low) + (unit * np.float32(high - low + 1)).astype(jnp.int32)


def _checked_ranges(env: Any, ranges: Mapping[str, Any]) -> tuple[tuple[str, float, float], ...]:
    params = arguments.default_params(env)
    known = arguments.param_names(params)
    for name, ends in ranges.items():
        if name not in known:
            raise InvalidParamsError(suggestions.unknown_param(env.name, name, known))
        kind = trees.kind(jnp.result_type(getattr(params, name)))
        if not _is_range(ends, kind):
            numbers = f"integers less than {_MOST_INTEGERS:,} apart" if kind == "integer" else "finite numbers"
            raise InvalidParamsError(f"the range of {name!r} must be two {numbers}, the lower one first, got {ends!r}.")
    return tuple((name, *ends) for name, ends in ranges.items())


def _is_range(ends: Any, kind: str) -> bool:
    numbers = {"integer": (int, np.integer), "float": (int, float, np.integer, np.floating)}.get(kind, ())
    if not isinstance(ends, tuple | list) or len(ends) != 2 or not all(isinstance(end, numbers) for end in ends):
        return False
    return ends[0] <= ends[1] and ends[1] - ends[0] < (_MOST_INTEGERS if kind == "integer" else math.inf)
