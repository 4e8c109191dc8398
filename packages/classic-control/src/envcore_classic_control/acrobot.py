"""Acrobot-v1, after Gymnasium 1.4 `classic_control/acrobot.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces, trig
from envcore.devices import vary_alike
from envcore.environment import Environment, EnvParams, EnvState
from envcore.typing import ArrayParam, Float, FloatParam, IntParam
from flax import struct
from jax import lax

_GRAVITY = 9.8  # m/s^2


@struct.dataclass
class AcrobotState(EnvState):
    """State of `Acrobot`.

    Attributes:
      joint_angle1: angle of the first link, 0 when it hangs down, rad.
      joint_angle2: angle of the second link, 0 when it is in line with the first one, rad.
      velocity_1: angular velocity of the first joint, rad/s.
      velocity_2: angular velocity of the second joint, rad/s.
    """

    joint_angle1: Float
    joint_angle2: Float
    velocity_1: Float
    velocity_2: Float


@struct.dataclass
class AcrobotParams(EnvParams):
    """Params of `Acrobot`.

    Attributes:
      available_torque: torque of each action, N m.
      dt: time step, s.
      link_length_1: length of the first link, m.
      link_length_2: length of the second link, m. Only used in pictures.
      link_mass_1: mass of the first link, kg.
      link_mass_2: mass of the second link, kg.
      link_com_pos_1: distance of the first link's center of mass from its joint, m.
      link_com_pos_2: distance of the second link's center of mass from its joint, m.
      link_moi: moment of inertia of either link, kg m^2.
      max_vel_1: maximum angular velocity of the first joint, rad/s.
      max_vel_2: maximum angular velocity of the second joint, rad/s.
      torque_noise_max: noise added to the torque, uniform on [-torque_noise_max, torque_noise_max), N m.
      reset_low: lower bound of the initial state, whose variables are uniform on [reset_low, reset_high).
      reset_high: upper bound of the initial state.
    """

    available_torque: Annotated[ArrayParam, "float32 (3,)"] = struct.field(
        default_factory=lambda: np.array([-1.0, 0.0, 1.0])
    )
    dt: FloatParam = 0.2
    link_length_1: FloatParam = 1.0
    link_length_2: FloatParam = 1.0
    link_mass_1: FloatParam = 1.0
    link_mass_2: FloatParam = 1.0
    link_com_pos_1: FloatParam = 0.5
    link_com_pos_2: FloatParam = 0.5
    link_moi: FloatParam = 1.0
    max_vel_1: FloatParam = 4 * np.pi
    max_vel_2: FloatParam = 9 * np.pi
    torque_noise_max: FloatParam = 0.0
    reset_low: FloatParam = -0.1
    reset_high: FloatParam = 0.1
    max_steps_in_episode: IntParam = 500


@dataclasses.dataclass(frozen=True)
class Acrobot(Environment[AcrobotState, AcrobotParams]):
    """Acrobot-v1: a two-link pendulum, driven at the joint between the links, swings its tip above a line.

    Original: Gymnasium 1.4 `classic_control/acrobot.py`, after Sutton (1996), "Generalization in reinforcement
    learning: successful examples using sparse coarse coding", and Sutton & Barto (1998).

    Observation: float32 (6,).
      0: cosine of the first joint's angle, which is 0 when the link hangs down
      1: sine of the first joint's angle
      2: cosine of the second joint's angle, which is 0 when the links are in line
      3: sine of the second joint's angle
      4: angular velocity of the first joint, rad/s
      5: angular velocity of the second joint, rad/s
    Action: int32 (), the torque on the second joint, `available_torque[action]`. By default:
      0: -1 N m
      1: 0 N m
      2: 1 N m
    Reward: -1 on every step, 0 on the step that reaches the goal.
    Termination: -cos(angle 1) - cos(angle 1 + angle 2) > 1, so the tip is more than one link above the first joint.
    Truncation: after 500 steps.

    One step integrates the equations of motion with one Runge-Kutta step of `dt` at constant torque. Then it wraps the
    angles to [-pi, pi] and clips the velocities.

    Deviations: float32 where the original integrates in float64. Near the bounds of both velocities, a step amplifies
    rounding errors of the state up to 100,000 times, in the original as well. States there differ from the original's
    by 2e-4, and by 3e-2 in the worst cases found. The original differs from itself as much if you change its initial
    state by half a float32 spacing.

    Attributes:
      book_or_nips: "book" for the equations of Sutton & Barto's book, "nips" for those of the 1996 paper.

    Raises:
      ValueError: `book_or_nips` has another value.
    """

    action_names = ("left", "stay", "right")
    render_fps = 15

    book_or_nips: Literal["book", "nips"] = "book"

    def __post_init__(self) -> None:
        if self.book_or_nips not in ("book", "nips"):
            raise ValueError(f"book_or_nips must be 'book' or 'nips', got {self.book_or_nips!r}")

    @property
    def default_params(self) -> AcrobotParams:
        return AcrobotParams()

    def check_params(self, params: AcrobotParams) -> None:
        require.positive(params, "link_moi", "dt", "link_length_1", "link_length_2")
        require.nonnegative(params, "link_mass_1", "link_mass_2", "max_vel_1", "max_vel_2")
        require.ordered(params, "reset_low", "reset_high")
        require.moderate(params, "link_moi", "available_torque", "torque_noise_max")
        # The inertia is a difference of products of these, which would round to 0.
        require.between(params, 1e-6, 1000, "link_length_1", "link_length_2")
        require.between(params, 0, 1000, "link_mass_1", "link_mass_2")
        require.between(params, -100, 100, "link_com_pos_1", "link_com_pos_2")
        # A step squares velocities four times, so larger velocities or time steps would overflow float32.
        require.between(params, -1000, 1000, "max_vel_1", "max_vel_2", "reset_low", "reset_high")
        require.between(params, 1e-12, 10, "dt")

    def action_space(self, params: AcrobotParams) -> spaces.Discrete:
        return spaces.Discrete(3)

    def observation_space(self, params: AcrobotParams) -> spaces.Box:
        return spaces.symmetric_box([1.0, 1.0, 1.0, 1.0, params.max_vel_1, params.max_vel_2])

    def state_space(self, params: AcrobotParams) -> spaces.Dict:
        angle = spaces.Box(-np.float32(np.pi), np.float32(np.pi))
        return spaces.Dict(
            {
                "joint_angle1": angle,
                "joint_angle2": angle,
                "velocity_1": spaces.Box(-params.max_vel_1, params.max_vel_1),
                "velocity_2": spaces.Box(-params.max_vel_2, params.max_vel_2),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: AcrobotParams) -> jax.Array:
        """Returns both angles and both angular velocities: float32 (4,)."""
        return random.uniform(key, (4,), params.reset_low, params.reset_high)

    def init_state(self, draws: jax.Array, params: AcrobotParams) -> AcrobotState:
        angle1, angle2, velocity1, velocity2 = draws
        return AcrobotState(joint_angle1=angle1, joint_angle2=angle2, velocity_1=velocity1, velocity_2=velocity2)

    def draw(self, key: jax.Array, params: AcrobotParams) -> Float:
        """Returns the noise on the torque, N m, or 0 without noise."""
        high = params.torque_noise_max
        without = vary_alike(jnp.zeros((), jnp.float32), key, high)
        return lax.cond(high > 0, lambda: random.uniform(key, (), -high, high), lambda: without)

    def transition(
        self, state: AcrobotState, action: jax.Array, draws: Float, params: AcrobotParams
    ) -> tuple[AcrobotState, jax.Array, jax.Array]:
        torque = jnp.asarray(params.available_torque)[action] + draws
        angle1, angle2, velocity1, velocity2 = self._runge_kutta(
            (state.joint_angle1, state.joint_angle2, state.velocity_1, state.velocity_2), torque, params
        )
        state = state.replace(
            joint_angle1=_wrap(angle1),
            joint_angle2=_wrap(angle2),
            velocity_1=jnp.clip(velocity1, -params.max_vel_1, params.max_vel_1),
            velocity_2=jnp.clip(velocity2, -params.max_vel_2, params.max_vel_2),
        )
        terminated = _tip_height(state) > 1.0
        return state, jnp.where(terminated, 0.0, -1.0), terminated

    def observe(self, state: AcrobotState, params: AcrobotParams) -> jax.Array:
        angle1, angle2 = state.joint_angle1, state.joint_angle2
        return jnp.stack(
            [trig.cos(angle1), trig.sin(angle1), trig.cos(angle2), trig.sin(angle2), state.velocity_1, state.velocity_2]
        )

    def render(self, state: AcrobotState, params: AcrobotParams, height: int = 256) -> jax.Array:
        from envcore_classic_control.render import paint_acrobot

        return paint_acrobot(height, state.joint_angle1, state.joint_angle2, params.link_length_1, params.link_length_2)

    def _runge_kutta(self, y: tuple[Float, ...], torque: Float, params: AcrobotParams) -> tuple[Float, ...]:
        """Takes one step of the classical fourth-order Runge-Kutta method."""
        dt = params.dt

        def y_after(slope: tuple[Float, ...], duration: FloatParam) -> tuple[Float, ...]:
            return tuple(a + duration * b for a, b in zip(y, slope, strict=True))

        k1 = self._derivatives(y, torque, params)
        k2 = self._derivatives(y_after(k1, dt / 2), torque, params)
        k3 = self._derivatives(y_after(k2, dt / 2), torque, params)
        k4 = self._derivatives(y_after(k3, dt), torque, params)
        return y_after(tuple(a + 2 * b + 2 * c + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)), dt / 6)

    def _derivatives(self, y: tuple[Float, ...], torque: Float, params: AcrobotParams) -> tuple[Float, ...]:
        angle1, angle2, velocity1, velocity2 = y
        m1, m2 = params.link_mass_1, params.link_mass_2
        l1, lc1, lc2 = params.link_length_1, params.link_com_pos_1, params.link_com_pos_2
        inertia = params.link_moi
        sin1, cos1 = trig.sin(angle1), trig.cos(angle1)
        sin2, cos2 = trig.sin(angle2), trig.cos(angle2)
        coupling = m2 * l1 * lc2

        d1 = m1 * lc1**2 + m2 * (l1**2 + lc2**2) + 2 * coupling * cos2 + 2 * inertia
        d2 = m2 * lc2**2 + coupling * cos2 + inertia
        phi2 = m2 * lc2 * _GRAVITY * (sin1 * cos2 + cos1 * sin2)  # the sine of the sum of the angles
        phi1 = (
            -coupling * (velocity2**2 + 2 * velocity2 * velocity1) * sin2
            + (m1 * lc1 + m2 * l1) * _GRAVITY * sin1
            + phi2
        )
        drive = torque + d2 / d1 * phi1 - phi2
        if self.book_or_nips == "book":
            drive = drive - coupling * velocity1**2 * sin2
        acceleration2 = drive / (m2 * lc2**2 + inertia - d2**2 / d1)
        return velocity1, velocity2, -(d2 * acceleration2 + phi1) / d1, acceleration2


def _wrap(angle: jax.Array) -> jax.Array:
    """Wraps angles to [-pi, pi]. Angles inside, including both ends, are unchanged."""
    half, turn = np.float32(np.pi), np.float32(2 * np.pi)
    turns = jnp.ceil((jnp.abs(angle) - half) / turn)
    return jnp.clip(jnp.where(turns > 0, angle - jnp.sign(angle) * turns * turn, angle), -half, half)


def _tip_height(state: AcrobotState) -> jax.Array:
    """Returns the height of the tip above the first joint, in link lengths."""
    return -trig.cos(state.joint_angle1) - trig.cos(state.joint_angle1 + state.joint_angle2)
