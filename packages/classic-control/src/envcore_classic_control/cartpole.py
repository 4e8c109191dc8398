"""CartPole-v1, after Gymnasium 1.4 `classic_control/cartpole.py`."""

from __future__ import annotations

import dataclasses
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces, trig
from envcore.environment import Environment, EnvParams, EnvState, limit
from envcore.typing import Bool, Float, FloatParam, IntParam
from flax import struct


@struct.dataclass
class CartPoleState(EnvState):
    """State of `CartPole`.

    Attributes:
      x: cart position, m.
      x_dot: cart velocity, m/s.
      theta: pole angle from upright, rad.
      theta_dot: pole angular velocity, rad/s.
      has_fallen: whether a step of this episode has terminated. Only matters if you continue without a reset.
    """

    x: Float
    x_dot: Float
    theta: Float
    theta_dot: Float
    has_fallen: Bool = struct.field(default=False)


@struct.dataclass
class CartPoleParams(EnvParams):
    """Params of `CartPole`.

    Attributes:
      gravity: gravitational acceleration, m/s^2.
      masscart: mass of the cart, kg.
      masspole: mass of the pole, kg.
      length: half the pole's length, m.
      force_mag: force of a push, N.
      tau: time step, s.
      theta_threshold_radians: largest allowed pole angle, rad. Infinity for no limit.
      x_threshold: largest allowed distance from the center, m. Infinity for no limit.
      reset_low: lower bound of the initial state, whose variables are uniform on [reset_low, reset_high).
      reset_high: upper bound of the initial state.
    """

    gravity: FloatParam = 9.8
    masscart: FloatParam = 1.0
    masspole: FloatParam = 0.1
    length: FloatParam = 0.5
    force_mag: FloatParam = 10.0
    tau: FloatParam = 0.02
    theta_threshold_radians: FloatParam = limit(12 * 2 * np.pi / 360)
    x_threshold: FloatParam = limit(2.4)
    reset_low: FloatParam = -0.05
    reset_high: FloatParam = 0.05
    max_steps_in_episode: IntParam = 500

    @property
    def total_mass(self) -> FloatParam:
        """Mass of cart and pole, kg."""
        return self.masscart + self.masspole

    @property
    def polemass_length(self) -> FloatParam:
        """Mass of the pole times half its length, kg m."""
        return self.masspole * self.length


