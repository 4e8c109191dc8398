"""`FromPlayground`: MuJoCo Playground's environments in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
from envcore.errors import EnvironmentLoadError

from envcore_bridges.base import PhysicsEnvironment, unknown_name

_DRAWN = ("mocap_pos", "mocap_quat", "qpos", "qvel", "xfrc_applied")

VARY = ("opt.gravity", "geom_friction", "body_mass", "dof_damping", "dof_armature", "actuator_gear")
"""What `vary` is by default."""


def from_playground(source: str | Callable[..., Any], **options: Hashable) -> FromPlayground:
    """Makes an environment of MuJoCo Playground.

    Args:
      source: one of the library's names, such as "CartpoleBalance", or a class or function that makes an `MjxEnv`.
      **options: fields of the environment's config, such as `impl="jax"`, by their dotted names; or what a class or
        function is called with; and `vary`, the fields of MJX's `Model` that become `params.model`, by default those of
        `VARY` that the model has.

    Raises:
      InvalidArgumentError: the library has no such environment or field, or an option is not hashable.
      EnvironmentLoadError: the robots of MuJoCo Menagerie, which it needs, are missing.
    """
    return FromPlayground.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromPlayground(PhysicsEnvironment):
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
    model_attribute: ClassVar[str] = "_mjx_model"
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

        if not isinstance(self.source, str):
            return self.source(**self.library_options)
        if self.source not in registry.ALL_ENVS:
            raise unknown_name("MuJoCo Playground", self.source, registry.ALL_ENVS)
        if self.source not in dm_control_suite.ALL_ENVS:
            _check_menagerie(self.source)
        return registry.load(self.source, config_overrides=self.library_options)

    @property
    def time_limit(self) -> int:
        return int(self._config.get("episode_length", 1000))

    @property
    def default_vary(self) -> tuple[str, ...]:
        return VARY

    def bodies(self, state: Any) -> tuple[Any, dict[str, Any]]:
        return self.library_env.mj_model, {field: getattr(state.data, field) for field in _DRAWN}

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        state, obs = super().library_reset(key, params)
        return _stored(state), obs

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        after, *rest = super().library_step(self._with_buffers(state), action, key, params)
        return _stored(after), *rest

    @property
    def _config(self) -> Any:
        return getattr(self.library_env.unwrapped, "_config", {})

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


def _stored(state: Any) -> Any:
    return state.replace(data=state.data.replace(_impl=None))
