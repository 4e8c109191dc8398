"""MountainCar-bsuite, after bsuite 0.3.6 `environments/mountain_car.py`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces, trig
from envcore.environment import EnvParams, EnvState, limit
from envcore.typing import Float, FloatParam, Int, IntParam
from flax import struct

from envcore_bsuite.base import BsuiteEnvironment


@struct.dataclass
class MountainCarState(EnvState):
    """State of `MountainCar`.

    Attributes:
      position: position along the valley, whose lowest point is near -0.52.
      velocity: change of position per step.
      raw_return: return of all episodes together.
    """

    position: Float
    velocity: Float
    raw_return: Int


@struct.dataclass
class MountainCarParams(EnvParams):
    """Params of `MountainCar`.

    Attributes:
      min_position: position of the left wall.
      max_position: position of the right edge.
      max_speed: maximum change of position per step. Infinity for no limit.
      goal_position: leftmost position of the goal.
      force: change of velocity caused by a push.
      gravity: largest change of velocity per step that a slope can cause.
      reset_low: lower bound of the initial position, which is uniform on [reset_low, reset_high).
      reset_high: upper bound of the initial position.
    """

    min_position: FloatParam = -1.2
    max_position: FloatParam = 0.6
    max_speed: FloatParam = limit(0.07)
    goal_position: FloatParam = 0.5
    force: FloatParam = 0.001
    gravity: FloatParam = 0.0025
    reset_low: FloatParam = -0.6
    reset_high: FloatParam = -0.4
    max_steps_in_episode: IntParam = 1000


@dataclasses.dataclass(frozen=True)
class MountainCar(BsuiteEnvironment[MountainCarState, MountainCarParams]):
    """MountainCar-bsuite: drive an underpowered car up a hill (bsuite's own task, not Gymnasium's MountainCar-v0).

    Original: bsuite 0.3.6 `environments/mountain_car.py`, Osband et al. (2020), "Behaviour suite for reinforcement
    learning", after Moore (1990), "Efficient memory-based learning for robot control".

    Observation: float32 (1, 3). The hill's height is sin(3 * position).
      0: position of the car
      1: velocity of the car, position per step
      2: time, divided by `max_steps_in_episode`
    Action: int32 ().
      0: push left
      1: do nothing
      2: push right
    Reward: -1 on every step.
    Termination: position >= `goal_position`, or 1,000 steps (`max_steps_in_episode`). The original calls both a
      termination.

    The velocity is updated and clipped to [-`max_speed`, `max_speed`]. Then the position is updated and clipped to
    [`min_position`, `max_position`]. A car that runs into the left wall stops. At the right edge it keeps its velocity.

    bsuite's `raw_return` is the sum of rewards since `reset`. It is a field of the state that is kept over auto-resets,
    and an entry of `info`.

    Deviations: float32 where the original computes in float64.
    """

    time_limit_terminates: ClassVar[bool] = True
    lifetime: ClassVar[tuple[str, ...]] = ("raw_return",)
    action_names: ClassVar[tuple[str, ...]] = ("left", "stay", "right")
    render_fps: ClassVar[float] = 30

    @property
    def default_params(self) -> MountainCarParams:
        return MountainCarParams()

    def check_params(self, params: MountainCarParams) -> None:
        require.nonnegative(params, "max_speed")
        require.below(params, "min_position", "max_position")
        require.ordered(params, "reset_low", "reset_high")
        require.ordered(params, "min_position", "reset_low")
        require.ordered(params, "reset_high", "max_position")
        require.nonnegative(params, "force")
        require.moderate(params, "min_position", "max_position", "reset_low", "reset_high")
        require.moderate(params, "goal_position", "force", "gravity")

    def action_space(self, params: MountainCarParams) -> spaces.Discrete:
        return spaces.Discrete(3)

    def observation_space(self, params: MountainCarParams) -> spaces.Box:
        # Time is unbounded, because it continues in steps after the end.
        low = [params.min_position, -params.max_speed, 0.0]
        return spaces.Box(low, [params.max_position, params.max_speed, np.inf], (1, 3))

    def state_space(self, params: MountainCarParams) -> spaces.Dict:
        position = spaces.Box(params.min_position, params.max_position)
        velocity = spaces.Box(-params.max_speed, params.max_speed)
        raw_return = spaces.Box(np.iinfo(np.int32).min, 0, (), np.int32)
        car = {"position": position, "velocity": velocity, "raw_return": raw_return}
        return spaces.Dict({**car, "time": spaces.NATURAL_NUMBERS})

    def draw_start(self, key: jax.Array, params: MountainCarParams) -> Float:
        """Draws the position."""
        return random.uniform(key, (), params.reset_low, params.reset_high)

    def init_state(self, draws: Float, params: MountainCarParams) -> MountainCarState:
        return MountainCarState(position=draws, velocity=jnp.float32(0), raw_return=jnp.int32(0))

    def transition(
        self, state: MountainCarState, action: jax.Array, draws: jax.Array, params: MountainCarParams
    ) -> tuple[MountainCarState, float, jax.Array, dict[str, jax.Array]]:
        push = (action - 1).astype(jnp.float32) * params.force
        velocity = state.velocity + push - params.gravity * trig.cos(3 * state.position)
        velocity = jnp.clip(velocity, -params.max_speed, params.max_speed)
        position = jnp.clip(state.position + velocity, params.min_position, params.max_position)
        velocity = jnp.where(position == params.min_position, jnp.maximum(velocity, 0.0), velocity)
        state = state.replace(position=position, velocity=velocity, raw_return=state.raw_return - 1)
        return state, -1.0, position >= params.goal_position, self.counters(state, params)

    def observe(self, state: MountainCarState, params: MountainCarParams) -> jax.Array:
        share = state.time.astype(jnp.float32) / jnp.asarray(params.max_steps_in_episode, jnp.float32)
        return jnp.stack([state.position, state.velocity, share])[None]

    def counters(self, state: MountainCarState, params: MountainCarParams) -> dict[str, jax.Array]:
        return {"raw_return": state.raw_return.astype(jnp.float32)}

    def render(self, state: MountainCarState, params: MountainCarParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.control import paint_mountain_car

        return paint_mountain_car(
            height, state.position, params.goal_position, params.min_position, params.max_position
        )
