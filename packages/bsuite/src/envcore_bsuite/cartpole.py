"""CartPole-bsuite, after bsuite 0.3.6 `environments/cartpole.py`."""

from __future__ import annotations

import dataclasses
from typing import ClassVar, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces, trig
from envcore.environment import EnvParams, EnvState, limit, next_time
from envcore.typing import Float, FloatParam, Int
from flax import struct

from envcore_bsuite.base import BsuiteEnvironment

_TURN = np.float32(2 * np.pi)


@struct.dataclass
class PoleState(EnvState):
    """Base class of the states of `CartPole` and `CartPoleSwingup`.

    Attributes:
      x: cart position, m.
      x_dot: cart velocity, m/s.
      theta: pole angle from upright, rad.
      theta_dot: pole angular velocity, rad/s.
    """

    x: Float
    x_dot: Float
    theta: Float
    theta_dot: Float


@struct.dataclass
class CartPoleState(PoleState):
    """State of `CartPole`.

    Attributes:
      episode_return: return of the running episode so far.
      raw_return: return of all episodes together.
      best_episode: largest return of a finished episode.
    """

    episode_return: Int
    raw_return: Int
    best_episode: Int


@struct.dataclass
class CartPoleParams(EnvParams):
    """Params of `CartPole`.

    Attributes:
      gravity: gravitational acceleration, m/s^2.
      mass_cart: mass of the cart, kg.
      mass_pole: mass of the pole, kg.
      length: half the pole's length, m.
      force_mag: force of a push, N.
      height_threshold: lowest height of the tip with a reward, as a fraction of the pole's length.
      x_threshold: largest distance from the center with a reward, m.
      timescale: duration of a step, s.
      max_time: maximum duration of an episode, s. Infinity for no limit.
      init_range: bound of the initial state, whose variables are uniform on [-init_range, init_range).
    """

    gravity: FloatParam = 9.8
    mass_cart: FloatParam = 1.0
    mass_pole: FloatParam = 0.1
    length: FloatParam = 0.5
    force_mag: FloatParam = 10.0
    height_threshold: FloatParam = 0.8
    x_threshold: FloatParam = 3.0
    timescale: FloatParam = 0.01
    max_time: FloatParam = limit(10.0)
    init_range: FloatParam = 0.05


POLE_FIELDS = dict.fromkeys(("x", "x_dot", "theta", "theta_dot"), spaces.Box(-np.inf, np.inf, ()))
"""The spaces of the state fields that both tasks share."""

PoleT = TypeVar("PoleT", bound=PoleState)
ParamsT = TypeVar("ParamsT", bound=CartPoleParams)


class CartAndPole(BsuiteEnvironment[PoleT, ParamsT]):
    """Base class of `CartPole` and `CartPoleSwingup`."""

    action_names: ClassVar[tuple[str, ...]] = ("left", "stay", "right")
    render_fps: ClassVar[float] = 50

    def check_params(self, params: ParamsT) -> None:
        require.positive(params, "length", "x_threshold", "max_time", "timescale")
        require.nonnegative(params, "mass_cart", "mass_pole", "force_mag", "init_range")
        heavy = "above 0 where mass_pole is 0"
        require.that(params, ("mass_cart", "mass_pole"), lambda cart, pole: cart + pole > 0, heavy)
        require.between(params, -1, 1, "height_threshold")
        require.moderate(params, "gravity", "mass_cart", "mass_pole", "force_mag", "timescale", "x_threshold")
        require.between(params, 1e-6, 1_000_000, "length")  # the speed of a shorter pole would overflow float32
        require.between(params, 0, 100, "init_range")

    def action_space(self, params: ParamsT) -> spaces.Discrete:
        return spaces.Discrete(3)

    def draw_start(self, key: jax.Array, params: ParamsT) -> jax.Array:
        """Draws the offsets of x, x_dot, theta and theta_dot from rest: float32 (4,)."""
        return random.uniform(key, (4,), -params.init_range, params.init_range)

    def swing(self, state: PoleT, action: jax.Array, params: ParamsT) -> PoleT:
        """Moves cart and pole by one step of `timescale`."""
        sine, cosine = trig.sin(state.theta), trig.cos(state.theta)
        total_mass, pole_moment = params.mass_cart + params.mass_pole, params.mass_pole * params.length
        force = (action - 1).astype(jnp.float32) * params.force_mag
        push = (force + pole_moment * state.theta_dot**2 * sine) / total_mass
        inertia = params.length * (4.0 / 3.0 - params.mass_pole * cosine**2 / total_mass)
        theta_acc = (params.gravity * sine - cosine * push) / inertia
        x_acc = push - pole_moment * theta_acc * cosine / total_mass
        theta = state.theta + params.timescale * state.theta_dot
        return state.replace(
            x=state.x + params.timescale * state.x_dot,
            x_dot=state.x_dot + params.timescale * x_acc,
            theta=theta - _TURN * jnp.floor(theta / _TURN),
            theta_dot=state.theta_dot + params.timescale * theta_acc,
        )

    def is_late(self, state: PoleT, params: ParamsT) -> jax.Array:
        """Returns whether the current step exceeds `max_time`."""
        return next_time(state.time).astype(jnp.float32) * params.timescale > params.max_time

    def shown(self, state: PoleT, params: ParamsT) -> list[jax.Array]:
        """Returns the elements of the observation that both tasks share."""
        return [
            state.x / params.x_threshold,
            state.x_dot / params.x_threshold,
            trig.sin(state.theta),
            trig.cos(state.theta),
            state.theta_dot,
            state.time.astype(jnp.float32) * params.timescale / params.max_time,
        ]


