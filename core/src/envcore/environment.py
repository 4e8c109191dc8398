"""`Environment`, the base class of all environments, and the base classes of their states and params.

To write an environment, implement six members: `default_params`, `init_state`, `transition`, `observe`, `action_space`
and `observation_space`. The base class adds time, the time limit, auto-reset, dtypes and the keys of `info`. You can
also override `draw_start`, `draw`, `action_mask`, `state_space`, `check_params` and `render`.

Random numbers are drawn separately from the rules. `draw` returns all random numbers of a step, and `transition` is a
deterministic function of state, action and draws. `draw_start` and `init_state` do the same for the start of an
episode. All four are public, so your tests, planners and experiments can choose the draws.

To use an environment, call `reset` and `step`, or `step_env` for a step without auto-reset. They check and cast their
arguments, and use the default params if you pass none:

    reset        init_state(draw_start(key)), observe
    step_env     draw, advance, observe
    step         draw, advance, restart, observe

You can also call `env.observe(state, params)`, the spaces and every other public member directly.

Wrappers override `advance` and `restart`. `advance` is `transition` plus the time, the time limit and the dtypes.
`restart` starts a new episode where one is done.
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
    """Base class of states: a pytree whose fields have fixed shapes and dtypes.

    Attributes:
      time: number of steps taken in this episode. The base class counts it, so don't set it.
    """

    time: Int = struct.field(default=0, kw_only=True)

    if TYPE_CHECKING:  # added by flax

        def replace(self, **updates: Any) -> Self: ...


@struct.dataclass
class EnvParams:
    """Base class of params: the numbers of an environment that you can vmap over or differentiate with respect to.

    Attributes:
      max_steps_in_episode: time limit in steps. The step that reaches it is truncated. `NO_TIME_LIMIT` for no limit.

    Raises:
      InvalidParamsError: the constructor or `replace` gets a name that the class does not have.
    """

    max_steps_in_episode: IntParam = struct.field(default=NO_TIME_LIMIT, kw_only=True)

    def __new__(cls, *_: Any, **fields: Any) -> Self:
        # `replace` calls this too. It can't be overridden here, because flax sets `replace` on every subclass.
        if unknown := fields.keys() - cls.__dataclass_fields__.keys():
            known = (field.name for field in dataclasses.fields(cls))
            raise InvalidParamsError(suggestions.unknown_param(cls.__name__, min(unknown), known))
        return super().__new__(cls)

    if TYPE_CHECKING:  # added by flax

        def replace(self, **updates: Any) -> Self: ...


T = typing.TypeVar("T")
if TYPE_CHECKING:  # a plain `Environment` means Any, but Python supports defaults of type variables only since 3.13
    from typing_extensions import TypeVar

    StateT = TypeVar("StateT", bound=EnvState, default=Any)
    ParamsT = TypeVar("ParamsT", bound=EnvParams, default=Any)
else:
    StateT, ParamsT = typing.TypeVar("StateT"), typing.TypeVar("ParamsT")


def computed(value: Callable[[Any], T]) -> T:
    """Makes a class attribute depend on an environment's fields: `computed(lambda self: _NAMES[self.rules])`."""
    return cast("Any", property(value))


