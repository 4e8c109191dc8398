"""The contract between environments and everything that uses them.

An author writes the rules of an environment: `default_params`, `init_state`, `transition`, `observe`, the spaces, and
optionally `state_space`, `check_params`, `render` and `carry_over`. `Environment` owns the rest, each thing in one
place: time, the time limit, auto-reset, dtypes and the keys of `info`.

Wrappers and the base class speak through four pure functions, none of which resets by itself:

    start(key, params) -> state                          a new episode
    advance(key, state, action, params) -> outcome       one step of it
    restart(key, done, state, params) -> state           a new episode where the old one is done
    observe(state, params) -> obs                        what the agent sees

`reset` is `start` and `observe`; `step` is `advance`, `restart` and `observe`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

import jax
import jax.numpy as jnp
from flax import struct

from envcore import arguments, random, spaces, stepping, trees
from envcore.auto_reset import reset_where
from envcore.errors import EnvironmentDefinitionError, NoPictureError
from envcore.time_limit import NO_TIME_LIMIT as NO_TIME_LIMIT
from envcore.time_limit import is_reached, next_time

Info = dict[str, Any]


@struct.dataclass
class EnvState:
    """Base of every environment's state: a pytree with fields of fixed shapes and dtypes.

    Attributes:
      time: steps taken in this episode, int32 (), at most 2**31 - 1. The base class counts; authors leave it alone.
    """

    time: Any = struct.field(default=0, kw_only=True)

    if TYPE_CHECKING:  # flax adds it

        def replace(self, **updates: Any) -> Self: ...


@struct.dataclass
class EnvParams:
    """Base of every environment's params: the numbers that a user may vmap over or differentiate by.

    Attributes:
      max_steps_in_episode: the step that reaches it is truncated, int32 (); `NO_TIME_LIMIT` for none.
    """

    max_steps_in_episode: Any = struct.field(default=NO_TIME_LIMIT, kw_only=True)

    if TYPE_CHECKING:  # flax adds it

        def replace(self, **updates: Any) -> Self: ...


class Outcome(NamedTuple):
    """What one step of an episode leads to.

    Attributes:
      state: the state after the step, before any reset.
      reward: float32 ().
      terminated: bool (), the episode has come to an end of its own.
      truncated: bool (), the time limit is reached.
      info: the environment's own entries.
    """

    state: Any
    reward: jax.Array
    terminated: jax.Array
    truncated: jax.Array
    info: Info


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
        people who watch and play; empty where there is no more to say than its number.
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

    def init_state(self, key: jax.Array, params: ParamsT) -> StateT:
        """Draws the first state of an episode."""
        raise NotImplementedError

    def transition(self, key: jax.Array, state: StateT, action: Any, params: ParamsT) -> tuple[Any, ...]:
        """The rules: returns `(state, reward, terminated)`, or with a dict of the original's info as a fourth.

        `action` has the action space's shape and dtype. `state.time` counts the steps before this one.
        """
        raise NotImplementedError

    def observe(self, state: StateT, params: ParamsT) -> Any:
        """The observation, a pure function of the state: any pytree of arrays."""
        raise NotImplementedError

    def action_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The space of actions."""
        raise NotImplementedError

    def observation_space(self, params: ParamsT | None = None) -> spaces.Space:
        """The space of observations."""
        raise NotImplementedError

    def state_space(self, params: ParamsT | None = None) -> spaces.Dict:
        """The space of states, by field. By default their shapes and dtypes without bounds."""
        space = spaces.unbounded_space(arguments.state_struct(self))
        assert isinstance(space, spaces.Dict)  # a state is a dataclass
        return space

    def check_params(self, params: ParamsT) -> None:
        """Raises `InvalidParamsError` where values have no meaning, in terms of `envcore.require`. By default none."""

    def carry_over(self, fresh: StateT, final: StateT) -> StateT:
        """Returns `fresh` with what survives an auto-reset taken from `final`. By default nothing does."""
        del final
        return fresh

    def render(self, state: StateT, params: ParamsT | None = None, *, height: int = 256) -> jax.Array:
        """A picture of the state: uint8 (height, width, 3), a pure function for `jit` and `vmap`.

        Args:
          state: what `reset` or `step` returned.
          params: as for `reset`.
          height: in pixels; the width follows from the environment's own aspect ratio. Static under `jit`.

        Raises:
          NoPictureError: the environment has no picture.
          PictureError: the height is no positive integer, or the state is a batch of states.
        """
        raise NoPictureError(
            f"{self.name} cannot be drawn: its class {type(self).__qualname__} has to implement "
            "render(state, params, *, height=256), which returns uint8 (height, width, 3)."
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

    def reset(self, key: jax.Array, params: ParamsT | None = None) -> tuple[Any, StateT]:
        """Starts an episode.

        Args:
          key: a typed key (`jax.random.key`) or a legacy one (`jax.random.PRNGKey`).
          params: the numbers of the environment; `default_params` by default. A JAX array's values are not checked.

        Returns:
          The observation and the state.

        Raises:
          InvalidKeyError, InvalidParamsError: an argument is not what it should be; also raised while tracing.
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
          action: a value of the action space. Its structure, shape and kind of dtype are always checked. Its value
            is checked for a discrete action that is a Python or numpy number; what a JAX array holds, in or outside
            `jit`, is not looked at, and an action outside the space has no defined meaning. To find one, step
            `envcore.wrappers.CheckActions(env)`, which looks at every value.
          params: as for `reset`.

        Returns:
          obs: the observation; after the end of an episode, the next episode's first.
          state: the state it shows.
          reward: float32 ().
          done: bool (), `terminated | truncated`.
          info: a dict with the same structure on every step: `terminated` and `truncated` (bool, may both be
            true), `discount` (float32, 0 on termination, else 1), `final_obs` (the observation before the reset;
            equal to `obs` unless done), and the environment's own entries.

        Gradients flow from the returned obs, state and reward back to state, action and params; where the episode
        is done they stop at the reset, because the fresh state does not depend on the old one.

        Raises:
          InvalidKeyError, InvalidStateError, InvalidActionError, InvalidParamsError: an argument is not what it
            should be; also raised while tracing.
        """
        return stepping.step(self, *self._checked(key, state, action, params))

    def get_obs(self, state: StateT, params: ParamsT | None = None) -> Any:
        """The observation of a state: what `reset` and `step` return beside it. Store states, observe them later."""
        params = arguments.checked_params(self, params)
        return stepping.observe(self, arguments.checked_state(self, state), params)

    def reset_env(self, key: jax.Array, params: ParamsT | None = None) -> tuple[Any, StateT]:
        """The raw counterpart of `step_env`: the same as `reset`."""
        return self.reset(key, params)

    def step_env(
        self, key: jax.Array, state: StateT, action: Any, params: ParamsT | None = None
    ) -> tuple[Any, StateT, jax.Array, jax.Array, Info]:
        """Takes one step without auto-reset: `(obs, state, reward, terminated, info)`, arguments as for `step`.

        `info` has the same entries as after `step`.
        """
        return stepping.step_env(self, *self._checked(key, state, action, params))

    # What wrappers override.

    def complete_params(self, params: Any) -> Any:
        """The params that a user gave; a wrapper with params of its own adds their defaults where they lack."""
        return params

    def start(self, key: jax.Array, params: ParamsT) -> StateT:
        """The first state of an episode, with the types that every state has."""
        state = self.init_state(key, params)
        arguments.check_pytree(self, state, "init_state")
        return trees.narrow(state)

    def advance(self, key: jax.Array, state: StateT, action: Any, params: ParamsT) -> Outcome:
        """One step without auto-reset or observation. Arguments are checked and cast already."""
        state_after, reward, terminated, info = self._checked_transition(key, state, action, params)
        at_limit = is_reached(state_after.time, params.max_steps_in_episode)
        if self.time_limit_terminates:
            terminated, at_limit = terminated | at_limit, jnp.zeros_like(at_limit)
        return Outcome(state_after, reward, terminated, at_limit, info)

    def restart(self, key: jax.Array, done: jax.Array, state: StateT, params: ParamsT) -> StateT:
        """Returns a fresh state where `done`, else `state`."""

        def fresh(state: StateT, key: jax.Array, params: ParamsT) -> StateT:
            start = self.start(key, params)
            new = self.carry_over(start, state).replace(time=start.time)
            return jax.tree.map(jnp.asarray, self._conform(new, state, "carry_over's state"))

        return reset_where(done, fresh, state, key, params, only_finished=self.expensive_reset)

    def _checked(self, key: Any, state: Any, action: Any, params: Any) -> tuple[Any, ...]:
        random.check_key(key)
        params = arguments.checked_params(self, params)
        return key, arguments.checked_state(self, state), arguments.checked_action(self, action, params), params

    def _checked_transition(self, key: jax.Array, state: StateT, action: Any, params: ParamsT) -> tuple[Any, ...]:
        result = self.transition(key, state, action, params)
        if not isinstance(result, tuple) or len(result) not in (3, 4):
            raise self._definition_error(f"transition must return (state, reward, terminated[, info]), got {result!r}")
        after, reward, terminated, info = result if len(result) == 4 else (*result, {})
        if not isinstance(after, type(state)):
            raise self._definition_error(f"transition must return a {type(state).__name__} first, got {after!r}")
        if not isinstance(info, dict):
            raise self._definition_error(f"transition must return a dict fourth, got {info!r}")
        after = self._conform(after.replace(time=next_time(state.time)), state, "transition's state")
        reward = self._conform(reward, jax.ShapeDtypeStruct((), jnp.float32), "the reward")
        terminated = self._conform(terminated, jax.ShapeDtypeStruct((), jnp.bool_), "terminated")
        return after, jnp.asarray(reward), jnp.asarray(terminated), trees.narrow(info)

    def _conform(self, value: Any, expected: Any, what: str) -> Any:
        return trees.conform(value, expected, what, self._definition_error)

    def _definition_error(self, problem: str) -> EnvironmentDefinitionError:
        return EnvironmentDefinitionError(f"{type(self).__qualname__} breaks the contract: {problem}")
