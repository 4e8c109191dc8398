"""Pendulum-v1, after Gymnasium 1.4 `classic_control/pendulum.py`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces, trig
from envcore.environment import Environment, EnvParams, EnvState, limit
from envcore.typing import Float, FloatParam, IntParam
from flax import struct


@struct.dataclass
class PendulumState(EnvState):
    """State of `Pendulum`.

    Attributes:
      theta: angle from upright, rad, not wrapped.
      theta_dot: angular velocity, rad/s.
      last_u: torque of the last step after clipping, N m, 0 after a reset. Only used in pictures.
    """

    theta: Float
    theta_dot: Float
    last_u: Float


@struct.dataclass
class PendulumParams(EnvParams):
    """Params of `Pendulum`.

    Attributes:
      max_speed: maximum angular velocity, rad/s. Infinity for no limit.
      max_torque: maximum torque, N m.
      dt: time step, s.
      g: gravitational acceleration, m/s^2.
      m: mass, kg.
      l: length, m.
      x_init: bound of the initial angle, which is uniform on [-x_init, x_init), rad.
      y_init: bound of the initial velocity, which is uniform on [-y_init, y_init), rad/s.
    """

    max_speed: FloatParam = limit(8.0)
    max_torque: FloatParam = 2.0
    dt: FloatParam = 0.05
    g: FloatParam = 10.0
    m: FloatParam = 1.0
    l: FloatParam = 1.0  # noqa: E741, the original's name
    x_init: FloatParam = np.pi
    y_init: FloatParam = 1.0
    max_steps_in_episode: IntParam = 200


@dataclasses.dataclass(frozen=True)
class Pendulum(Environment[PendulumState, PendulumParams]):
    """Pendulum-v1: swing a pendulum up from a random angle and hold it upright, with too little torque to lift it.

    Original: Gymnasium 1.4 `classic_control/pendulum.py`, Brockman et al. (2016), "OpenAI Gym".

    Observation: float32 (3,).
      0: cosine of the angle, which is 0 when upright
      1: sine of the angle
      2: angular velocity, rad/s
    Action: float32 (1,), the torque in N m, clipped to [-`max_torque`, `max_torque`].
    Reward: -(angle^2 + 0.1 velocity^2 + 0.001 torque^2). It uses the state before the step, with the angle wrapped to
      [-pi, pi), and the clipped torque.
    Termination: never.
    Truncation: after 200 steps.

    Deviations: float32 where the original integrates in float64.
    """

    differentiable: ClassVar[bool] = True
    render_fps: ClassVar[float] = 20

    @property
    def default_params(self) -> PendulumParams:
        return PendulumParams()

    def check_params(self, params: PendulumParams) -> None:
        require.positive(params, "m", "l", "dt")
        require.nonnegative(params, "max_speed", "max_torque", "x_init", "y_init")
        require.moderate(params, "m", "l", "g", "dt", "max_torque")
        require.between(params, 0, 1000, "x_init", "y_init")

    def action_space(self, params: PendulumParams) -> spaces.Box:
        return spaces.symmetric_box([params.max_torque])

    def observation_space(self, params: PendulumParams) -> spaces.Box:
        return spaces.symmetric_box([1.0, 1.0, params.max_speed])

    def state_space(self, params: PendulumParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "theta": spaces.Box(-np.inf, np.inf),
                "theta_dot": spaces.Box(-params.max_speed, params.max_speed),
                "last_u": spaces.Box(-params.max_torque, params.max_torque),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: PendulumParams) -> jax.Array:
        """Draws angle and velocity as fractions of `x_init` and `y_init`, uniform on [-1, 1): float32 (2,)."""
        return random.uniform(key, (2,), -1.0, 1.0)

    def init_state(self, draws: jax.Array, params: PendulumParams) -> PendulumState:
        theta, theta_dot = draws
        theta, theta_dot = theta * params.x_init, theta_dot * params.y_init
        return PendulumState(theta=theta, theta_dot=theta_dot, last_u=jnp.float32(0))

    def transition(
        self, state: PendulumState, action: jax.Array, draws: jax.Array, params: PendulumParams
    ) -> tuple[PendulumState, jax.Array, bool]:
        u = jnp.clip(action[0], -params.max_torque, params.max_torque)
        cost = _wrap(state.theta) ** 2 + 0.1 * state.theta_dot**2 + 0.001 * u**2
        gravity = 3 * params.g / (2 * params.l) * trig.sin(state.theta)
        theta_dot = state.theta_dot + (gravity + 3 / (params.m * params.l**2) * u) * params.dt
        theta_dot = jnp.clip(theta_dot, -params.max_speed, params.max_speed)
        theta = state.theta + theta_dot * params.dt
        return state.replace(theta=theta, theta_dot=theta_dot, last_u=u), -cost, False

    def observe(self, state: PendulumState, params: PendulumParams) -> jax.Array:
        return jnp.stack([trig.cos(state.theta), trig.sin(state.theta), state.theta_dot])

    def render(self, state: PendulumState, params: PendulumParams, height: int = 256) -> jax.Array:
        from envcore_classic_control.render import paint_pendulum

        return paint_pendulum(height, state.theta, state.last_u, params.l, params.max_torque)


def _wrap(angle: jax.Array) -> jax.Array:
    """Wraps angles to [-pi, pi)."""
    turn = np.float32(2 * np.pi)
    return angle - turn * jnp.floor((angle + np.float32(np.pi)) / turn)
