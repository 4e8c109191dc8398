"""Wrappers that change or check actions: `ClipAction`, `RescaleAction`, `StickyAction` and `CheckActions`."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from envcore import random, spaces, trees
from envcore.environment import Environment, Outcome
from envcore.errors import InvalidActionError
from envcore.typing import PyTree
from envcore.wrappers.base import Wrapper, WrapperState


@dataclasses.dataclass(frozen=True)
class ClipAction(Wrapper):
    """Accepts any real action and clips it to the bounds of the wrapped environment's action space.

    Raises:
      ValueError: the wrapped action space is not a float `Box`.
    """

    def __post_init__(self) -> None:
        _check_float_box(self.env, "ClipAction")

    def action_space(self, params: PyTree) -> spaces.Box:
        inner = self.env.action_space(params)
        return spaces.Box(-np.inf, np.inf, inner.shape).over_devices(inner.axis_name)

    def advance(self, state: PyTree, action: jax.Array, draws: PyTree, params: PyTree) -> Outcome:
        inner: Any = self.env.action_space(params)
        return self.env.advance(state, jnp.clip(action, inner.low, inner.high), draws, params)


@dataclasses.dataclass(frozen=True)
class RescaleAction(Wrapper):
    """Rescales actions linearly from [low, high] to the bounds of the wrapped environment's action space.

    Attributes:
      low: lower bound of every element, finite.
      high: upper bound of every element, finite.

    Raises:
      ValueError: the wrapped action space is not a bounded float `Box`, or low and high are not finite numbers
        with low < high.
    """

    env: Environment
    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        inner = _check_float_box(self.env, "RescaleAction")
        if not (np.isfinite(inner.low).all() and np.isfinite(inner.high).all()):
            raise ValueError(f"RescaleAction needs a bounded action space, got {inner!r}")
        if not -np.inf < np.float32(self.low) < np.float32(self.high) < np.inf:
            raise ValueError(f"RescaleAction needs finite low < high, got low={self.low!r}, high={self.high!r}")

    def action_space(self, params: PyTree) -> spaces.Box:
        inner = self.env.action_space(params)
        return spaces.Box(self.low, self.high, inner.shape).over_devices(inner.axis_name)

    def advance(self, state: PyTree, action: jax.Array, draws: PyTree, params: PyTree) -> Outcome:
        inner: Any = self.env.action_space(params)
        share = (action - self.low) / (self.high - self.low)
        return self.env.advance(state, inner.low * (1 - share) + inner.high * share, draws, params)


@struct.dataclass
class StickyState(WrapperState):
    """State of `StickyAction`.

    Attributes:
      last_action: the last executed action, in the form of the action space.
      has_last_action: whether this episode has one, bool of the batch shape.
    """

    last_action: PyTree
    has_last_action: jax.Array


class StickyDraws(NamedTuple):
    """Draws of a step of `StickyAction`.

    Attributes:
      env_draws: draws of the wrapped environment.
      sticks: whether to repeat the last action, if there is one, bool of the batch shape.
    """

    env_draws: PyTree
    sticks: jax.Array


@dataclasses.dataclass(frozen=True)
class StickyAction(Wrapper):
    """Repeats the last executed action instead of the given one, with some probability (Machado et al. 2018).

    The first action of an episode is always executed.

    Attributes:
      repeat_action_probability: probability at each step, in [0, 1).

    Raises:
      ValueError: the probability is not a number in [0, 1).
    """

    env: Environment
    repeat_action_probability: float = 0.25

    def __post_init__(self) -> None:
        if not 0 <= self.repeat_action_probability < 1:
            raise ValueError(f"repeat_action_probability must be in [0, 1), got {self.repeat_action_probability!r}")

    def init_state(self, draws: PyTree, params: PyTree, /) -> StickyState:
        space = self.env.action_space(params)
        action = jax.eval_shape(lambda: space.sample(jax.random.key(0)))
        nothing = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), action)
        return StickyState(super().init_state(draws, params), nothing, jnp.zeros(self.batch_shape, jnp.bool_))

    def draw(self, key: jax.Array, params: PyTree) -> StickyDraws:
        key_env, key_sticky = random.spawn(key, 2)
        drawn = self.draw_batch(lambda shape: random.uniform(key_sticky, shape))
        return StickyDraws(self.env.draw(key_env, params), drawn < np.float32(self.repeat_action_probability))

    def advance(self, state: StickyState, action: PyTree, draws: StickyDraws, params: PyTree) -> Outcome:
        action = trees.where(draws.sticks & state.has_last_action, state.last_action, action)
        outcome = self.env.advance(state.env_state, action, draws.env_draws, params)
        return outcome._replace(state=StickyState(outcome.state, action, jnp.ones_like(state.has_last_action)))

    def restart(self, key: jax.Array, done: jax.Array, state: StickyState, params: PyTree) -> StickyState:
        env_state = self.env.restart(key, done, state.env_state, params)
        return StickyState(env_state, state.last_action, state.has_last_action & ~done)


@dataclasses.dataclass(frozen=True)
class CheckActions(Wrapper):
    """Checks the values of all actions, and fails if one is NaN or outside the action space. For debugging.

    Without this wrapper, values inside JAX arrays are not checked, because that would block on the device. With it,
    every action is sent to the host (`jax.debug.callback`), even in a compiled program, under `vmap` and in a `scan`.
    At the first invalid action the program fails. JAX turns the `InvalidActionError` into its own error, usually a
    `jax.errors.JaxRuntimeError` with the same message. Programs run asynchronously, so you see the error where you wait
    for a result, for example with `jax.block_until_ready`. It doesn't say which step failed.

    The order of wrappers matters. Around `ClipAction` it checks the actions that you pass, and inside `ClipAction` the
    clipped ones.
    """

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        inside = self.over_batch(self.single(self.env.action_space(params)).contains)(action)
        jax.debug.callback(self._raise_unless, inside, action)
        return self.env.advance(state, action, draws, params)

    def _raise_unless(self, inside: jax.Array, action: PyTree) -> None:
        wrong = np.argwhere(~np.asarray(inside)).tolist()
        if wrong:
            value = jax.tree.map(lambda x: np.asarray(x)[tuple(wrong[0])].tolist(), action)
            where = f" at {wrong[0]} of the batch" if wrong[0] else ""
            raise InvalidActionError(f"an action of {self.name} is outside its action space: got {value}{where}.")


def _check_float_box(env: Environment, wrapper: str) -> spaces.Box:
    space = env.action_space(env.default_params)
    if not isinstance(space, spaces.Box) or space.dtype.kind != "f":
        raise ValueError(f"{wrapper} needs an environment with float Box actions, got {space!r}")
    return space
