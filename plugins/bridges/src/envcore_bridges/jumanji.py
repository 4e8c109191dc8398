"""`FromJumanji`: use Jumanji environments in envcore."""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import NO_TIME_LIMIT
from envcore.errors import DatasetError, EnvironmentLoadError, InvalidArgumentError

from envcore_bridges.base.environment import ForeignEnvironment, ForeignState, as_dicts
from envcore_bridges.base.loading import rebuilt, unknown_name
from envcore_bridges.base.pictures import paint_on_host, pixels_of


def from_jumanji(source: str | Callable[..., Any], **options: Hashable) -> FromJumanji:
    """Makes a Jumanji environment.

    Args:
      source: a name registered in Jumanji, or a class or function that makes a `jumanji.Environment`.
      **options: Jumanji's constructor options, such as `time_limit=50` or `generator=MyGenerator()`.

    Raises:
      InvalidArgumentError: the name or an option is unknown, or the environment has a separate reward for each agent.
      DatasetError: the environment's data cannot be downloaded.
      EnvironmentLoadError: Jumanji cannot be imported in a notebook, because ipympl is missing.
    """
    return FromJumanji.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromJumanji(ForeignEnvironment):
    """A Jumanji environment with a single reward. It has one agent, or several agents that share a joint action.

    Observation: Jumanji's observation as a nested dict of arrays, with the same names, shapes and dtypes. Bounds are
      Jumanji's, except for two that are too narrow. Step counts have no upper bound, because
      `params.max_steps_in_episode` can be any number, and the position in TSP starts at -1.
    Action: `Discrete`, `MultiDiscrete` or `Box`. Several agents share a joint action.
    Legal actions: `info["action_mask"]` and `action_mask(state, params)` are the observation's `action_mask`, if it has
      one. It is bool (n,) for `Discrete(n)`. For `MultiDiscrete` it has a row per agent, or an entry for each joint
      action. Many environments end the episode after an illegal action.
    Reward: Jumanji's. Environments with a reward per agent are refused. Wrap these in
      `jumanji.wrappers.MultiToSingleWrapper`, which combines the rewards.
    Termination: when Jumanji ends the episode, except for its time limit, which it reports as a termination in all
      environments but Connector and LevelBasedForaging. MultiCVRP ends after 40 moves with a penalty, which is a rule
      of the game and terminates.
    Truncation: at `params.max_steps_in_episode`, which defaults to Jumanji's `time_limit`. Your own environment also
      truncates if it ends an episode with a nonzero discount.
    Info: Jumanji's `timestep.extras`.
    Params: only `max_steps_in_episode`. To make episodes of MMST or SearchAndRescue longer, also pass the option
      `time_limit`. MMST has room for `time_limit` steps, and SearchAndRescue's rewards fall to 0 at `time_limit`.

    Jumanji's state is `state.inner`, and its environment `library_env`. Pictures come from Jumanji's renderer, which
    uses Matplotlib on the host. One takes 0.1 to 1 seconds, and many seconds for graphs (GraphColoring and MMST).
    """

    refused_wrappers: ClassVar[tuple[str, ...]] = ("AutoResetWrapper", "VmapAutoResetWrapper", "VmapWrapper")

    def load(self) -> Any:
        try:
            from jumanji.registration import make, registered_environments  # late, for listings
        except RuntimeError as error:
            if "ipympl" not in str(error):
                raise
            raise EnvironmentLoadError("in a notebook, Jumanji needs ipympl: pip install ipympl") from error
        options = dict(self.options)
        if isinstance(self.source, str) and self.source not in registered_environments():
            raise unknown_name("Jumanji", self.source, registered_environments())
        try:
            return make(self.source, **options) if isinstance(self.source, str) else self.source(**options)
        except OSError as error:
            problem = str(error).partition("\n")[0]
            raise DatasetError(
                f"{self.name} cannot load its data, but another `generator` may need none: {problem}"
            ) from error

    def check_support(self) -> None:
        shape = self.library_env.reward_spec.shape
        if shape:
            raise InvalidArgumentError(
                f"{self.name} has {shape[0]} agents with a reward each, which is not supported. To add the rewards up, "
                "pass a function that returns jumanji.wrappers.MultiToSingleWrapper(environment)."
            )

    @property
    def time_limit(self) -> int:
        return getattr(self.library_env.unwrapped, "time_limit", NO_TIME_LIMIT)

    def action_space(self, params: Any) -> spaces.Space:
        return _action_space(self.library_env.action_spec, self._game)

    def observation_space(self, params: Any) -> spaces.Space:
        return _observation_space(self.library_env.observation_spec, self._game)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        state, timestep = self.library_env.reset(key)
        return state, as_dicts(timestep.observation)

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        env = _without_limit(self)
        state, timestep = env.step(state, action.astype(env.action_spec.dtype))
        if _rewards_by_limit(env):
            terminated, truncated = timestep.last() & jnp.all(state.targets.found), jnp.bool_(False)
        else:
            goes_on = jnp.any(timestep.discount != 0)  # Jumanji's convention for truncation
            terminated, truncated = timestep.last() & ~goes_on, timestep.last() & goes_on
        info = {**(timestep.extras or {}), "truncated": truncated}
        return state, as_dicts(timestep.observation), timestep.reward, terminated, info

    def library_action_mask(self, state: Any, obs: Any, params: Any) -> Any:
        return obs["action_mask"].astype(jnp.bool_) if isinstance(obs, dict) and "action_mask" in obs else None

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        viewer = _viewer(self)
        if viewer is None:
            return super().render(state, params, height)
        width, tall = viewer.figure_size
        return paint_on_host(functools.partial(_draw, viewer), state.inner, height, width / tall)

    @property
    def _game(self) -> str:
        """Name of Jumanji's environment class, without wrappers."""
        return type(self.library_env.unwrapped).__name__


