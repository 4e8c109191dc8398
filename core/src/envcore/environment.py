"""The contract between environments and everything that uses them.

An author writes the rules of an environment: `default_params`, `init_state`, `transition`, `observe`, its spaces by
`make_action_space` and `make_observation_space`, and optionally `draw`, `draw_start`, `mask_actions`,
`make_state_space`, `check_params`, `paint` and `carry_over`. `Environment` owns the rest, each thing in one place:
time, the time limit, auto-reset, dtypes and the keys of `info`. `envcore.engine` implements it.

Chance stands apart from the rules. `draw` takes all that it decides in a step, and `transition` is a function of state,
action and draws; `draw_start` and `init_state` are the same for the start of an episode. All four are public, so that
tests, planners and experiments can choose the draws.

Wrappers and the base class speak through five pure functions, none of which resets by itself:

    start(key, params) -> state                          a new episode
    draw(key, params) -> draws                           all that chance decides in a step
    advance(state, action, draws, params) -> outcome     the step, a deterministic function
    restart(key, done, state, params) -> state           a new episode where the old one is done
    observe(state, params) -> obs                        what the agent sees

`reset` is `start` and `observe`; `step` is `draw`, `advance`, `restart` and `observe`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import jax
from flax import struct

from envcore import random, spaces
from envcore.devices import AxisName
from envcore.engine import arguments, episode, stepping
from envcore.engine.episode import NO_TIME_LIMIT as NO_TIME_LIMIT
from envcore.engine.episode import is_time_up as is_time_up
from envcore.engine.episode import next_time as next_time
from envcore.engine.finite import limit as limit
from envcore.engine.types import Info as Info
from envcore.engine.types import Outcome as Outcome
from envcore.errors import NoPictureError
from envcore.typing import Int, IntParam


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

    Attributes:
      max_steps_in_episode: the step that reaches it is truncated; `NO_TIME_LIMIT` for none.
    """

    max_steps_in_episode: IntParam = struct.field(default=NO_TIME_LIMIT, kw_only=True)

    if TYPE_CHECKING:  # flax adds it

        def replace(self, **updates: Any) -> Self: ...


StateT = TypeVar("StateT", bound=EnvState)
ParamsT = TypeVar("ParamsT", bound=EnvParams)


