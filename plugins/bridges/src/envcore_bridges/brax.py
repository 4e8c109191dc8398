"""`FromBrax`: use brax environments in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from envcore.errors import NoPictureError

from envcore_bridges.base.loading import unknown_name
from envcore_bridges.base.physics import PhysicsEnvironment
from envcore_bridges.libraries import BY_FAMILY

VARY = ("gravity", "geom_friction", "link.inertia.mass", "dof.damping", "dof.armature", "actuator.gear")
"""The default of `vary` for brax's "generalized" backend."""

VARY_SPRING = ("gravity", "geom_friction", "link.inertia.mass", "actuator.gear")
"""The default of `vary` for the "spring" and "positional" backends, which ignore the other fields."""

VARY_MJX = ("opt.gravity", "geom_friction", "body_mass", "dof_damping", "dof_armature", "actuator_gear")
"""The default of `vary` for the "mjx" backend, which reads different fields."""

_VARY = {"mjx": VARY_MJX, "positional": VARY_SPRING, "spring": VARY_SPRING}  # by backend


def from_brax(source: str | Callable[..., Any], **options: Hashable) -> FromBrax:
    """Makes a brax environment.

    Args:
      source: a name such as "ant", or a class or function that makes a `brax.envs.Env`.
      **options: brax's constructor options, such as `backend="spring"`, and `vary`, the fields of brax's `System` that
        become `params.model`. The default of `vary` is `VARY`, or `VARY_SPRING` for the "spring" and "positional"
        backends, or `VARY_MJX` for the "mjx" backend. Default fields that the environment lacks are left out.

    Raises:
      InvalidArgumentError: brax does not have this environment, field or option, or an option is not hashable.
    """
    return FromBrax.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromBrax(PhysicsEnvironment):
    """A brax environment, which simulates bodies and joints with rigid-body physics.

    Observation: brax's observation, usually an unbounded float32 vector. Mappings become dicts.
    Action: float32 in [-1, 1], one number per actuator.
    Reward: brax's reward.
    Termination: `done`, for example when a robot has fallen. Truncation: after 1,000 steps, as in brax's wrappers.
      Those wrappers are not used. Unlike them, each reset draws a new initial state.
    Info: brax's metrics, by name.
    Params: `params.model` holds fields of brax's `System`. To randomize the physics, replace them, as in
      `params.replace(model={**params.model, "geom_friction": 0.5 * params.model["geom_friction"]})`. Choose the fields
      with the option `vary`. The rest of the system is constant, because constants make the compiled program faster,
      and because the system contains a MuJoCo model, which `vmap` cannot map over.

    All of brax's `info` is dropped. Note that `inverted_pendulum` sets `time_out` in it when the pole has fallen, which
    is not a time limit.
    """

    render_fps: ClassVar[float] = 20
    model_attribute: ClassVar[str] = "sys"
    refused_wrappers: ClassVar[tuple[str, ...]] = (
        "AutoResetWrapper",
        "DomainRandomizationVmapWrapper",
        "VmapWrapper",
    )

    def load(self) -> Any:
        # Late, so that envcore lists environments without brax. MuJoCo prints which optional packages are missing.
        with contextlib.redirect_stdout(None):
            import brax.envs

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Brax System, pip", UserWarning)  # brax is no longer developed
            if not isinstance(self.source, str):
                return self.source(**self.library_options)
            try:
                return brax.envs.get_environment(self.source, **self.library_options)
            except KeyError as error:
                if error.args != (self.source,):
                    raise
                raise unknown_name("brax", self.source, BY_FAMILY["brax"].environments()) from None

    @property
    def time_limit(self) -> int:
        return 1000

    @property
    def default_vary(self) -> tuple[str, ...]:
        return () if self.model is None else _VARY.get(self.library_env.backend, VARY)

    def bodies(self, state: Any) -> tuple[Any, dict[str, Any]]:
        if getattr(self.model, "mj_model", None) is None:
            raise NoPictureError(f"brax's {self.name} cannot be rendered: it has no MuJoCo model.")
        return self.model.mj_model, {"qpos": state.pipeline_state.q, "qvel": state.pipeline_state.qd}