@dataclasses.dataclass(frozen=True)
class CartPole(Environment[CartPoleState, CartPoleParams]):
    """CartPole-v1: push a cart left or right so that the pole on it stays upright.

    Original: Gymnasium 1.4 `classic_control/cartpole.py`, after Barto, Sutton & Anderson (1983), "Neuronlike adaptive
    elements that can solve difficult learning control problems".

    Observation: float32 (4,).
      0: position of the cart, m, which is 0 at the center
      1: velocity of the cart, m/s
      2: angle of the pole, rad, which is 0 when upright
      3: angular velocity of the pole, rad/s
    Action: int32 ().
      0: push the cart left with `force_mag`
      1: push the cart right with `force_mag`
    Reward: 1 on every step, including the last one. With `sutton_barto_reward`, 0 on every step and -1 on the last one.
      If you continue after the end without a reset, it is 0 (-1) outside the limits below, and 1 (0) after the pole has
      come back inside them.
    Termination: the cart is farther than `x_threshold` from the center, or the pole leans more than
      `theta_threshold_radians`.
    Truncation: after 500 steps.

    Deviations: float32 where the original integrates in float64.

    Attributes:
      sutton_barto_reward: give rewards as in the paper, 0 on every step and -1 at the end, instead of 1 on every step.
      kinematics_integrator: "euler" moves with the old velocities, "semi-implicit euler" with the new ones.

    Raises:
      ValueError: `kinematics_integrator` has another value.
    """

    action_names = ("left", "right")
    render_fps = 50

    sutton_barto_reward: bool = False
    kinematics_integrator: Literal["euler", "semi-implicit euler"] = "euler"

    def __post_init__(self) -> None:
        if self.kinematics_integrator not in ("euler", "semi-implicit euler"):
            raise ValueError(
                f"kinematics_integrator must be 'euler' or 'semi-implicit euler', got {self.kinematics_integrator!r}"
            )

    @property
    def default_params(self) -> CartPoleParams:
        return CartPoleParams()

    def check_params(self, params: CartPoleParams) -> None:
        require.positive(params, "length", "tau", "x_threshold", "theta_threshold_radians")
        require.nonnegative(params, "masscart", "masspole", "force_mag")
        require.that(
            params, ("masscart", "masspole"), lambda cart, pole: cart + pole > 0, "above 0 where masspole is 0"
        )
        require.ordered(params, "reset_low", "reset_high")
        require.between(params, -100, 100, "reset_low", "reset_high")
        require.moderate(params, "gravity", "masscart", "masspole", "length", "force_mag", "tau")

    def action_space(self, params: CartPoleParams) -> spaces.Discrete:
        return spaces.Discrete(2)

    def observation_space(self, params: CartPoleParams) -> spaces.Box:
        # Twice the limits, so that the last observation of an episode is inside the space.
        high = [params.x_threshold * 2, np.inf, params.theta_threshold_radians * 2, np.inf]
        return spaces.symmetric_box(high)

    def state_space(self, params: CartPoleParams) -> spaces.Dict:
        obs = self.observation_space(params)
        names = ("x", "x_dot", "theta", "theta_dot")
        fields = {name: spaces.Box(obs.low[i], obs.high[i]) for i, name in enumerate(names)}
        return spaces.Dict(
            {**fields, "has_fallen": spaces.Box(False, True, (), np.bool_), "time": spaces.NATURAL_NUMBERS}
        )

    def draw_start(self, key: jax.Array, params: CartPoleParams) -> jax.Array:
        """Returns x, x_dot, theta and theta_dot: float32 (4,)."""
        return random.uniform(key, (4,), params.reset_low, params.reset_high)

    def init_state(self, draws: jax.Array, params: CartPoleParams) -> CartPoleState:
        x, x_dot, theta, theta_dot = draws
        return CartPoleState(x=x, x_dot=x_dot, theta=theta, theta_dot=theta_dot)

    def transition(
        self, state: CartPoleState, action: jax.Array, draws: jax.Array, params: CartPoleParams
    ) -> tuple[CartPoleState, jax.Array, jax.Array]:
        force = jnp.where(action == 1, params.force_mag, -params.force_mag)
        x_acc, theta_acc = _accelerations(state, force, params)
        x_dot = state.x_dot + params.tau * x_acc
        theta_dot = state.theta_dot + params.tau * theta_acc
        is_euler = self.kinematics_integrator == "euler"
        x = state.x + params.tau * (state.x_dot if is_euler else x_dot)
        theta = state.theta + params.tau * (state.theta_dot if is_euler else theta_dot)
        terminated = (jnp.abs(x) > params.x_threshold) | (jnp.abs(theta) > params.theta_threshold_radians)
        after = state.replace(
            x=x, x_dot=x_dot, theta=theta, theta_dot=theta_dot, has_fallen=state.has_fallen | terminated
        )
        return after, self._reward(terminated, state.has_fallen), terminated

    def observe(self, state: CartPoleState, params: CartPoleParams) -> jax.Array:
        return jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot])

    def render(self, state: CartPoleState, params: CartPoleParams, height: int = 256) -> jax.Array:
        from envcore_classic_control.render import paint_cartpole

        return paint_cartpole(height, state.x, state.theta, params.length, params.x_threshold)

    def _reward(self, terminated: jax.Array, has_fallen: jax.Array) -> jax.Array:
        if self.sutton_barto_reward:
            return jnp.where(terminated, -1.0, 0.0)
        return jnp.where(terminated & has_fallen, 0.0, 1.0)


def _accelerations(state: CartPoleState, force: Float, params: CartPoleParams) -> tuple[Float, Float]:
    """Applies the equations of Florian (2007), "Correct equations for the dynamics of the cart-pole system".

    Friction is left out.
    """
    sine, cosine = trig.sin(state.theta), trig.cos(state.theta)
    push = (force + params.polemass_length * state.theta_dot**2 * sine) / params.total_mass
    inertia = params.length * (4.0 / 3.0 - params.masspole * cosine**2 / params.total_mass)
    theta_acc = (params.gravity * sine - cosine * push) / inertia
    return push - params.polemass_length * theta_acc * cosine / params.total_mass, theta_acc
