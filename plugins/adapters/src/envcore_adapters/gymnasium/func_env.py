"""`GymnasiumFuncEnv`: an environment as a `gymnasium.experimental.functional.FuncEnv`."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import Environment
from envcore.engine.stepping import own_info
from envcore_native.turns import legal
from envcore_native.xla import on_device
from flax import struct
from gymnasium.experimental.functional import FuncEnv

from envcore_adapters.gymnasium.conventions import RENDER_HEIGHT
from envcore_adapters.gymnasium.spaces import to_gymnasium_space
from envcore_adapters.inputs import single


@struct.dataclass
class FuncState:
    """The state of a `GymnasiumFuncEnv`, with what the step to it returned, because Gymnasium asks for each apart.

    Attributes:
      env_state: the state of the environment.
      reward: float32 (); 0 at the start.
      terminated: bool ().
      truncated: bool ().
      info: the environment's own entries.
    """

    env_state: Any
    reward: Any
    terminated: Any
    truncated: Any
    info: dict[str, Any]

    @property
    def at(self) -> _At:
        """`states.at[index].set(others)` for a batch of states; `FunctionalJaxVectorEnv` resets by it."""
        return _At(self)


class _At:
    def __init__(self, states: FuncState):
        self._states = states

    def __getitem__(self, index: Any) -> _Indexed:
        return _Indexed(self._states, index)


class _Indexed(NamedTuple):
    states: FuncState
    index: Any

    def set(self, others: FuncState) -> FuncState:
        return jax.tree.map(lambda whole, part: whole.at[self.index].set(part), self.states, others)


class GymnasiumFuncEnv(FuncEnv[FuncState, Any, Any, Any, Any, Any, Any]):
    """An environment of envcore as a `gymnasium.experimental.functional.FuncEnv`, without auto-reset.

    `initial` and `transition` take a random key; the others need none. `terminal` is true at a time limit too, because
    Gymnasium's interface has no truncation; `state.truncated` tells them apart.

    Args:
      env: an environment, with or without wrappers, or an id for `envcore.make`.
      params: its params, or a mapping of those that differ from the defaults; `default_params` of this environment.
      **options: constructor options, where `env` is an id.

    Raises:
      UnknownEnvironmentError: nothing has this id.
      InvalidArgumentError: an argument is invalid, or the environment is a batch: use `jax.vmap`.
    """

    def __init__(self, env: str | Environment, params: Any = None, **options: Any):
        self.env, params = single(env, params, options, "map over one with jax.vmap")
        self._params = on_device(params)
        super().__init__()
        self.observation_space = to_gymnasium_space(self.env.observation_space(self._params))
        self.action_space = to_gymnasium_space(self.env.action_space(self._params))
        self.metadata = {"render_modes": ["rgb_array"], "render_fps": self.env.render_fps, "jax": True}

    def get_default_params(self, **kwargs: Any) -> Any:
        """The params of the constructor, with the fields of `kwargs` replaced."""
        return self._params.replace(**kwargs) if kwargs else self._params

    def initial(self, rng: Any, params: Any = None) -> FuncState:
        params = self._given(params)
        _, state = self.env.reset(rng, params)
        action = jax.eval_shape(lambda key: self.env.action_space(params).sample(key), jax.random.key(0))
        *_, info = jax.eval_shape(self.env.step_env, jax.random.key(0), state, action, params)
        info = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), own_info(info))
        info |= legal(self.env, state, params)
        false = jnp.zeros((), jnp.bool_)
        return FuncState(state, jnp.zeros((), jnp.float32), false, false, info)

    def transition(self, state: FuncState, action: Any, rng: Any, params: Any = None) -> FuncState:
        params = self._given(params)
        _, after, reward, terminated, info = self.env.step_env(rng, state.env_state, action, params)
        return FuncState(after, reward, terminated, info["truncated"], own_info(info))

    def observation(self, state: FuncState, rng: Any = None, params: Any = None) -> Any:
        return self.env.observe(state.env_state, self._given(params))

    def reward(self, state: FuncState, action: Any, next_state: FuncState, rng: Any = None, params: Any = None) -> Any:
        return next_state.reward

    def terminal(self, state: FuncState, rng: Any = None, params: Any = None) -> Any:
        return state.terminated | state.truncated

    def state_info(self, state: FuncState, params: Any = None) -> dict[str, Any]:
        """The `action_mask`, if the environment has masks."""
        return legal(self.env, state.env_state, self._given(params))

    def transition_info(
        self, state: FuncState, action: Any, next_state: FuncState, params: Any = None
    ) -> dict[str, Any]:
        return dict(next_state.info)

    def render_init(self, params: Any = None, **kwargs: Any) -> int:
        """The height of the pictures in pixels; `height=` sets it."""
        return kwargs.get("height", RENDER_HEIGHT)

    def render_image(self, state: FuncState, render_state: int, params: Any = None) -> tuple[int, Any]:
        picture = self.env.render(state.env_state, self._given(params), height=render_state)
        return render_state, np.array(picture)

    def render_close(self, render_state: int, params: Any = None) -> None:
        """Pictures need nothing that must be closed."""

    def _given(self, params: Any) -> Any:
        return self._params if params is None else params
