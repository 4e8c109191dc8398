"""`FromBrax`: brax's environments in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
import warnings
from collections.abc import Callable, Hashable
from typing import Any, ClassVar

from envcore.errors import NoPictureError

from envcore_bridges.base import PhysicsEnvironment, unknown_name
from envcore_bridges.libraries import BY_FAMILY

VARY = ("gravity", "geom_friction", "link.inertia.mass", "dof.damping", "dof.armature", "actuator.gear")
"""What `vary` is by default for brax's pipeline "generalized"."""

VARY_SPRING = ("gravity", "geom_friction", "link.inertia.mass", "actuator.gear")
"""What `vary` is by default for the pipelines "spring" and "positional", which do not read the others."""

VARY_MJX = ("opt.gravity", "geom_friction", "body_mass", "dof_damping", "dof_armature", "actuator_gear")
"""What `vary` is by default for the pipeline "mjx", which reads other fields."""

_VARY = {"mjx": VARY_MJX, "positional": VARY_SPRING, "spring": VARY_SPRING}  # by backend


def from_brax(source: str | Callable[..., Any], **options: Hashable) -> FromBrax:
    """Makes an environment of brax.

    Args:
      source: one of brax's names, such as "ant", or a class or function that makes a `brax.envs.Env`.
      **options: what brax makes it with, such as `backend="spring"`; and `vary`, the fields of brax's `System` that
        become `params.model`, by default those of `VARY` that the environment has, of `VARY_SPRING` for the backends
        "spring" and "positional", of `VARY_MJX` for "mjx".

    Raises:
      InvalidArgumentError: brax has no such environment, field or option, or an option is not hashable.
    """
    return FromBrax.make(source, **options)


@dataclasses.dataclass(frozen=True)
class FromBrax(PhysicsEnvironment):
    """An environment of brax: bodies and joints, simulated by rigid-body physics.

    Observation: what the environment observes, mostly a float32 vector without bounds; a mapping becomes a dict.
    Action: float32 in [-1, 1], one number an actuator.
    Reward: the environment's.
    Termination: `done`, such as that a robot has fallen. Truncation: after 1,000 steps, the length of an episode in
      brax's own wrappers, which are left out: an episode begins anew where brax would repeat the first one.
    Info: brax's metrics, by their names.
    Params: `params.model` holds fields of brax's `System`, for experiments that randomize the physics, such as
      `params.replace(model={**params.model, "geom_friction": 0.5 * params.model["geom_friction"]})`. Not all of the
      system is a parameter, because what is known when a program is compiled makes the program faster, and because it
      contains a MuJoCo model, which cannot be mapped over. The option `vary` chooses the fields.

    `inverted_pendulum` says `time_out` in brax's info wherever the pole has fallen, which is no time limit: it is
    left out, as all of brax's info is.
    """

    render_fps: ClassVar[float] = 20
    model_attribute: ClassVar[str] = "sys"
    refused_wrappers: ClassVar[tuple[str, ...]] = (
        "AutoResetWrapper",
        "DomainRandomizationVmapWrapper",
        "VmapWrapper",
    )

    def load(self) -> Any:
        # Late: envcore lists environments without it. MuJoCo prints what optional packages it has not found.
        with contextlib.redirect_stdout(None):
            import brax.envs

        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Brax System, pip", UserWarning)  # that brax is no longer developed
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
