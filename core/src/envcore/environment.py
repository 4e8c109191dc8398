"""The contract between environments and everything that uses them.

You write an environment as six members: `default_params`, `init_state`, `transition`, `observe`, `action_space` and
`observation_space`. `Environment` owns the rest, each thing in one place: time, the time limit, auto-reset, dtypes and
the keys of `info`. `envcore.engine` implements it. Everything else is optional: `draw_start` and `draw`,
`action_mask`, `state_space`, `check_params` and `render`.

Randomness stands apart from the rules. `draw` returns all random numbers of a step, and `transition` is a function of
state, action and draws. `draw_start` and `init_state` do the same for the start of an episode. All four are public, so
tests, planners and experiments can choose the draws.

Users call the same members: `env.observe(state, params)` and `env.action_space(params)` are plain functions of what
`reset` and `step` return. `reset`, `step` and `step_env` check and cast their arguments, and use the default params if
you give none. They are compositions:

    reset        init_state(draw_start(key)), observe
    step_env     draw, advance, observe
    step         draw, advance, restart, observe

`advance` and `restart` are the protocol for wrappers. `advance` is `transition` with the time, the time limit and the
dtypes. `restart` starts a new episode where one is done.
"""

from __future__ import annotations

import abc
import dataclasses
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, cast

import jax
import numpy as np
from flax import struct
from jax.core import Tracer

from envcore import random, spaces, suggestions
from envcore.engine import arguments, stepping
from envcore.engine.arguments import limit as limit
from envcore.engine.stepping import NO_TIME_LIMIT as NO_TIME_LIMIT
from envcore.engine.stepping import Info as Info
from envcore.engine.stepping import Outcome as Outcome
from envcore.engine.stepping import is_time_up as is_time_up
from envcore.engine.stepping import next_time as next_time
from envcore.errors import InvalidParamsError, NoPictureError
from envcore.typing import Int, IntParam, PyTree


@struct.dataclass
class EnvState:
    """Base of every environment's state: a pytree with fields of fixed shapes and dtypes.

    Attributes:
      time: steps taken in this episode. The base class counts; authors leave it alone.
    """

    time: Int = struct.field(default=0, kw_only=True)

    if TYPE_CHECKING:  # flax adds it

        def replace(self, **updates: Any) -> Self: ...


@struct.dataclass
class EnvParams:
    """Base of every environment's params: the numbers that a user may vmap over or differentiate by.

    A name that the class does not have, of the constructor or of `replace`, raises an `InvalidParamsError`.

    Attributes:
      max_steps_in_episode: the step that reaches it is truncated; `NO_TIME_LIMIT` for none.
    """

    max_steps_in_episode: IntParam = struct.field(default=NO_TIME_LIMIT, kw_only=True)

    def __new__(cls, *_: Any, **fields: Any) -> Self:
        # `replace` ends here too: flax sets one on every class, so the base class cannot define it.
        if unknown := fields.keys() - cls.__dataclass_fields__.keys():
            known = (field.name for field in dataclasses.fields(cls))
            raise InvalidParamsError(suggestions.unknown_param(cls.__name__, min(unknown), known))
        return super().__new__(cls)

    if TYPE_CHECKING:  # flax adds it

        def replace(self, **updates: Any) -> Self: ...


T = typing.TypeVar("T")
if TYPE_CHECKING:  # a plain `Environment` is any: Python has defaults of type variables since 3.13
    from typing_extensions import TypeVar

    StateT = TypeVar("StateT", bound=EnvState, default=Any)
    ParamsT = TypeVar("ParamsT", bound=EnvParams, default=Any)
else:
    StateT, ParamsT = typing.TypeVar("StateT"), typing.TypeVar("ParamsT")


def computed(value: Callable[[Any], T]) -> T:
    """A class attribute that depends on fields of an environment, as in `computed(lambda self: _NAMES[self.rules])`."""
    return cast("Any", property(value))


