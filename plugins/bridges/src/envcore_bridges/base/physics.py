"""`PhysicsEnvironment`: the base of bridges to libraries of bodies and joints, the physics of which are params."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import spaces
from envcore.environment import EnvParams
from envcore.errors import InvalidArgumentError
from flax import struct

from envcore_bridges.base.environment import ForeignEnvironment, ForeignState, as_dicts
from envcore_bridges.base.loading import rebuilt
from envcore_bridges.base.pictures import check_opengl, paint_on_host, render_bodies


@struct.dataclass
class PhysicsParams(EnvParams):
    """Params of an environment of brax or MuJoCo Playground.

    Attributes:
      model: fields of brax's `System` or MJX's `Model` by their dotted names, as `tree_replace` takes them: numbers of
        the physics, float32, which may differ from one environment to the next.
    """

    model: dict[str, Any] = struct.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class PhysicsEnvironment(ForeignEnvironment):
    """An environment whose library has brax's interface.

    Subclasses implement `load`, `time_limit`, `default_vary` and `bodies`.
    """

    model_attribute: ClassVar[str]
    """The attribute in which the library's environment holds its model."""

    @property
    def default_vary(self) -> tuple[str, ...]:
        """The fields of the model that become params where the option `vary` is not given."""
        raise NotImplementedError

    def bodies(self, state: Any) -> tuple[Any, dict[str, Any]]:
        """The `mujoco.MjModel`, and the fields of `mujoco.MjData` that say where the bodies of the state are.

        Raises:
          NoPictureError: the environment has no bodies.
        """
        raise NotImplementedError

    @property
    def model(self) -> Any:
        """The library's model; None where an environment has none, as brax's `fast`."""
        return getattr(self.library_env.unwrapped, self.model_attribute, None)

    @property
    def library_options(self) -> dict[str, Any]:
        """The options that the library takes."""
        return {name: value for name, value in self.options if name != "vary"}

    @property
    def default_params(self) -> PhysicsParams:
        chosen: Any = dict(self.options).get("vary")
        names = self.default_vary if chosen is None else (chosen,) if isinstance(chosen, str) else chosen
        fields = {name: value for name in names if (value := _floats(self.model, name)).size}
        return PhysicsParams(model=fields, max_steps_in_episode=self.time_limit)

    def action_space(self, params: Any) -> spaces.Space:
        return spaces.Box(-1.0, 1.0, (self.library_env.action_size,))

    def observation_space(self, params: Any) -> spaces.Space:
        return spaces.unbounded_space(self.state_types.inner.obs)

    def library_reset(self, key: jax.Array, params: Any) -> tuple[Any, Any]:
        state = self._env(params).reset(key)
        return state.replace(obs=as_dicts(state.obs)), ()

    def library_step(self, state: Any, action: Any, key: jax.Array, params: Any) -> tuple[Any, ...]:
        state = jax.tree.map(lambda x: x, state)  # libraries write into the dicts of metrics and of info
        after = self._env(params).step(state, action)
        # Of brax's EpisodeWrapper, which also repeats actions.
        truncated = after.info["truncation"] > 0 if "truncation" in after.info else jnp.bool_(False)
        info = {**after.metrics, "truncated": truncated}
        return after.replace(obs=as_dicts(after.obs)), (), after.reward, (after.done > 0) & ~truncated, info

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.obs  # where a step of the library's may read it; there is no second copy

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        """What the model's first camera shows, or MuJoCo's free camera where it has none, 4/3 as wide as high."""
        import mujoco

        model, fields = self.bodies(state.inner)
        check_opengl(self.name)

        def draw(fields: Any, shape: tuple[int, int]) -> np.ndarray:
            data: Any = mujoco.MjData(model)  # pyright: ignore[reportAttributeAccessIssue]
            for field, value in fields.items():
                setattr(data, field, value)
            return render_bodies(model, data, shape)

        return paint_on_host(draw, fields, height, 4 / 3)

    def _env(self, params: Any) -> Any:
        """The library's environment with the fields of `params.model` in its model."""
        if not params.model:
            return self.library_env
        model = self.model.tree_replace(params.model)
        return rebuilt(self.library_env, lambda env: setattr(env, self.model_attribute, model))


def _floats(model: Any, name: str) -> np.ndarray:
    """A field of the model, dotted where one is inside of another, as float32.

    Raises:
      InvalidArgumentError: there is no such field, or it holds no floats.
    """
    value = functools.reduce(lambda tree, part: getattr(tree, part, None), name.split("."), model)
    if not isinstance(value, float | np.ndarray | jax.Array) or np.asarray(value).dtype.kind != "f":
        kind = type(model).__name__
        raise InvalidArgumentError(f"vary must name fields of the library's {kind} that are floats, got {name!r}.")
    return np.asarray(value, np.float32)
