"""`Adapter`: what one environment and a batch share as environments of Gymnasium."""

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
    """What `GymnasiumEnv` and `GymnasiumVectorEnv` have in common.

    - Arrays are new on every step.
    - `reset(seed=...)` begins from nothing. `reset()` keeps what survives an auto-reset in envcore, such as the
      statistics of `NormalizeObservation`.
    - The info of every reset and step has the `action_mask`, where the environment has masks.
    - JAX starts with the first reset, because Gymnasium makes an environment in the process that it forks afterwards.

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
        """The params of the next step. Set params, or a mapping of those that differ from the defaults, at any time.

        The spaces stay those of the first params.

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
        """What `gymnasium.make` was called with, and the environment's own time limit; None without it."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = with_time_limit(spec, self.params)

    @property
    def state(self) -> Any:
        """The state, or the states of a batch, as `step` of envcore returns it.

        Raises:
          ResetNeeded: there has been no reset.
          ClosedEnvironmentError: after `close` of a batch.
        """
        return self._begun().state

    def render(self) -> Any:
        """The picture of the state, uint8 (height, width, 3), or of each of a batch; None without a render mode."""
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
