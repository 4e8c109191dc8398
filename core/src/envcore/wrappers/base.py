"""`Wrapper` and `ParamsWrapper`, the base classes of wrappers.

A `Wrapper` forwards everything to the environment that it wraps, and subclasses override what they change. If your
wrapper keeps state, make it a `WrapperState`. If it has params to vmap over or differentiate with respect to, derive
from `ParamsWrapper`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Self

import jax
from flax import struct

from envcore import spaces
from envcore.devices import axis_size, share_of
from envcore.engine import arguments
from envcore.environment import Environment, Outcome, computed
from envcore.typing import PyTree


@struct.dataclass
class WrapperState:
    """State of a wrapper that keeps state.

    You can read the fields of the wrapped state directly, as in `state.time`, `state.theta`, or
    `state.observation_statistics` wherever `NormalizeObservation` is in the stack.

    Attributes:
      env_state: state of the wrapped environment.
    """

    env_state: PyTree

    def __getattr__(self, name: str) -> PyTree:
        if name == "env_state" or name.startswith("__"):  # not set yet, while a copy is being made
            raise AttributeError(name)
        return getattr(self.env_state, name)


@dataclasses.dataclass(frozen=True)
class NestedParams:
    """Params that contain other params. You can read and replace the inner ones as if they were fields of these.

        params.length, params.replace(length=1.0)

    Subclasses must be frozen dataclasses, registered with `jax.tree_util.register_dataclass`.

    Attributes:
      env_params: the inner params.
    """

    env_params: PyTree

    def __getattr__(self, name: str) -> Any:
        if name == "env_params" or name.startswith("__"):  # not set yet, while a copy is being made
            raise AttributeError(name)
        return getattr(self.env_params, name)

    def replace(self, **updates: Any) -> Self:
        """Returns a copy with some params replaced."""
        own = {field.name for field in dataclasses.fields(self)}
        inner = {name: updates.pop(name) for name in set(updates) - own}
        if inner:
            updates["env_params"] = updates.get("env_params", self.env_params).replace(**inner)
        return dataclasses.replace(self, **updates)


@dataclasses.dataclass(frozen=True)
class WrapperParams(NestedParams):
    """Params of a wrapper that adds some to the params of the wrapped environment, `env_params`."""


@dataclasses.dataclass(frozen=True)
class Wrapper(Environment):
    """Base class of wrappers.

    Override what your wrapper changes of `draw_start`, `init_state`, `draw`, `advance`, `restart`, `observe` and the
    spaces. Change rules in `advance`, and keep values over auto-resets in `restart`. `transition` follows from
    `advance`. Random numbers are drawn separately from the rules here too. The exception is `RandomizeParams`, whose
    draws are the key, because what a step draws can depend on the episode's params, which only `advance` knows.

    In `init_state`, call `self.env.observe(env_state, self.inner_params(params))` for the observation, because
    `super().observe` needs the wrapper's own state. If `advance` can truncate for reasons other than the time limit,
    override `may_truncate` to return True.

    Attributes:
      env: the wrapped environment.

    Raises:
      TypeError: env is not an `Environment`.
    """

    env: Environment

    def __new__(cls, *args: PyTree, **kwargs: Any) -> Self:
        # Checked here, before any subclass's __post_init__ uses env. Copying and unpickling pass no arguments.
        env = args[0] if args else kwargs.get("env")
        if (args or "env" in kwargs) and not isinstance(env, Environment):
            advice = ": make returns a pair, env, params = envcore.make(...)" if isinstance(env, tuple) else ""
            raise TypeError(f"{cls.__name__} wraps an Environment, got {env!r}{advice}")
        return super().__new__(cls)

    differentiable = computed(lambda self: self.env.differentiable)
    action_names = computed(lambda self: self.env.action_names)
    render_fps = computed(lambda self: self.env.render_fps)
    axis_name = computed(lambda self: getattr(self.env, "axis_name", None))
    """The mapped device axis of a wrapped `Batched` that is one device's share. None on a single device."""

    @property
    def default_params(self) -> PyTree:
        return self.env.default_params

    @property
    def name(self) -> str:
        return self.env.name

    @property
    def unwrapped(self) -> Environment:
        return self.env.unwrapped

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return self.env.batch_shape

    def check_params(self, params: PyTree) -> None:
        self.env.check_params(self.inner_params(params))

    def may_truncate(self, params: PyTree) -> bool:
        return self.env.may_truncate(self.inner_params(params))

    def action_space(self, params: PyTree) -> spaces.Space:
        return self.env.action_space(self.inner_params(params))

    def observation_space(self, params: PyTree) -> spaces.Space:
        return self.env.observation_space(self.inner_params(params))

    def state_space(self, params: PyTree) -> spaces.Dict:
        """Returns the wrapped environment's state space, plus the wrapper's own fields, without bounds."""
        space = self.env.state_space(self.inner_params(params))
        state, inside = arguments.state_struct(self), arguments.state_struct(self.env)
        if state == inside:
            return space
        if not isinstance(state, WrapperState) or state.env_state != inside:
            return super().state_space(params)
        own = [field.name for field in dataclasses.fields(state) if field.name != "env_state"]
        return spaces.Dict({"env_state": space} | {name: spaces.unbounded_space(getattr(state, name)) for name in own})

    def _completed(self, params: PyTree) -> PyTree:
        return self.env._completed(params)

    def draw_start(self, key: jax.Array, params: PyTree) -> PyTree:
        return self.env.draw_start(key, self.inner_params(params))

    def init_state(self, draws: PyTree, params: PyTree, /) -> PyTree:
        return arguments.init_state(self.env, draws, self.inner_params(params))

    def transition(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree, /) -> tuple[PyTree, ...]:
        """Returns what `advance` returns except `truncated`. The state's time has already advanced."""
        outcome = self.advance(state, action, draws, params)
        return outcome.state, outcome.reward, outcome.terminated, outcome.info

    def draw(self, key: jax.Array, params: PyTree) -> PyTree:
        return self.env.draw(key, self.inner_params(params))

    def advance(self, state: PyTree, action: PyTree, draws: PyTree, params: PyTree) -> Outcome:
        return self.env.advance(state, action, draws, self.inner_params(params))

    def restart(self, key: jax.Array, done: jax.Array, state: PyTree, params: PyTree) -> PyTree:
        return self.env.restart(key, done, state, self.inner_params(params))

    def observe(self, state: PyTree, params: PyTree) -> PyTree:
        return self.env.observe(self.inner_state(state), self.inner_params(params))

    def action_mask(self, state: PyTree, params: PyTree) -> PyTree:
        return self.env.action_mask(self.inner_state(state), self.inner_params(params))

    def render(self, state: PyTree, params: PyTree, height: int = 256) -> jax.Array:
        return self.env.render(self.inner_state(state), self.inner_params(params), height)

    def inner_params(self, params: PyTree) -> PyTree:
        """Returns the wrapped environment's params."""
        return params

    def inner_state(self, state: PyTree) -> PyTree:
        """Returns the wrapped environment's state."""
        is_own = isinstance(state, WrapperState) and arguments.state_struct(self) != arguments.state_struct(self.env)
        return state.env_state if is_own else state

    def over_batch(self, fun: Callable[..., PyTree]) -> Callable[..., PyTree]:
        """Maps a function for one environment over the wrapped batch, if there is one."""
        for _ in self.batch_shape:
            fun = jax.vmap(fun)
        return fun

    def single(self, space: spaces.Space) -> spaces.Space:
        """Returns the space of one environment, given the space of the wrapped batch. The inverse of `batch_space`."""
        for _ in self.batch_shape:
            space = space.unbatch()
        return space

    def draw_batch(self, draw: Callable[[tuple[int, ...]], jax.Array]) -> jax.Array:
        """Returns `draw(shape)` for the batch shape. On one of several devices, its rows of the whole batch's draw."""
        shape, axis_name = self.batch_shape, self.axis_name
        if axis_name is None:
            return draw(shape)
        return share_of(draw((shape[0] * axis_size(axis_name), *shape[1:])), shape[0], axis_name)

    def batch_space(self, space: spaces.Space) -> spaces.Space:
        """Returns the space of a value for every environment of the wrapped batch."""
        for size in reversed(self.batch_shape):
            space = space.batch(size)
        return space


@dataclasses.dataclass(frozen=True)
class ParamsWrapper(Wrapper):
    """Base class of wrappers with params of their own, `WrapperParams`.

    Subclasses implement `default_params`. If you pass the params of the wrapped environment alone, such as those from
    `make`, the wrapper adds the defaults of its own params.
    """

    def _completed(self, params: PyTree) -> PyTree:
        default = arguments.default_params(self)
        if jax.tree.structure(params) == jax.tree.structure(default):
            return params
        inner = super()._completed(params)
        if inner is None or jax.tree.structure(inner) != jax.tree.structure(default.env_params):
            return params
        return default.replace(env_params=inner)

    def inner_params(self, params: PyTree) -> PyTree:
        return params.env_params if isinstance(params, WrapperParams) else params