@functools.lru_cache(maxsize=512)
def _without_limit(env: FromJumanji) -> Any:
    """Returns Jumanji's environment without its time limit."""

    def lift(inner: Any) -> None:
        if hasattr(inner, "time_limit") and not _rewards_by_limit(inner):
            inner.time_limit = NO_TIME_LIMIT

    return rebuilt(env.library_env, lift)


def _rewards_by_limit(inner: Any) -> bool:
    """Whether the rewards depend on Jumanji's time limit."""
    from jumanji.environments.swarms.search_and_rescue.env import SearchAndRescue

    return isinstance(inner.unwrapped, SearchAndRescue)


@functools.lru_cache(maxsize=512)
def _viewer(env: FromJumanji) -> Any:
    from jumanji.viewer import MatplotlibViewer

    return next((each for each in vars(env.library_env.unwrapped).values() if isinstance(each, MatplotlibViewer)), None)


def _draw(viewer: Any, state: Any, shape: tuple[int, int]) -> np.ndarray:
    """Draws into a figure that pyplot does not manage, because pyplot would open a window."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=viewer.figure_size, dpi=shape[0] / viewer.figure_size[1], layout="constrained")
    viewer = copy.copy(viewer)
    axes = _axes(viewer, figure)
    viewer._get_fig_ax = lambda *args, **kwargs: (figure, axes)
    viewer._clear_display = viewer._display = lambda *_: None
    viewer.render(jax.tree.map(jnp.asarray, state))  # some viewers use `x.at[...]`
    return pixels_of(figure)


def _axes(viewer: Any, figure: Any) -> Any:
    """Makes the axes that the viewer's `_get_fig_ax` would make."""
    names = {each.__name__ for each in type(viewer).__mro__}
    if "RubiksCubeViewer" in names:
        return figure.subplots(3, 2).flatten()
    if "BinPackViewer" in names:
        return figure.add_subplot(projection="3d")
    axes = figure.add_subplot()
    if "SearchAndRescueViewer" in names:
        from jumanji.environments.swarms.common.viewer import format_plot

        format_plot(figure, axes, viewer.env_size)
    return axes


def _observation_space(spec: Any, env_name: str, name: str = "") -> spaces.Space:
    """Returns the space of observations that `as_dicts` has converted."""
    from jumanji import specs

    if not isinstance(spec, specs.Array):
        parts = {name: part for name, part in vars(spec).items() if isinstance(part, specs.Spec)}
        return spaces.Dict({name: _observation_space(part, env_name, name) for name, part in parts.items()})
    if name in ("step", "step_count") and not spec.shape:
        return spaces.Box(0, np.iinfo(spec.dtype).max, (), spec.dtype)
    if not isinstance(spec, specs.BoundedArray):
        return spaces.unbounded_space(jax.ShapeDtypeStruct(spec.shape, spec.dtype))
    low = -1 if (env_name, name) == ("TSP", "position") else spec.minimum  # it is -1 before the first city
    return spaces.Box(np.asarray(low), np.asarray(spec.maximum), spec.shape, spec.dtype)


def _action_space(spec: Any, env_name: str) -> spaces.Space:
    """Returns the action space.

    Raises:
      InvalidArgumentError: envcore has no space for the spec.
    """
    from jumanji import specs

    if isinstance(spec, specs.DiscreteArray):
        return spaces.Discrete(int(spec.num_values))
    if isinstance(spec, specs.MultiDiscreteArray):
        return spaces.MultiDiscrete(np.asarray(spec.num_values))
    if isinstance(spec, specs.BoundedArray):
        low, high = (np.broadcast_to(np.asarray(bound), spec.shape) for bound in (spec.minimum, spec.maximum))
        if spec.dtype.kind in "iu" and spec.shape and (low == 0).all():
            # MultiCVRP declares one action too many, a node after the last one.
            return spaces.MultiDiscrete(high.astype(np.int32) + (env_name != "MultiCVRP"))
        return spaces.Box(low, high, spec.shape, spec.dtype)
    raise InvalidArgumentError(f"{env_name} has the action spec {spec!r}, which envcore does not support.")