@dataclasses.dataclass(frozen=True)
class Environment(abc.ABC, Generic[StateT, ParamsT]):
    """Base class of environments: a frozen dataclass whose methods are pure functions.

    Subclasses must be frozen dataclasses too. Their fields are options that change shapes or the compiled program, and
    must be hashable. Equal environments share one compilation. Use `computed` for a class attribute that depends on the
    fields.

    Class attributes for authors:
      differentiable: whether gradients of `step` with respect to state, action and params are finite and useful.
      time_limit_terminates: whether the original implementation ends an episode at the time limit by termination
        instead of truncation.
      action_names: one word for each action of a `Discrete` space, such as "left", "stay" or "fire", shown to people
        who watch or play. Leave it empty if the actions have no names.
      render_fps: frames per second at which a person can follow the pictures.
    """

    differentiable: ClassVar[bool] = False
    time_limit_terminates: ClassVar[bool] = False
    action_names: ClassVar[tuple[str, ...]] = ()
    render_fps: ClassVar[float] = 10

    # Members that authors implement.

    @property
    @abc.abstractmethod
    def default_params(self) -> ParamsT:
        """The params of the original environment, as Python or numpy scalars and arrays."""

    def draw_start(self, key: jax.Array, params: ParamsT) -> PyTree:
        """Draws all random numbers of the start of an episode: an array or a container. Returns the key by default."""
        return key

    @abc.abstractmethod
    def init_state(self, draws: PyTree, params: ParamsT, /) -> StateT:
        """Returns the first state of an episode, a deterministic function of what `draw_start` returned."""

    def draw(self, key: jax.Array, params: ParamsT) -> PyTree:
        """Draws all random numbers of a step: an array or a container of arrays. Returns the key by default."""
        return key

    @abc.abstractmethod
    def transition(self, state: StateT, action: PyTree, draws: PyTree, params: ParamsT, /) -> tuple[PyTree, ...]:
        """Applies the rules for one step, deterministically.

        Args:
          state: the state before the step. `state.time` counts the steps before this one.
          action: an action with the action space's shape and dtype.
          draws: what `draw` returned.
          params: the params.

        Returns:
          `(state, reward, terminated)`, optionally followed by a dict of entries for `info`.
        """

    @abc.abstractmethod
    def observe(self, state: StateT, params: ParamsT) -> PyTree:
        """Returns the observation, any pytree of arrays. It must be a pure function of the state."""

    def action_mask(self, state: StateT, params: ParamsT) -> PyTree:
        """Returns which actions are legal: bool (n,) for `Discrete(n)`. None, the default, means all of them."""
        return None

    @abc.abstractmethod
    def action_space(self, params: ParamsT) -> spaces.Space:
        """Returns the action space."""

    @abc.abstractmethod
    def observation_space(self, params: ParamsT) -> spaces.Space:
        """Returns the observation space."""

    def state_space(self, params: ParamsT) -> spaces.Dict:
        """Returns the space of states, by field. By default only the time is bounded."""
        space = spaces.unbounded_space(arguments.state_struct(self))
        assert isinstance(space, spaces.Dict)  # a state is a dataclass
        times = {
            name: spaces.Box(0, NO_TIME_LIMIT, x.shape, x.dtype) for name, x in space.spaces.items() if name == "time"
        }
        return spaces.Dict({**space.spaces, **times})

    def check_params(self, params: ParamsT) -> None:
        """Raises `InvalidParamsError` for finite values that make no sense. `envcore.require` has helpers for this."""

    def render(self, state: StateT, params: ParamsT, height: int = 256) -> jax.Array:
        """Draws the state as an image: uint8 (height, width, 3). Works under `jit` and `vmap`.

        Authors implement it with `envcore.painting`. The height is static. The width follows from the aspect ratio of
        the picture.

        Raises:
          NoPictureError: the environment does not implement `render`. This is the default.
          InvalidArgumentError: the height is not a positive integer.
        """
        needed = f"its class {type(self).__qualname__} has to implement render(state, params, height)"
        raise NoPictureError(f"{self.name} cannot be rendered: {needed}.")

    # Members that users call.

    @property
    def name(self) -> str:
        """The environment's name in tables and messages."""
        return type(self).__name__

    @property
    def unwrapped(self) -> Environment:
        """The environment without its wrappers."""
        return self

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of a reward: () for a single environment, or the shape of the batch."""
        return ()

    def may_truncate(self, params: ParamsT) -> bool:
        """Returns whether steps can be truncated. By default, True if there is a time limit or it is traced.

        If not, every episode ends by termination, and a learner doesn't need `final_obs`. Wrappers whose `advance`
        truncates for other reasons must return True.
        """
        limit = params.max_steps_in_episode
        return isinstance(limit, Tracer) or bool(np.any(np.asarray(limit) < NO_TIME_LIMIT))

    def reset(self, key: jax.Array, params: ParamsT | None = None) -> tuple[PyTree, StateT]:
        """Starts an episode.

        Args:
          key: a typed key (`jax.random.key`) or a legacy key (`jax.random.PRNGKey`).
          params: the environment's params, by default `default_params`. Values inside JAX arrays are not checked.

        Returns:
          The observation and the state.

        Raises:
          InvalidArgumentError: an argument is invalid. This is also raised while tracing.
          EnvcoreError: this process was forked after JAX had started.
        """
        random.check_key(key)
        return stepping.reset(self, key, arguments.checked_params(self, params))

    def step(
        self, key: jax.Array, state: StateT, action: PyTree, params: ParamsT | None = None
    ) -> tuple[PyTree, StateT, jax.Array, jax.Array, Info]:
        """Takes one step. If the episode ends, the next one starts automatically.

        Args:
          key: a typed or legacy key. The step and the auto-reset use independent random numbers derived from it.
          state: the state from `reset` or `step`.
          action: an element of the action space. Its structure, shape and kind of dtype are always checked. Python and
            numpy numbers are also checked to be finite, and to be in the space if it is discrete. Finite numbers
            outside the bounds of a `Box` are left to the rules. Values inside JAX arrays are not checked, and invalid
            ones give undefined results: use `envcore.wrappers.CheckActions(env)` to find them, even in compiled code.
          params: as for `reset`.

        Returns:
          obs: the observation. After the end of an episode, it is the first observation of the next episode.
          state: the state that belongs to `obs`.
          reward: float32 ().
          done: bool (), `terminated | truncated`.
          info: a dict with the same structure on every step: `terminated` and `truncated` (bool, both can be true),
            `discount` (float32, 0 on termination, else 1), `final_obs` (the observation before the auto-reset, equal
            to `obs` unless done), `action_mask` of `state` if the environment has one, and entries of the environment.

        Gradients flow from the returned obs, state and reward back to state, action and params. They stop at an
        auto-reset, because the fresh state does not depend on the old one.

        Raises:
          InvalidActionError: the action is invalid.
          InvalidArgumentError, EnvcoreError: as for `reset`.
        """
        return stepping.step(self, *arguments.checked(self, key, state, action, params))

    def step_env(
        self, key: jax.Array, state: StateT, action: PyTree, params: ParamsT | None = None
    ) -> tuple[PyTree, StateT, jax.Array, jax.Array, Info]:
        """Takes one step without auto-reset and returns `(obs, state, reward, terminated, info)`. See `step`."""
        return stepping.step_env(self, *arguments.checked(self, key, state, action, params))

    # Members that wrappers override.

    def advance(self, state: StateT, action: PyTree, draws: PyTree, params: ParamsT) -> Outcome:
        """Takes one step without auto-reset or observation: `transition` plus time, time limit and dtypes."""
        return stepping.advance(self, state, action, draws, params)

    def restart(self, key: jax.Array, done: jax.Array, state: StateT, params: ParamsT) -> StateT:
        """Returns a fresh state where `done`, else `state`. Wrappers restore here what survives an auto-reset."""
        return stepping.restart(self, key, done, state, params)

    def _completed(self, params: PyTree) -> PyTree:
        """Returns the params that a user passed. Wrappers with params of their own fill in the missing ones."""
        return params
