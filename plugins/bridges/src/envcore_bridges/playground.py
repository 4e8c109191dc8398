"""`FromPlayground`: use MuJoCo Playground environments in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

import jax
from envcore.errors import EnvironmentLoadError

from envcore_bridges.base.loading import unknown_name
from envcore_bridges.base.physics import PhysicsEnvironment

_DRAWN = ("mocap_pos", "mocap_quat", "qpos", "qvel", "xfrc_applied")

VARY = ("opt.gravity", "geom_friction", "body_mass", "dof_damping", "dof_armature", "actuator_gear")
"""The default of `vary`."""


def from_playground(source: str | Callable[..., Any], **options: Hashable) -> FromPlayground:
    """Makes a MuJoCo Playground environment.

    Args:
      source: a name such as "CartpoleBalance", or a class or function that makes an `MjxEnv`.
      **options: fields of the environment's config by their dotted names, such as `impl="jax"`, or arguments of the
        class or function. Also `vary`, the fields of MJX's `Model` that become `params.model`, by default the fields in
        `VARY` that the model has.

    Raises:
      InvalidArgumentError: the environment or a field is unknown, or an option is not hashable.
      EnvironmentLoadError: the environment needs robots of MuJoCo Menagerie, which are not downloaded.
    """
    return FromPlayground.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromPlayground(PhysicsEnvironment):
    """A MuJoCo Playground environment, which simulates bodies and joints with MJX.

    Observation: MuJoCo Playground's observation, usually an unbounded float32 vector. Mappings become dicts.
    Action: float32 in [-1, 1], one number per actuator.
    Reward: MuJoCo Playground's reward.
    Termination: `done`. In the control suite this means that a number is NaN, elsewhere for example that a robot has
      fallen. Truncation: after `episode_length` steps, a field of the environment's config, as in MuJoCo Playground's
      wrappers. Unlike its auto-reset, which repeats the first episode's start, each reset draws a new initial state.
    Info: MuJoCo Playground's metrics, by name. Its info, including `time_out`, stays in the state.
    Params: `params.model` holds fields of MJX's `Model`. To randomize the physics, replace them, as in
      `params.replace(model={**params.model, "geom_friction": 0.5 * params.model["geom_friction"]})`.
    State: MuJoCo Playground's state, without values that a step recomputes, such as contacts. With MuJoCo Warp these
      take megabytes and a batch shares one array, so they cannot be selected or stored per environment.

    As in MuJoCo Playground, the option `impl` is "warp" by default. MuJoCo Warp runs on CPUs and NVIDIA GPUs. "jax"
    runs on every device.
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
        # Late, so that envcore lists environments without it. MuJoCo prints which optional packages are missing.
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
        """Adds the buffers that `_stored` removed, as the library's reset makes them."""
        from mujoco_playground._src import mjx_env

        env, config = self.library_env, self._config
        sizes = {name: config[name] for name in ("naconmax", "naccdmax", "njmax") if name in config}
        fresh = mjx_env.make_data(env.mj_model, impl=env.mjx_model.impl.value, **sizes)
        return state.replace(data=state.data.replace(_impl=fresh._impl))


def _check_menagerie(name: str) -> None:
    """Raises an error if MuJoCo Playground would clone the repository of robots."""
    from mujoco_playground._src import mjx_env

    if not mjx_env.MENAGERIE_PATH.exists():
        raise EnvironmentLoadError(
            f"MuJoCo Playground's {name} needs the robots of MuJoCo Menagerie in {mjx_env.MENAGERIE_PATH}, which "
            "`mujoco_playground.registry.load` downloads with Git. Call it once."
        )


def _stored(state: Any) -> Any:
    return state.replace(data=state.data.replace(_impl=None))
