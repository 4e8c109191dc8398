"""MountainCar-v0, after Gymnasium 1.4 `classic_control/mountain_car.py`."""

from __future__ import annotations

import dataclasses
from typing import TypeVar

import jax
import jax.numpy as jnp
from envcore import random, require, spaces, trig
from envcore.environment import Environment, EnvParams, EnvState, limit
from envcore.typing import Float, FloatParam, IntParam
from flax import struct


@struct.dataclass
class MountainCarState(EnvState):
    """State of `MountainCar` and `MountainCarContinuous`.

    Attributes:
      position: position along the valley, whose lowest point is near -0.52.
      velocity: change of position per step.
    """

    position: Float
    velocity: Float


@struct.dataclass
class ValleyParams(EnvParams):
    """Params that MountainCar and MountainCarContinuous share.

    Attributes:
      min_position: position of the left wall.
      max_position: position of the right edge.
      max_speed: maximum change of position per step. Infinity for no limit.
      goal_position: leftmost position of the goal.
      goal_velocity: minimum velocity at the goal.
      gravity: largest change of velocity per step that a slope can cause.
      reset_low: lower bound of the initial position, which is uniform on [reset_low, reset_high).
      reset_high: upper bound of the initial position.
    """

    min_position: FloatParam = -1.2
    max_position: FloatParam = 0.6
    max_speed: FloatParam = limit(0.07)
    goal_position: FloatParam = 0.5
    goal_velocity: FloatParam = 0.0
    gravity: FloatParam = 0.0025
    reset_low: FloatParam = -0.6
    reset_high: FloatParam = -0.4


@struct.dataclass
class MountainCarParams(ValleyParams):
    """Params of `MountainCar`, in addition to `ValleyParams`.

    Attributes:
      force: change of velocity caused by a push.
    """

    force: FloatParam = 0.001
    max_steps_in_episode: IntParam = 200


ParamsT = TypeVar("ParamsT", bound=ValleyParams)


@dataclasses.dataclass(frozen=True)
class Valley(Environment[MountainCarState, ParamsT]):
    """Base class of MountainCar and MountainCarContinuous, with the valley, the start and the observation."""

    render_fps = 30
    _force = "DISCRETE"

    def check_params(self, params: ParamsT) -> None:
        require.nonnegative(params, "max_speed")
        require.below(params, "min_position", "max_position")
        require.ordered(params, "reset_low", "reset_high")
        require.ordered(params, "min_position", "reset_low")
        require.ordered(params, "reset_high", "max_position")
        require.moderate(params, "min_position", "max_position", "reset_low", "reset_high")
        require.moderate(params, "goal_position", "goal_velocity", "gravity")

    def observation_space(self, params: ParamsT) -> spaces.Box:
        return spaces.Box([params.min_position, -params.max_speed], [params.max_position, params.max_speed])

    def state_space(self, params: ParamsT) -> spaces.Dict:
        return spaces.Dict(
            {
                "position": spaces.Box(params.min_position, params.max_position),
                "velocity": spaces.Box(-params.max_speed, params.max_speed),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: ParamsT) -> Float:
        """Draws the initial position, float32 ()."""
        return random.uniform(key, (), params.reset_low, params.reset_high)

    def init_state(self, draws: Float, params: ParamsT) -> MountainCarState:
        return MountainCarState(position=draws, velocity=jnp.float32(0))

    def observe(self, state: MountainCarState, params: ParamsT) -> jax.Array:
        return jnp.stack([state.position, state.velocity])

    def render(self, state: MountainCarState, params: ParamsT, height: int = 256) -> jax.Array:
        from envcore_classic_control.render import paint_mountain_car

        return paint_mountain_car(
            height,
            state.position,
            params.goal_position,
            params.min_position,
            params.max_position,
            force=f"{self._force} FORCE",
        )


@dataclasses.dataclass(frozen=True)
class MountainCar(Valley[MountainCarParams]):
    """MountainCar-v0: an underpowered car in a valley swings back and forth until it reaches the hilltop on the right.

    Original: Gymnasium 1.4 `classic_control/mountain_car.py`, after Moore (1990), "Efficient memory-based learning for
    robot control".

    Observation: float32 (2,). The hill's height is sin(3 * position).
      0: position of the car
      1: velocity of the car, position per step
    Action: int32 ().
      0: push left
      1: do nothing
      2: push right
    Reward: -1 on every step.
    Termination: position >= `goal_position` and velocity >= `goal_velocity`.
    Truncation: after 200 steps.

    The velocity is updated and clipped to [-`max_speed`, `max_speed`]. Then the position is updated and clipped to
    [`min_position`, `max_position`]. A car that runs into the left wall stops. At the right edge it keeps its velocity.

    Deviations: float32 where the original computes in float64.
    """

    action_names = ("left", "stay", "right")

    @property
    def default_params(self) -> MountainCarParams:
        return MountainCarParams()

    def check_params(self, params: MountainCarParams) -> None:
        super().check_params(params)
        require.nonnegative(params, "force")
        require.moderate(params, "force")

    def action_space(self, params: MountainCarParams) -> spaces.Discrete:
        return spaces.Discrete(3)

    def transition(
        self, state: MountainCarState, action: jax.Array, draws: jax.Array, params: MountainCarParams
    ) -> tuple[MountainCarState, float, jax.Array]:
        push = (action - 1).astype(jnp.float32) * params.force
        state, terminated = drive(state, push, params)
        return state, -1.0, terminated


def drive(state: MountainCarState, push: jax.Array, params: ValleyParams) -> tuple[MountainCarState, jax.Array]:
    """Moves the car by one step under `push`. Returns the state and whether the goal is reached."""
    velocity = state.velocity + push - params.gravity * trig.cos(3 * state.position)
    velocity = jnp.clip(velocity, -params.max_speed, params.max_speed)
    position = jnp.clip(state.position + velocity, params.min_position, params.max_position)
    velocity = jnp.where((position == params.min_position) & (velocity < 0), 0.0, velocity)
    at_goal = (position >= params.goal_position) & (velocity >= params.goal_velocity)
    return state.replace(position=position, velocity=velocity), at_goal