@dataclasses.dataclass(frozen=True)
class CartPole(CartAndPole[CartPoleState, CartPoleParams]):
    """CartPole-bsuite: keep a pole upright on a cart (bsuite's own task, not Gymnasium's CartPole-v1).

    Original: bsuite 0.3.6 `environments/cartpole.py`, Osband et al. (2020), "Behaviour suite for reinforcement
    learning", after Barto, Sutton & Anderson (1983).

    Observation: float32 (1, 6).
      0: position of the cart, divided by `x_threshold`
      1: velocity of the cart, divided by `x_threshold`
      2: sine of the pole's angle, which is 0 when upright
      3: cosine of the pole's angle
      4: angular velocity of the pole, rad/s
      5: time, divided by `max_time`
    Action: int32 ().
      0: push the cart left with `force_mag`
      1: do not push
      2: push the cart right with `force_mag`
    Reward: 1 while the pole's tip is higher than `height_threshold` times its length and the cart is nearer to the
      center than `x_threshold`, else 0.
    Termination: a reward of 0, or more than `max_time` seconds have passed (1,001 steps of 0.01 s).

    Position and angle change with the old velocities (explicit Euler), and a step brings the angle into [0, 2 pi).

    bsuite's `raw_return` is the sum of rewards since `reset`, and `best_episode` is the largest return of an episode.
    They are fields of the state that are kept over auto-resets, and entries of `info`.

    Deviations: float32 where the original integrates in float64. Time is counted in steps, but the original adds up
    seconds. For other values of `timescale` or `max_time`, its rounding can end an episode a step earlier.
    """

    lifetime: ClassVar[tuple[str, ...]] = ("raw_return", "best_episode")

    @property
    def default_params(self) -> CartPoleParams:
        return CartPoleParams()

    def observation_space(self, params: CartPoleParams) -> spaces.Box:
        high = np.array([[np.inf, np.inf, 1.0, 1.0, np.inf, np.inf]])
        return spaces.Box(-high, high)

    def state_space(self, params: CartPoleParams) -> spaces.Dict:
        counts = ("episode_return", "raw_return", "best_episode", "time")
        return spaces.Dict({**POLE_FIELDS, **dict.fromkeys(counts, spaces.NATURAL_NUMBERS)})

    def init_state(self, draws: jax.Array, params: CartPoleParams) -> CartPoleState:
        return CartPoleState(draws[0], draws[1], draws[2], draws[3], jnp.int32(0), jnp.int32(0), jnp.int32(0))

    def transition(
        self, state: CartPoleState, action: jax.Array, draws: jax.Array, params: CartPoleParams
    ) -> tuple[CartPoleState, jax.Array, jax.Array, dict[str, jax.Array]]:
        state = self.swing(state, action, params)
        is_up = (trig.cos(state.theta) > params.height_threshold) & (jnp.abs(state.x) < params.x_threshold)
        terminated = ~is_up | self.is_late(state, params)
        episode_return = state.episode_return + is_up.astype(jnp.int32)
        state = state.replace(
            episode_return=episode_return,
            raw_return=state.raw_return + is_up.astype(jnp.int32),
            best_episode=jnp.where(terminated, jnp.maximum(state.best_episode, episode_return), state.best_episode),
        )
        return state, is_up.astype(jnp.float32), terminated, self.counters(state, params)

    def observe(self, state: CartPoleState, params: CartPoleParams) -> jax.Array:
        return jnp.stack(self.shown(state, params))[None]

    def counters(self, state: CartPoleState, params: CartPoleParams) -> dict[str, jax.Array]:
        return {
            "raw_return": state.raw_return.astype(jnp.float32),
            "best_episode": state.best_episode.astype(jnp.float32),
        }

    def render(self, state: CartPoleState, params: CartPoleParams, height: int = 256) -> jax.Array:
        from envcore_bsuite.render.control import paint_cartpole

        return paint_cartpole(height, state.x, state.theta, params.length, params.x_threshold, params.height_threshold)
