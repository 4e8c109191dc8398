"""`FromXMiniGrid`: use XLand-MiniGrid environments in envcore."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import numpy as np
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT, computed
from envcore.errors import InvalidArgumentError

from envcore_bridges.base.environment import ForeignEnvironment, ForeignParams, ForeignState
from envcore_bridges.base.loading import layers, unknown_name
from envcore_bridges.base.pictures import paint_on_host

_RULESET = ("goal", "rules", "init_tiles")
_LARGEST = (12, 11)  # kind and color of a cell


def from_xminigrid(source: str | Callable[..., Any], *, ruleset: Any = None, **options: Hashable) -> FromXMiniGrid:
    """Makes an XLand-MiniGrid environment.

    Args:
      source: a name registered in XLand-MiniGrid, one of its environment classes, or a function without arguments that
        makes an environment.
      ruleset: the goal and rules of XLand's environments. Pass a `RuleSet`, or a tuple of its goal, rules and initial
        tiles as tuples of numbers. It becomes `params.ruleset`, which you can replace by others of the same shapes.
      **options: fields of XLand-MiniGrid's params, such as `view_size=5` or `max_steps=50`, and `wrappers`, a tuple of
        XLand-MiniGrid's observation wrappers or their names.

    Raises:
      InvalidArgumentError: the name or a wrapper is unknown, a wrapper resets by itself, or an option is not hashable.
    """
    if ruleset is not None:
        options["ruleset"] = _as_tuples(ruleset)
    return FromXMiniGrid.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromXMiniGrid(ForeignEnvironment):
    """An XLand-MiniGrid environment, in which an agent moves on a grid, carries objects and opens doors.

    Observation: uint8 (view_size, view_size, 2), the kind (0 to 12) and color (0 to 11) of the cells in front of the
    agent, who is in the middle of the last row and faces up. The agent sees through walls. Cells outside the grid are
    0. The option `wrappers` changes observations.

    Actions, `Discrete(6)`: go forward, turn right, turn left, pick up, put down, toggle (open or close).

    Reward: `1 - 0.9 * time / max_steps_in_episode` for reaching the goal, else 0.

    Termination: when the agent reaches the goal, or in Memory also the wrong object. XLand-MiniGrid's time limit
    becomes `params.max_steps_in_episode`, which truncates. It also replaces the time limit in the reward.

    Params: `params.env_params` are XLand-MiniGrid's params. In XLand's environments, `params.ruleset` may vary between
    the environments of a batch. All other fields are static, so set them by options. As in XLand-MiniGrid, XLand's
    environments have no goal without a ruleset.

    State: `state.inner` is XLand-MiniGrid's `TimeStep`, which contains the observation, so `state.obs` is empty.
    """

    refused_wrappers: ClassVar[tuple[str, ...]] = ("DmEnvAutoResetWrapper", "GymAutoResetWrapper")

    def load(self) -> Any:
        """Returns XLand-MiniGrid's environment and params, as its `make` does."""
        from xminigrid import registration, types  # late, so that envcore lists environments without it

        options: dict[str, Any] = dict(self.options)
        wrappers = options.pop("wrappers", ())
        if "ruleset" in options:
            parts: list[Any] = [np.asarray(part, np.uint8) for part in options["ruleset"]]
            options["ruleset"] = types.RuleSet(**dict(zip(_RULESET, parts, strict=True)))
        if not isinstance(self.source, str):
            env = self.source()
            params = env.default_params(**options)
        elif self.source in registration.registered_environments():
            env, params = registration.make(self.source, **options)
        else:
            raise unknown_name("XLand-MiniGrid", self.source, registration.registered_environments())
        for wrapper in (wrappers,) if isinstance(wrappers, str) else wrappers:
            env = _wrapper(wrapper)(env)
        return env, jax.tree.map(np.asarray, params)

    action_names = ("forward", "right", "left", "pick up", "put down", "toggle")

    expensive_reset = computed(lambda self: self._expensive_reset())

    def _expensive_reset(self) -> bool:
        """Whether the initial state is random. It is fixed in Empty without "Random"."""
        from xminigrid.envs import Empty

        *_, env = layers(self.library_env)
        return type(env) is not Empty

    @property
    def time_limit(self) -> int:
        limit = self.library_env[1].max_steps
        return NO_TIME_LIMIT if limit is None else limit

    @property
    def default_params(self) -> ForeignParams:
        return ForeignParams(env_params=self.library_env[1], max_steps_in_episode=self.time_limit)

    def action_space(self, params: Any) -> spaces.Space:
        env, library_params = self.library_env
        return spaces.Discrete(env.num_actions(library_params))

    def observation_space(self, params: Any) -> spaces.Space:
        return _observation_space(self)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return self.library_env[0].reset(params.env_params, key), ()

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        limited = params.env_params.replace(max_steps=params.max_steps_in_episode)
        after = self.library_env[0].step(limited, state, action)
        return after, (), after.reward, after.last() & (after.discount == 0)

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.observation

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        def draw(shown: Any, shape: tuple[int, int]) -> Any:
            from xminigrid.rendering.rgb_render import render

            grid, agent = shown
            return render(grid, agent, self.library_env[1].view_size)

        rows, columns, _ = state.inner.state.grid.shape
        return paint_on_host(draw, (state.inner.state.grid, state.inner.state.agent), height, columns / rows)


def _as_tuples(ruleset: Any) -> tuple[Any, ...]:
    def as_tuple(part: Any) -> Any:
        part = np.asarray(part).tolist()
        return tuple(tuple(x) if isinstance(x, list) else x for x in part)

    parts = ruleset if isinstance(ruleset, tuple) else [getattr(ruleset, name, None) for name in _RULESET]
    if len(parts) != len(_RULESET) or any(part is None for part in parts):
        raise InvalidArgumentError(f"the option 'ruleset' must be a RuleSet or its three parts, got {ruleset!r}.")
    return tuple(map(as_tuple, parts))


def _wrapper(wrapper: Any) -> Callable[[Any], Any]:
    from xminigrid import wrappers

    found = getattr(wrappers, wrapper, None) if isinstance(wrapper, str) else wrapper
    if not callable(found):
        raise InvalidArgumentError(f"wrappers must be names or classes of xminigrid.wrappers, got {wrapper!r}.")
    return found


@functools.lru_cache(maxsize=512)
def _observation_space(env: FromXMiniGrid) -> spaces.Space:
    _, params = env.library_env
    cells = params.view_size, params.view_size, 2

    def space(name: str, struct: Any) -> spaces.Space:
        if struct.dtype == np.uint8 and struct.shape == cells:
            return spaces.Box(0, np.broadcast_to(np.array(_LARGEST, np.uint8), cells), cells, np.uint8)
        if name == "direction":  # one-hot
            return spaces.Box(0.0, 1.0, struct.shape, struct.dtype)
        return spaces.unbounded_space(struct)

    struct = env.state_types.inner.observation
    if isinstance(struct, dict):
        return spaces.Dict({name: space(name, part) for name, part in struct.items()})
    return space("img", struct)
