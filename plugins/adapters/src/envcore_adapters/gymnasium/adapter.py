"""`Adapter`: the base class of `GymnasiumEnv` and `GymnasiumVectorEnv`."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from envcore import Environment, forks
from envcore.engine import arguments
from envcore_native import Stepper
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded

from envcore_adapters.gymnasium.specs import with_time_limit


class Adapter:
    """Base class of `GymnasiumEnv` and `GymnasiumVectorEnv`.

    - Every step returns new arrays, so you may keep them.
    - `reset(seed=...)` starts from scratch. `reset()` keeps state that survives an auto-reset in envcore, such as the
      statistics of `NormalizeObservation`.
    - If the environment has action masks, the info of every reset and step contains the `action_mask`.
    - JAX is initialized by the first reset, because Gymnasium makes an environment before it forks.

    Attributes:
      env: the environment, or the batch.
    """

    env: Environment
    render_mode: str | None
    render_height: int
    _stepper: Any  # a `Stepper`, made by the first reset
    _params: Any
    _spec: EnvSpec | None = None
    _has_state = False

    @property
    def params(self) -> Any:
        """The params, which you can change at any time. The next step uses them.

        Set this to params, or to a mapping of the values to change from the defaults. The spaces do not change.

        Raises:
          InvalidParamsError: the params belong to another environment, or a name or value is invalid.
        """
        return self._params

    @params.setter
    def params(self, params: Any) -> None:
        self._params = arguments.checked_params(self.env, arguments.with_updates(self.env, params))
        if "_stepper" in vars(self):
            self._stepper.params = self._params

    @property
    def spec(self) -> EnvSpec | None:
        """The spec that `gymnasium.make` sets, with the environment's time limit. None if you did not use `make`."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = with_time_limit(spec, self.params)

    @property
    def state(self) -> Any:
        """The envcore state of the environment, or the states of the batch.

        Raises:
          ResetNeeded: `reset` has not been called.
          ClosedEnvironmentError: a batch has been closed.
        """
        return self._begun().state

    def render(self) -> Any:
        """Renders the state as uint8 (height, width, 3), or a batch of them. Returns None without a render mode."""
        if self.render_mode is None:
            return None
        return np.array(_render(self.env, self.render_height, self.state, self.params))

    def _check_open(self) -> None:
        forks.check()

    def _begun(self) -> Stepper:
        self._check_open()
        if not self._has_state:
            raise ResetNeeded(f"{self.env.name} has no state yet: call reset() first.")
        return self._stepper


@functools.partial(jax.jit, static_argnums=(0, 1))
def _render(env: Environment, height: int, state: Any, params: Any) -> jax.Array:
    return env.render(state, params, height=height)