@dataclasses.dataclass(frozen=True)
class Environment(Generic[StateT, ParamsT]):
    """An environment as pure functions, a frozen dataclass whose fields fix shapes and program.

    Subclasses are frozen dataclasses too, with hashable fields: equal environments share one compilation.

    Class attributes for authors:
      differentiable: gradients of `step` with respect to state, action and params are finite and useful.
      expensive_reset: `init_state` costs much more than a step; under `vmap` only finished environments reset.
      time_limit_terminates: the original calls its time limit a termination, not a truncation.
      action_names: what each action of a `Discrete` space does, a word each such as "left", "stay" or "fire", for
        people who watch and play; empty where only the number is known.
      render_fps: steps a second at which a person can follow the pictures.
    """

    differentiable: ClassVar[bool] = False
    expensive_reset: ClassVar[bool] = False
    time_limit_terminates: ClassVar[bool] = False
    action_names: ClassVar[tuple[str, ...]] = ()
    render_fps: ClassVar[float] = 10

    # What an author writes.

    @property
    def default_params(self) -> ParamsT:
        """The original environment's numbers, as Python or numpy scalars and arrays."""
        raise NotImplementedError

    def draw_start(self, key: jax.Array, params: ParamsT) -> Any:
        """All that chance decides about the start of an episode, in one named container. By default the key itself."""
        del params
        return key

    def init_state(self, draws: Any, params: ParamsT, /) -> StateT:
        """The first state of an episode, a deterministic function of what `draw_start` returned."""
        raise NotImplementedError

    def draw(self, key: jax.Array, params: ParamsT) -> Any:
        """All that chance decides in a step, in one named container. By default the step's key itself."""
        del params
        return key

    def transition(self, state: StateT, action: Any, draws: Any, params: ParamsT, /) -> tuple[Any, ...]:
        """The rules, a deterministic function: returns `(state, reward, terminated)`, or a dict of info as a fourth.

        `action` has the action space's shape and dtype, `draws` is what `draw` returned, and `state.time` counts the
        steps before this one.
        """
        raise NotImplementedError

    def observe(self, state: StateT, params: ParamsT) -> Any:
        """The observation, a pure function of the state: any pytree of arrays."""
        raise NotImplementedError

    def mask_actions(self, state: StateT, params: ParamsT) -> Any:
        """Which actions are legal, bool (n,) for a `Discrete(n)`; None, the default, where all of them always are."""
        return None

    def make_action_space(self, params: ParamsT) -> spaces.Space:
        """The space of actions."""
        raise NotImplementedError

    def make_observation_space(self, params: ParamsT) -> spaces.Space:
        """The space of observations."""
        raise NotImplementedError

    def make_state_space(self, params: ParamsT) -> spaces.Dict:
        """The space of states, by field. By default their shapes and dtypes, without bounds but for the time."""
        space = spaces.unbounded_space(arguments.state_struct(self))
        assert isinstance(space, spaces.Dict)  # a state is a dataclass
        times = {
            name: spaces.Box(0, NO_TIME_LIMIT, x.shape, x.dtype) for name, x in space.spaces.items() if name == "time"
        }
        return spaces.Dict({**space.spaces, **times})

    def check_params(self, params: ParamsT) -> None:
        """Raises `InvalidParamsError` where finite values have no meaning: `envcore.require` says how."""

    def carry_over(self, fresh: StateT, final: StateT) -> StateT:
        """Returns `fresh` with what survives an auto-reset copied from `final`. By default nothing survives."""
        del final
        return fresh

    def paint(self, state: StateT, params: ParamsT, height: int) -> jax.Array:
        """The picture that `render` returns: uint8 (height, width, 3). By default there is none."""
        raise NoPictureError(
            f"{self.name} cannot be rendered: its class {type(self).__qualname__} has to implement "
            "paint(state, params, height), which returns uint8 (height, width, 3)."
        )

    # What users call.

    @property
    def name(self) -> str:
        """The environment's name, for tables and messages."""
        return type(self).__name__

    @property
    def unwrapped(self) -> Environment[Any, Any]:
        """The environment without its wrappers."""
        return self

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of a reward: () unless the environment is a batch of environments."""
        return ()

    @property
    def axis_name(self) -> AxisName | None:
        """The mapped axis over devices, each of which has a share of a batch; None on one device: see `Batched`."""
        return None

    def action_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The space of actions, of the default params where none are given."""
        return self.make_action_space(self._given(params))

    def observation_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The space of observations, of the default params where none are given."""
        return self.make_observation_space(self._given(params))

    def state_space(self, params: ParamsT | None = None) -> spaces.Dict:
        """The space of states by field, of the default params where none are given."""
        return self.make_state_space(self._given(params))

    def render(self, state: StateT, params: ParamsT | None = None, *, height: int = 256) -> jax.Array:
        """A picture of the state: uint8 (height, width, 3), a pure function for `jit` and `vmap`.

        Args:
          state: what `reset` or `step` returned.
          params: as for `reset`.
          height: in pixels; the width follows from the environment's own aspect ratio. Static under `jit`.

        Raises:
          NoPictureError: the environment has no picture.
          InvalidArgumentError: the height is not a positive integer, or the state is not one that `reset` returns, as a
            batch of states.
        """
        from envcore.painting import checked_height  # late: making an environment runs no painting code

        params = self._given(params)
        return self.paint(arguments.checked_state(self, state), params, checked_height(height))

    def reset(self, key: jax.Array, params: ParamsT | None = None) -> tuple[Any, StateT]:
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
        self, key: jax.Array, state: StateT, action: Any, params: ParamsT | None = None
    ) -> tuple[Any, StateT, jax.Array, jax.Array, Info]:
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
        return stepping.step(self, *self._checked(key, state, action, params))

    def get_obs(self, state: StateT, params: ParamsT | None = None) -> Any:
        """The observation of a state: what `reset` and `step` return beside it. Store states, observe them later."""
        params = arguments.checked_params(self, params)
        return stepping.observe(self, arguments.checked_state(self, state), params)

    def get_action_mask(self, state: StateT, params: ParamsT | None = None) -> Any:
        """Which actions are legal in a state: what `step` returns as `info["action_mask"]`; None if all always are."""
        params = arguments.checked_params(self, params)
        return stepping.mask_actions(self, arguments.checked_state(self, state), params)

    def step_env(
        self, key: jax.Array, state: StateT, action: Any, params: ParamsT | None = None
    ) -> tuple[Any, StateT, jax.Array, jax.Array, Info]:
        """Takes one step without auto-reset: `(obs, state, reward, terminated, info)`, as `step` but for the reset."""
        return stepping.step_env(self, *self._checked(key, state, action, params))

    # What wrappers override.

    def complete_params(self, params: Any) -> Any:
        """The params that a user gave; a wrapper with params of its own adds its defaults where they are missing."""
        return params

    def start(self, key: jax.Array, params: ParamsT) -> StateT:
        """The first state of an episode, with the types that every state has."""
        return episode.start(self, key, params)

    def advance(self, state: StateT, action: Any, draws: Any, params: ParamsT) -> Outcome:
        """One step without auto-reset or observation: `transition`, and what the base class owns."""
        return episode.advance(self, state, action, draws, params)

    def restart(self, key: jax.Array, done: jax.Array, state: StateT, params: ParamsT) -> StateT:
        """A fresh state where `done`, else `state`."""
        return episode.restart(self, key, done, state, params)

    def _given(self, params: ParamsT | None) -> ParamsT:
        return arguments.checked_params(self, params)

    def _checked(self, key: Any, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        return arguments.checked(self, key, state, action, params)
