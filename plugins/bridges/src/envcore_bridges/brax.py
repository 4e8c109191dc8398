"""`FromBrax`: brax's environments in envcore."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import warnings
from collections.abc import Callable, Hashable
from typing import Any, ClassVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import EnvParams
from envcore.errors import NoPictureError
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
from envcore_bridges.libraries import BY_FAMILY

VARY = ("gravity", "geom_friction", "link.inertia.mass", "dof.damping", "dof.armature", "actuator.gear")
"""What `vary` is by default for brax's pipeline "generalized"."""

VARY_SPRING = ("gravity", "geom_friction", "link.inertia.mass", "actuator.gear")
"""What `vary` is by default for the pipelines "spring" and "positional", which do not read the others."""

VARY_MJX = ("opt.gravity", "geom_friction", "body_mass", "dof_damping", "dof_armature", "actuator_gear")
"""What `vary` is by default for the pipeline "mjx", which reads other fields."""

_VARY = {"mjx": VARY_MJX, "positional": VARY_SPRING, "spring": VARY_SPRING}  # by backend


@struct.dataclass
class BraxParams(EnvParams):
    """Params of an environment of brax.

    Attributes:
      sys: fields of brax's `System` by their dotted names, as its `tree_replace` takes them: numbers of the physics,
        which may differ from one environment to the next.
    """

    sys: dict[str, Any] = struct.field(default_factory=dict)


def from_brax(
    source: str | Callable[..., Any], *, vary: tuple[str, ...] | None = None, **options: Hashable
) -> FromBrax:
    """Makes an environment of brax.

    Args:
      source: one of brax's names, such as "ant", or a class or function that makes a `brax.envs.Env`.
      vary: the fields of brax's `System` that become `params.sys`; by default those of `VARY` that the environment has,
        of `VARY_SPRING` for the backends "spring" and "positional", of `VARY_MJX` for "mjx".
      **options: what brax makes it with, such as `backend="spring"`.

    Raises:
      InvalidArgumentError: brax has no such environment, field or option, or an option is not hashable.
    """
    return FromBrax.make(source, **options, **({} if vary is None else {"vary": vary}))


@dataclasses.dataclass(frozen=True)
class FromBrax(ForeignEnvironment):
    """An environment of brax: bodies and joints, simulated by rigid-body physics.

    Observation: what the environment observes, mostly a float32 vector without bounds; a mapping becomes a dict.
    Action: float32 in [-1, 1], one number an actuator.
    Reward: the environment's.
    Termination: `done`, such as that a robot has fallen. Truncation: after 1,000 steps, the length of an episode in
      brax's own wrappers, which are left out: an episode begins anew where brax would repeat the first one.
    Info: brax's metrics, by their names.
    Params: `params.sys` holds fields of brax's `System`, for experiments that randomize the physics, such as
      `params.replace(sys={**params.sys, "geom_friction": 0.5 * params.sys["geom_friction"]})`. Not all of the system
      is a parameter, because what is known when a program is compiled makes the program faster, and because it
      contains a MuJoCo model, which cannot be mapped over. The option `vary` chooses the fields.

    `inverted_pendulum` says `time_out` in brax's info wherever the pole has fallen, which is no time limit: it is
    left out, as all of brax's info is.
    """

    render_fps: ClassVar[float] = 20
    required: ClassVar[tuple[str, ...]] = ("action_size", "reset", "step", "unwrapped")
    refused_wrappers: ClassVar[tuple[str, ...]] = (
        "AutoResetWrapper",
        "DomainRandomizationVmapWrapper",
        "VmapWrapper",
    )

    def load(self) -> Any:
        # Late: envcore lists environments without it. MuJoCo prints what optional packages it has not found.
        with contextlib.redirect_stdout(None):
            import brax.envs

        options = {name: value for name, value in self.options if name != "vary"}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Brax System, pip", UserWarning)  # that brax is no longer developed
            if not isinstance(self.source, str):
                return self.source(**options)
            try:
                return brax.envs.get_environment(self.source, **options)
            except KeyError as error:
                if error.args != (self.source,):
                    raise
                raise unknown_name("brax", self.source, BY_FAMILY["brax"].environments()) from None

    def check_support(self) -> None:
        _ = self.default_params  # refuses fields that the system lacks

    @property
    def time_limit(self) -> int:
        return 1000

    @property
    def default_params(self) -> BraxParams:
        return BraxParams(sys=dict(_varied(self)), max_steps_in_episode=self.time_limit)

    def action_space(self, params: Any) -> spaces.Space:
        return spaces.Box(-1.0, 1.0, (self.library_env.action_size,))

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.unbounded_space(self.state_types.inner.obs)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        return _plain(self._env(params).reset(key)), ()

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state = jax.tree.map(lambda x: x, state)  # brax writes into the dict of metrics
        after = _plain(self._env(params).step(state, action))
        # Of brax's EpisodeWrapper, which also repeats actions.
        truncated = after.info["truncation"] > 0 if "truncation" in after.info else jnp.bool_(False)
        return after, (), after.reward, (after.done > 0) & ~truncated, {**after.metrics, "truncated": truncated}

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.obs  # where a step of brax's may read it; there is no second copy

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        if getattr(self._system, "mj_model", None) is None:
            raise NoPictureError(f"brax's {self.name} cannot be rendered: it has no MuJoCo model.")
        bodies = {"qpos": state.inner.pipeline_state.q, "qvel": state.inner.pipeline_state.qd}
        return paint_bodies(self._system.mj_model, bodies, height, f"brax's {self.name}")

    @property
    def _system(self) -> Any:
        """The `System`; None where an environment has none, as brax's `fast`."""
        return getattr(self.library_env.unwrapped, "sys", None)

    def _env(self, params: Any) -> Any:
        """The library's environment with the fields of `params.sys` in its system."""
        if not params.sys:
            return self.library_env
        system = self._system.tree_replace(params.sys)
        return rebuilt(self.library_env, lambda env: setattr(env, "sys", system))


@functools.lru_cache(maxsize=512)
def _varied(env: FromBrax) -> dict[str, np.ndarray]:
    system, chosen = env._system, cast("tuple[str, ...] | str | None", dict(env.options).get("vary"))
    if chosen is not None:
        return chosen_floats(system, (chosen,) if isinstance(chosen, str) else chosen, "brax's System")
    names = _VARY.get(getattr(env.library_env, "backend", ""), VARY)
    found = chosen_floats(system, names, "brax's System") if system is not None else {}
    return {name: value for name, value in found.items() if value.size}


def _plain(state: Any) -> Any:
    return state.replace(obs=as_dicts(state.obs))
