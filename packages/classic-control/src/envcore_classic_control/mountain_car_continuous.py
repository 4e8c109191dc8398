"""MountainCarContinuous-v0, after Gymnasium 1.4 `classic_control/continuous_mountain_car.py`."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
from envcore import require, spaces
from envcore.typing import FloatParam, IntParam
from flax import struct

from envcore_classic_control.mountain_car import MountainCarState, Valley, ValleyParams, drive


@struct.dataclass
class MountainCarContinuousParams(ValleyParams):
    """Params of `MountainCarContinuous`, in addition to `ValleyParams`.

    Attributes:
      min_action: lower bound to which pushes are clipped.
      max_action: upper bound to which pushes are clipped.
      power: change of velocity caused by a push of 1.
    """

    min_action: FloatParam = -1.0
    max_action: FloatParam = 1.0
    goal_position: FloatParam = 0.45
    power: FloatParam = 0.0015
    max_steps_in_episode: IntParam = 999


@dataclasses.dataclass(frozen=True)
class MountainCarContinuous(Valley[MountainCarContinuousParams]):
    """MountainCarContinuous-v0: the mountain car with a continuous push, rewarded for the goal, penalized for effort.

    Original: Gymnasium 1.4 `classic_control/continuous_mountain_car.py`, after Moore (1990), "Efficient memory-based
      learning for robot control".

    Observation: float32 (2,). The hill's height is sin(3 * position).
      0: position of the car
      1: velocity of the car, position per step
    Action: float32 (1,), the push. It is clipped to [`min_action`, `max_action`] before it moves the car.
    Reward: -0.1 times the square of the push before clipping, plus 100 on the step that terminates.
    Termination: position >= `goal_position` and velocity >= `goal_velocity`.
    Truncation: after 999 steps.

    The velocity is updated and clipped to [-`max_speed`, `max_speed`]. Then the position is updated and clipped to
    [`min_position`, `max_position`]. A car that runs into the left wall stops. At the right edge it keeps its velocity.

    Deviations: rounding only. The original computes the first step in float64 and, given a float32 action, the
    others in float32.
    """

    differentiable = True
    _force = "CONTINUOUS"

    @property
    def default_params(self) -> MountainCarContinuousParams:
        return MountainCarContinuousParams()

    def check_params(self, params: MountainCarContinuousParams) -> None:
        super().check_params(params)
        require.ordered(params, "min_action", "max_action")
        require.nonnegative(params, "power")
        require.moderate(params, "min_action", "max_action", "power")

    def action_space(self, params: MountainCarContinuousParams) -> spaces.Box:
        return spaces.Box(params.min_action, params.max_action, (1,))

    def transition(
        self, state: MountainCarState, action: jax.Array, draws: jax.Array, params: MountainCarContinuousParams
    ) -> tuple[MountainCarState, jax.Array, jax.Array]:
        force = jnp.clip(action[0], params.min_action, params.max_action)
        state, terminated = drive(state, force * params.power, params)
        return state, jnp.where(terminated, 100.0, 0.0) - 0.1 * action[0] ** 2, terminated
