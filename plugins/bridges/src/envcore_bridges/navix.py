"""`FromNavix`: Navix's environments in envcore."""

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

from envcore_bridges.base import ForeignEnvironment, ForeignState, default_numerics, resized, unknown_name

_MINIGRID_ACTIONS = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


def from_navix(source: str | Callable[..., Any], **options: Hashable) -> FromNavix:
    """Makes an environment of Navix.

    Args:
      source: a name that Navix has registered, or a class of Navix's kind, or a function that makes an environment. Of
        a class, `create` is called.
      **options: what Navix makes it with, such as `max_steps=50`; `observation_fn` may also be a name, such as "rgb".

    Raises:
      InvalidArgumentError: Navix does not know the name, or an option is not hashable.
    """
    return FromNavix.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromNavix(ForeignEnvironment):
    """An environment of Navix, a port of MiniGrid: an agent turns and walks on a grid, and uses what is in front of it.

    Observation: what Navix's option `observation_fn` returns, by default `symbolic`: uint8 (height, width, 3), the
    whole grid as kind, color and state of what is in each cell. Others are `categorical` (int32), `rgb` (uint8), and
    each of the three as a view of 7 by 7 cells in front of the agent, `symbolic_first_person` and so on. The space has
    no bounds but those of the dtype, because Navix's do not hold: the agent is kind 10, and 8 is declared.

    Actions, `Discrete(7)`: turn left, turn right, go forward, pick up, drop, toggle (open), done; or those of the
    option `action_set`.

    Reward: Navix's, by default 1 for reaching the goal (GoToDoor: for facing the right door), else 0.

    Termination: what Navix calls TERMINATION. Its time limit, which is 100 steps unless the option `max_steps` says
    otherwise, is `params.max_steps_in_episode` and truncates. The penalty of the option `penality_coeff` is scaled by
    the same number.

    State: `state.inner` is Navix's own `Timestep`, which contains the observation; `state.obs` is empty.
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
                raise InvalidArgumentError(f"navix.observations has no function {observe!r}.")
        elif observe is not None and make is not self.source:
            # Navix cannot tell the space of somebody else's function, and raises unless it is given any.
            options.setdefault("observation_space", navix.spaces.Discrete.create(1))
        return make(**options)

    @property
    def time_limit(self) -> int:
        return int(self.library_env.max_steps)

    action_names = computed(lambda self: self._action_names())

    def _action_names(self) -> tuple[str, ...]:
        """MiniGrid's names, or those of the functions in the option `action_set`."""
        actions = self.library_env.action_set
        if actions == _navix().actions.MINIGRID_ACTION_SET:
            return _MINIGRID_ACTIONS
        return tuple(getattr(action, "__name__", str(i)) for i, action in enumerate(actions))

    expensive_reset = computed(lambda self: self._expensive_reset())

    def _expensive_reset(self) -> bool:
        """Whether the start is drawn: DistShift and Empty without "Random" always start alike."""
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
        after = env._step(state, action)  # `step` is this with Navix's own reset, a step too late
        return after, (), after.reward, after.is_termination()

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.observation

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        with default_numerics():
            return resized(_navix().observations.rgb(state.inner.state), height)


@functools.cache
def _navix() -> Any:
    with default_numerics(), jax.ensure_compile_time_eval(), warnings.catch_warnings():
        # It imports TensorFlow Probability, which uses what JAX is about to remove.
        warnings.simplefilter("ignore", DeprecationWarning)
        import navix  # late: envcore lists environments without it

    return navix