@dataclasses.dataclass(frozen=True)
class Environment(abc.ABC, Generic[StateT, ParamsT]):
    """An environment as pure functions, a frozen dataclass whose fields fix shapes and program.

    Subclasses are frozen dataclasses too, with hashable fields: equal environments share one compilation. A class
    attribute that depends on the fields is `computed`.

    Class attributes for authors:
      differentiable: gradients of `step` with respect to state, action and params are finite and useful.
      time_limit_terminates: the original calls its time limit a termination, not a truncation.
      action_names: what each action of a `Discrete` space does, a word each such as "left", "stay" or "fire", for
        people who watch and play; empty where only the number is known.
      render_fps: steps a second at which a person can follow the pictures.
    """

    differentiable: ClassVar[bool] = False
    time_limit_terminates: ClassVar[bool] = False
    action_names: ClassVar[tuple[str, ...]] = ()
    render_fps: ClassVar[float] = 10

    # What an author writes.

    @property
    @abc.abstractmethod
    def default_params(self) -> ParamsT:
        """The original environment's numbers, as Python or numpy scalars and arrays."""

    def draw_start(self, key: jax.Array, params: ParamsT) -> PyTree:
        """All random numbers of the start of an episode: an array, or a container of several. By default the key."""
        return key

    @abc.abstractmethod
    def init_state(self, draws: PyTree, params: ParamsT, /) -> StateT:
        """The first state of an episode, a deterministic function of what `draw_start` returned."""

    def draw(self, key: jax.Array, params: ParamsT) -> PyTree:
        """All random numbers of a step: an array, or a container of several. By default the step's key."""
        return key

    @abc.abstractmethod
    def transition(self, state: StateT, action: PyTree, draws: PyTree, params: ParamsT, /) -> tuple[PyTree, ...]:
        """The rules, a deterministic function: returns `(state, reward, terminated)`, or a dict of info as a fourth.

        `action` has the action space's shape and dtype, `draws` is what `draw` returned, and `state.time` counts the
        steps before this one.
        """

    @abc.abstractmethod
    def observe(self, state: StateT, params: ParamsT) -> PyTree:
        """The observation, a pure function of the state: any pytree of arrays."""

    def action_mask(self, state: StateT, params: ParamsT) -> PyTree:
        """Which actions are legal, bool (n,) for a `Discrete(n)`; None, the default, where all of them always are."""
        return None

    @abc.abstractmethod
    def action_space(self, params: ParamsT) -> spaces.Space:
        """The space of actions."""

    @abc.abstractmethod
    def observation_space(self, params: ParamsT) -> spaces.Space:
        """The space of observations."""

    def state_space(self, params: ParamsT) -> spaces.Dict:
        """The space of states, by field. By default their shapes and dtypes, without bounds but for the time."""
        space = spaces.unbounded_space(arguments.state_struct(self))
        assert isinstance(space, spaces.Dict)  # a state is a dataclass
        times = {
            name: spaces.Box(0, NO_TIME_LIMIT, x.shape, x.dtype) for name, x in space.spaces.items() if name == "time"
        }
        return spaces.Dict({**space.spaces, **times})

    def check_params(self, params: ParamsT) -> None:
        """Raises `InvalidParamsError` where finite values have no meaning: `envcore.require` says how."""

    def render(self, state: StateT, params: ParamsT, height: int = 256) -> jax.Array:
        """A picture of the state: uint8 (height, width, 3), a pure function for `jit` and `vmap`.

        Authors paint it with `envcore.painting`. The height is static; the width follows from the picture's own aspect
        ratio.

        Raises:
          NoPictureError: the environment has no picture, which is the default.
          InvalidArgumentError: the height is not a positive integer.
        """
        needed = f"its class {type(self).__qualname__} has to implement render(state, params, height)"
        raise NoPictureError(f"{self.name} cannot be rendered: {needed}.")

    # What users call.

    @property
    def name(self) -> str:
        """The environment's name, for tables and messages."""
        return type(self).__name__

    @property
    def unwrapped(self) -> Environment:
        """The environment without its wrappers."""
        return self

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of a reward: () unless the environment is a batch of environments."""
        return ()

    def may_truncate(self, params: ParamsT) -> bool:
        """Whether a step may be truncated: by default, whether there is a time limit. A traced limit counts.

        If not, every episode that ends has terminated, and a learner needs no `final_obs`. A wrapper whose `advance`
        truncates for other reasons returns True.
        """
        limit = params.max_steps_in_episode
        return isinstance(limit, Tracer) or bool(np.any(np.asarray(limit) < NO_TIME_LIMIT))

    def reset(self, key: jax.Array, params: ParamsT | None = None) -> tuple[PyTree, StateT]:
        """Starts an episode.

        Args:
          key: a typed key (`jax.random.key`) or a legacy one (`jax.random.PRNGKey`).
          params: the numbers of the environment; `default_params` by default. A JAX array's values are not checked.

        Returns:
          The observation and the state.

        Raises:
          InvalidArgumentError: an argument is invalid; also raised while tracing.
          EnvcoreError: this process was forked after JAX had started.
        """
        random.check_key(key)
        return stepping.reset(self, key, arguments.checked_params(self, params))

    def step(
        self, key: jax.Array, state: StateT, action: PyTree, params: ParamsT | None = None
    ) -> tuple[PyTree, StateT, jax.Array, jax.Array, Info]:
        """Takes one step, and starts the next episode where this one is done.

        Args:
          key: a typed or legacy key; the step and the reset after it draw from it independently.
          state: what `reset` or `step` returned.
          action: a value of the action space. Its structure, shape and kind of dtype are always checked. Python and
            numpy numbers are refused if they are no choice of a discrete space, or not finite; finite ones outside a
            `Box`'s bounds are left to the rules. What a JAX array holds, in or outside `jit`, is not looked at, and an
            invalid one has no defined meaning: `envcore.wrappers.CheckActions(env)` finds it, in compiled code too.
          params: as for `reset`.

        Returns:
          obs: the observation; after the end of an episode, the next episode's first.
          state: the state it shows.
          reward: float32 ().
          done: bool (), `terminated | truncated`.
          info: a dict with the same structure on every step: `terminated` and `truncated` (bool, may both be
            true), `discount` (float32, 0 on termination, else 1), `final_obs` (the observation before the reset;
            equal to `obs` unless done), `action_mask` (of `state`) where the environment has one, and its own entries.

        Gradients flow from the returned obs, state and reward back to state, action and params; where the episode
        is done they stop at the reset, because the fresh state does not depend on the old one.

        Raises:
          InvalidArgumentError, EnvcoreError: as for `reset`; for an action it is an `InvalidActionError`.
        """
        return stepping.step(self, *arguments.checked(self, key, state, action, params))

    def step_env(
        self, key: jax.Array, state: StateT, action: PyTree, params: ParamsT | None = None
    ) -> tuple[PyTree, StateT, jax.Array, jax.Array, Info]:
        """Takes one step without auto-reset: `(obs, state, reward, terminated, info)`, as `step` but for the reset."""
        return stepping.step_env(self, *arguments.checked(self, key, state, action, params))

    # What wrappers override.

    def advance(self, state: StateT, action: PyTree, draws: PyTree, params: ParamsT) -> Outcome:
        """One step without auto-reset or observation: `transition`, and what the base class owns."""
        return stepping.advance(self, state, action, draws, params)

    def restart(self, key: jax.Array, done: jax.Array, state: StateT, params: ParamsT) -> StateT:
        """A fresh state where `done`, else `state`. What has to survive an auto-reset is put back after `super()`."""
        return stepping.restart(self, key, done, state, params)

    def _completed(self, params: PyTree) -> PyTree:
        """The params that a user gave, and in wrappers with params of their own, those that are missing."""
        return params
