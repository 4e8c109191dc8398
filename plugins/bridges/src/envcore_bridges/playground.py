"""`FromPlayground`: MuJoCo Playground's environments in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import EnvParams
from envcore.errors import EnvironmentLoadError
from flax import struct

from envcore_bridges.base import (
    ForeignEnvironment,
    ForeignState,
    as_dicts,
    chosen_floats,
    paint_bodies,
    rebuilt,
    unknown_name,
)

_DRAWN = ("mocap_pos", "mocap_quat", "qpos", "qvel", "xfrc_applied")

VARY = ("opt.gravity", "geom_friction", "body_mass", "dof_damping", "dof_armature", "actuator_gear")
"""What `vary` is by default."""


@struct.dataclass
class PlaygroundParams(EnvParams):
    """Params of an environment of MuJoCo Playground.

    Attributes:
      model: fields of MJX's `Model` by their dotted names, as its `tree_replace` takes them: numbers of the physics,
        float32, which may differ from one environment to the next.
    """

    model: dict[str, Any] = struct.field(default_factory=dict)


def from_playground(
    source: str | Callable[..., Any], *, vary: tuple[str, ...] | None = None, **options: Hashable
) -> FromPlayground:
    """Makes an environment of MuJoCo Playground.

    Args:
      source: one of the library's names, such as "CartpoleBalance", or a class or function that makes an `MjxEnv`.
      vary: the fields of MJX's `Model` that become `params.model`; by default those of `VARY` that the model has.
      **options: fields of the environment's config, such as `impl="jax"`, by their dotted names; or what a class or
        function is called with.

    Raises:
      InvalidArgumentError: the library has no such environment or field, or an option is not hashable.
      EnvironmentLoadError: the robots of MuJoCo Menagerie, which it needs, are missing.
    """
    return FromPlayground.make(source, **options, **({} if vary is None else {"vary": vary}))


@dataclasses.dataclass(frozen=True)
class FromPlayground(ForeignEnvironment):
    """An environment of MuJoCo Playground: bodies and joints, simulated by MJX.

    Observation: what the environment observes, mostly a float32 vector without bounds; a mapping becomes a dict.
    Action: float32 in [-1, 1], one number an actuator.
    Reward: the environment's.
    Termination: `done`: in the control suite where a number is NaN, else such as that a robot has fallen. Truncation:
      after `episode_length` steps of the environment's config, which the library's wrappers count, without its
      auto-reset, which begins each episode as the first one.
    Info: the library's metrics, by their names. `time_out` and all else of its info stays in the state.
    Params: `params.model` holds fields of MJX's `Model`, for experiments that randomize the physics, such as
      `params.replace(model={**params.model, "geom_friction": 0.5 * params.model["geom_friction"]})`.
    State: the library's, but for what a step computes again from the rest, such as contacts. With MuJoCo Warp these
      take megabytes, and one array serves a whole batch, so they can be neither selected nor stored.

    The option `impl` is "warp" by default, as in the library: MuJoCo Warp, for CPUs and for GPUs of NVIDIA. "jax" runs
    on every device.
    """

    render_fps: ClassVar[float] = 50
    required: ClassVar[tuple[str, ...]] = ("action_size", "mj_model", "mjx_model", "reset", "step", "unwrapped")
    refused_wrappers: ClassVar[tuple[str, ...]] = (
        "AutoResetWrapper",
        "BraxAutoResetWrapper",
        "BraxDomainRandomizationVmapWrapper",
        "VmapWrapper",
    )

    def load(self) -> Any:
        # Late: envcore lists environments without it. MuJoCo prints what optional packages it has not found.
        with contextlib.redirect_stdout(None):
            from mujoco_playground import dm_control_suite, registry

        options: dict[str, Any] = {name: value for name, value in self.options if name != "vary"}
        if not isinstance(self.source, str):
            return self.source(**options)
        if self.source not in registry.ALL_ENVS:
            raise unknown_name("MuJoCo Playground", self.source, registry.ALL_ENVS)
        if self.source not in dm_control_suite.ALL_ENVS:
            _check_menagerie(self.source)
        return registry.load(self.source, config_overrides=options)

    def check_support(self) -> None:
        _ = self.default_params  # refuses fields that the model lacks

    @property
    def time_limit(self) -> int:
        return int(self._config.get("episode_length", 1000))

    @property
    def default_params(self) -> PlaygroundParams:
        return PlaygroundParams(model=dict(_varied(self)), max_steps_in_episode=self.time_limit)

    def action_space(self, params: Any) -> spaces.Space:
        return spaces.Box(-1.0, 1.0, (self.library_env.action_size,))

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.unbounded_space(self.state_types.inner.obs)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return _stored(self._env(params).reset(key)), ()

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state = jax.tree.map(lambda x: x, state)  # the library writes into the dicts of metrics and of info
        after = _stored(self._env(params).step(self._with_buffers(state), action))
        # Of brax's EpisodeWrapper, which also repeats actions.
        truncated = after.info["truncation"] > 0 if "truncation" in after.info else jnp.bool_(False)
        return after, (), after.reward, (after.done > 0) & ~truncated, {**after.metrics, "truncated": truncated}

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.obs  # where a step of the library's may read it; there is no second copy

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        bodies = {field: getattr(state.inner.data, field) for field in _DRAWN}
        return paint_bodies(self.library_env.mj_model, bodies, height, f"MuJoCo Playground's {self.name}")

    @property
    def _config(self) -> Any:
        return getattr(self.library_env.unwrapped, "_config", {})

    def _env(self, params: Any) -> Any:
        """The library's environment with the fields of `params.model` in its model."""
        if not params.model:
            return self.library_env
        model = self.library_env.mjx_model.tree_replace(params.model)
        return rebuilt(self.library_env, lambda env: setattr(env, "_mjx_model", model))

    def _with_buffers(self, state: Any) -> Any:
        """The library's state, with arrays for what a step computes again, as its own reset makes them."""
        from mujoco_playground._src import mjx_env

        env, config = self.library_env, self._config
        sizes = {name: config[name] for name in ("naconmax", "naccdmax", "njmax") if name in config}
        fresh = mjx_env.make_data(env.mj_model, impl=env.mjx_model.impl.value, **sizes)
        return state.replace(data=state.data.replace(_impl=fresh._impl))


def _check_menagerie(name: str) -> None:
    """Raises where the library would clone a repository of robots."""
    from mujoco_playground._src import mjx_env

    if not mjx_env.MENAGERIE_PATH.exists():
        raise EnvironmentLoadError(
            f"MuJoCo Playground's {name} needs the robots of MuJoCo Menagerie in {mjx_env.MENAGERIE_PATH}, which "
            "`mujoco_playground.registry.load` downloads with Git: call it once."
        )


@functools.lru_cache(maxsize=512)
def _varied(env: FromPlayground) -> dict[str, np.ndarray]:
    model, chosen = env.library_env.mjx_model, cast("tuple[str, ...] | str | None", dict(env.options).get("vary"))
    if chosen is not None:
        return chosen_floats(model, (chosen,) if isinstance(chosen, str) else chosen, "MJX's Model")
    found = chosen_floats(model, VARY, "MJX's Model")
    return {name: value for name, value in found.items() if value.size}


def _stored(state: Any) -> Any:
    return state.replace(obs=as_dicts(state.obs), data=state.data.replace(_impl=None))
