"""MountainCarContinuous-v0, after Gymnasium 1.4 `classic_control/continuous_mountain_car.py`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
from envcore import random, require, spaces
from envcore.environment import Environment, EnvParams, limit
from envcore.typing import FloatParam, IntParam
from flax import struct

from envcore_classic_control.mountain_car import (
    MountainCarState,
    check_valley,
    drive,
    valley_space,
    valley_state_space,
)


@struct.dataclass
class MountainCarContinuousParams(EnvParams):
    """Params of `MountainCarContinuous`.

    Attributes:
      min_action: pushes below it are clipped to it.
      max_action: pushes above it are clipped to it.
      min_position: of the left wall.
      max_position: of the right edge.
      max_speed: position per step; infinity for no limit.
      goal_position: the goal is at this position and beyond.
      goal_velocity: the lowest velocity that counts at the goal.
      power: the change of velocity by a push of 1.
      gravity: the most that a slope changes the velocity by in a step.
      reset_low: the position starts uniform on [reset_low, reset_high).
      reset_high: the upper bound.
    """

    min_action: FloatParam = -1.0
    max_action: FloatParam = 1.0
    min_position: FloatParam = -1.2
    max_position: FloatParam = 0.6
    max_speed: FloatParam = limit(0.07)
    goal_position: FloatParam = 0.45
    goal_velocity: FloatParam = 0.0
    power: FloatParam = 0.0015
    gravity: FloatParam = 0.0025
    reset_low: FloatParam = -0.6
    reset_high: FloatParam = -0.4
    max_steps_in_episode: IntParam = 999


@dataclasses.dataclass(frozen=True)
class MountainCarContinuous(Environment[MountainCarState, MountainCarContinuousParams]):
    """MountainCarContinuous-v0: the mountain car with a continuous push, rewarded for the goal, penalized for effort.

    Original: Gymnasium 1.4 `classic_control/continuous_mountain_car.py`, after Moore (1990), "Efficient memory-based
      learning for robot control".

    Observation: float32 (2,). The hill's height is sin(3 * position).
      0: position of the car
      1: its velocity, position per step
    Action: float32 (1,), the push, which moves the car clipped to [`min_action`, `max_action`].
    Reward: -0.1 times the square of the push before clipping, plus 100 on the step that terminates.
    Termination: position >= `goal_position` and velocity >= `goal_velocity`.
    Truncation: after 999 steps.

    The velocity is updated and clipped to `max_speed` either way, then the position to `min_position` and
    `max_position`. A car that runs into the left wall stops; one at the right edge keeps its velocity.

    Deviations: rounding only. The original computes the first step in float64 and, given a float32 action, the
    others in float32.
    """

    differentiable: ClassVar[bool] = True
    render_fps: ClassVar[float] = 30

    @property
    def default_params(self) -> MountainCarContinuousParams:
        return MountainCarContinuousParams()

    def check_params(self, params: MountainCarContinuousParams) -> None:
        check_valley(params)
        require.ordered(params, "min_action", "max_action")
        require.nonnegative(params, "power")
        require.moderate(params, "min_action", "max_action", "power")

    def action_space(self, params: MountainCarContinuousParams) -> spaces.Box:
        return spaces.Box(params.min_action, params.max_action, (1,))

    def observation_space(self, params: MountainCarContinuousParams) -> spaces.Box:
        return valley_space(params)

    def state_space(self, params: MountainCarContinuousParams) -> spaces.Dict:
        return valley_state_space(params)

    def draw_start(self, key: jax.Array, params: MountainCarContinuousParams) -> jax.Array:
        return random.uniform(key, (), params.reset_low, params.reset_high)

    def init_state(self, draws: jax.Array, params: MountainCarContinuousParams) -> MountainCarState:
        return MountainCarState(position=draws, velocity=jnp.float32(0))

    def transition(
        self, state: MountainCarState, action: jax.Array, draws: jax.Array, params: MountainCarContinuousParams
    ) -> tuple[MountainCarState, jax.Array, jax.Array]:
        force = jnp.clip(action[0], params.min_action, params.max_action)
        state, terminated = drive(state, force * params.power, params)
        return state, jnp.where(terminated, 100.0, 0.0) - 0.1 * action[0] ** 2, terminated

    def observe(self, state: MountainCarState, params: MountainCarContinuousParams) -> jax.Array:
        return jnp.stack([state.position, state.velocity])

    def render(self, state: MountainCarState, params: MountainCarContinuousParams, height: int = 256) -> jax.Array:
        from envcore_classic_control.render import paint_mountain_car

        return paint_mountain_car(
            height, state.position, params.goal_position, params.min_position, params.max_position
        )
