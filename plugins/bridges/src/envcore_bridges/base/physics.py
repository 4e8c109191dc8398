"""`PhysicsEnvironment`: the base class of bridges to brax and MuJoCo Playground, with the physics as params."""

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
      model: physics parameters, float32, which may differ between the environments of a batch. The keys are dotted
        names of fields in brax's `System` or MJX's `Model`, as `tree_replace` takes them.
    """

    model: dict[str, Any] = struct.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class PhysicsEnvironment(ForeignEnvironment):
    """An environment of a library with brax's interface.

    Subclasses implement `load`, `time_limit`, `default_vary` and `bodies`.
    """

    model_attribute: ClassVar[str]
    """Name of the attribute that holds the model in the library's environment."""

    @property
    def default_vary(self) -> tuple[str, ...]:
        """Fields of the model that become params by default, without the option `vary`."""
        raise NotImplementedError

    def bodies(self, state: Any) -> tuple[Any, dict[str, Any]]:
        """Returns the `mujoco.MjModel`, and the fields of `mujoco.MjData` with the positions of the bodies.

        Raises:
          NoPictureError: the environment has no bodies.
        """
        raise NotImplementedError

    @property
    def model(self) -> Any:
        """The library's model. None if the environment has none, such as brax's `fast`."""
        return getattr(self.library_env.unwrapped, self.model_attribute, None)

    @property
    def library_options(self) -> dict[str, Any]:
        """The options without `vary`, to pass to the library."""
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
        state = jax.tree.map(lambda x: x, state)  # copies dicts, because libraries write to metrics and info
        after = self._env(params).step(state, action)
        # Set by brax's EpisodeWrapper, which users may want because it repeats actions.
        truncated = after.info["truncation"] > 0 if "truncation" in after.info else jnp.bool_(False)
        info = {**after.metrics, "truncated": truncated}
        return after.replace(obs=as_dicts(after.obs)), (), after.reward, (after.done > 0) & ~truncated, info

    def observe(self, state: ForeignState, params: Any) -> Any:
        return state.inner.obs  # kept in the library's state, because its step may read it

    def render(self, state: ForeignState, params: Any, height: int = 256) -> jax.Array:
        """Renders the view of the model's first camera, or of MuJoCo's free camera. The aspect ratio is 4:3."""
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
        """Returns the library's environment with the values of `params.model` in its model."""
        if not params.model:
            return self.library_env
        model = self.model.tree_replace(params.model)
        return rebuilt(self.library_env, lambda env: setattr(env, self.model_attribute, model))


def _floats(model: Any, name: str) -> np.ndarray:
    """Returns a field of the model, given its dotted name, as float32.

    Raises:
      InvalidArgumentError: the field does not exist or is not a float.
    """
    value = functools.reduce(lambda tree, part: getattr(tree, part, None), name.split("."), model)
    if not isinstance(value, float | np.ndarray | jax.Array) or np.asarray(value).dtype.kind != "f":
        has = "no physics model" if model is None else f"no floats of this name in its {type(model).__name__}"
        raise InvalidArgumentError(f"vary cannot name {name!r}: the environment has {has}.")
    return np.asarray(value, np.float32)
