"""`FromNavix`: use Navix environments in envcore."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable, Hashable
from typing import Any

import jax
from envcore import spaces
from envcore.environment import computed
from envcore.errors import InvalidArgumentError

from envcore_bridges.base.environment import ForeignEnvironment, ForeignState
from envcore_bridges.base.loading import default_numerics, unknown_name
from envcore_bridges.base.pictures import resized

_MINIGRID_ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


def from_navix(source: str | Callable[..., Any], **options: Hashable) -> FromNavix:
    """Makes a Navix environment.

    Args:
      source: a name that Navix has registered, a Navix environment class with a `create` method, or a function that
        makes an environment.
      **options: Navix's constructor options, such as `max_steps=50`. `observation_fn` may also be a name, such as
        "rgb".

    Raises:
      InvalidArgumentError: Navix does not know the name, or an option is not hashable.
    """
    return FromNavix.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromNavix(ForeignEnvironment):
    """A Navix environment. Navix is a JAX port of MiniGrid, in which an agent moves on a grid and uses objects.

    Observation: the result of the option `observation_fn`. The default is `symbolic`, uint8 (height, width, 3), with
    the kind, color and state of each cell of the whole grid. You can also choose `categorical` (int32), `rgb` (uint8),
    or the same for the 7 by 7 cells in front of the agent, such as `symbolic_first_person`. The space has no bounds
    except those of the dtype, because Navix's observations exceed the declared bounds. For example, the agent's kind is
    10, and the declared maximum is 8.

    Actions, `Discrete(7)`: turn left, turn right, go forward, pick up, drop, toggle (open), done. The option
    `action_set` changes them.

    Reward: Navix's reward. By default this is 1 for reaching the goal (in GoToDoor, for facing the right door), else 0.

    Termination: Navix's TERMINATION. Navix's time limit, 100 steps or the option `max_steps`, becomes
    `params.max_steps_in_episode`, which truncates. It also scales the penalty of the option `penality_coeff`.

    State: `state.inner` is Navix's `Timestep`, which contains the observation, so `state.obs` is empty.
    """

    def load(self) -> Any:
        navix, options = _navix(), dict(self.options)
        make: Any = getattr(self.source, "create", self.source)
        if isinstance(self.source, str):
            make = functools.partial(navix.make, self.source)
            if self.source not in navix.registry():
                raise unknown_name("Navix", self.source, navix.registry())
        observe = options.get("observation_fn")
        if isinstance(observe, str):
            options["observation_fn"] = getattr(navix.observations, observe, None)
            if options["observation_fn"] is None:
                raise InvalidArgumentError(f"observation_fn must be one of navix.observations, got {observe!r}.")
        elif observe is not None and make is not self.source:
            # Navix cannot infer the space of a custom function, and raises without one.
            options.setdefault("observation_space", navix.spaces.Discrete.create(1))
        return make(**options)

    @property
    def time_limit(self) -> int:
        return int(self.library_env.max_steps)

    action_names = computed(lambda self: self._action_names())

    def _action_names(self) -> tuple[str, ...]:
        """Returns MiniGrid's action names, or the names of the functions in the option `action_set`."""
        actions = self.library_env.action_set
        if actions == _navix().actions.MINIGRID_ACTION_SET:
            return _MINIGRID_ACTIONS
        return tuple(getattr(action, "__name__", str(i)) for i, action in enumerate(actions))

    expensive_reset = computed(lambda self: self._expensive_reset())

    def _expensive_reset(self) -> bool:
        """Whether the initial state is random. It is fixed in DistShift, and in Empty without "Random"."""
        env, classes = self.library_env, _navix().environments
        return not (type(env) is classes.DistShift or (type(env) is classes.Room and not env.random_start))

    def action_space(self, params: Any) -> spaces.Space:
        return spaces.Discrete(len(self.library_env.action_set))

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.unbounded_space(self.state_types.inner.observation)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return self.library_env.reset(key), ()

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        env = self.library_env.replace(max_steps=params.max_steps_in_episode)
        after = env._step(state, action)  # `step` adds Navix's auto-reset, a step too late
        return after, (), after.reward, after.is_termination()

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.observation

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        with default_numerics():
            return resized(_navix().observations.rgb(state.inner.state), height)


@functools.cache
def _navix() -> Any:
    with default_numerics(), jax.ensure_compile_time_eval(), warnings.catch_warnings():
        # Navix imports TensorFlow Probability, which uses deprecated names of JAX.
        warnings.simplefilter("ignore", DeprecationWarning)
        import navix  # late, so that envcore lists environments without it

    return navix
