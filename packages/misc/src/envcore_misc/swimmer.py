"""Swimmer-misc, after Ivy's gym (github.com/ivy-llc/gym) `ivy_gym/swimmer.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces
from envcore.environment import Environment, EnvParams, EnvState
from envcore.fusion import compute_once
from envcore.typing import ArrayParam, FloatParam, IntParam
from flax import struct


@struct.dataclass
class SwimmerState(EnvState):
    """State of `Swimmer`. The last axis is x and y.

    Attributes:
      urchin_xys: positions of the urchins.
      xy: position of the swimmer.
      xy_vel: velocity of the swimmer, per s.
      goal_xy: position of the goal.
    """

    urchin_xys: Annotated[jax.Array, "float32 (num_urchins, 2)"]
    xy: Annotated[jax.Array, "float32 (2,)"]
    xy_vel: Annotated[jax.Array, "float32 (2,)"]
    goal_xy: Annotated[jax.Array, "float32 (2,)"]


@struct.dataclass
class SwimmerParams(EnvParams):
    """Params of `Swimmer`. `Swimmer.default_params` sets those that are None here.

    Attributes:
      dt: time step, s.
      goal_low: lower bounds of the goal's x and y, -1 by default.
      goal_high: upper bounds of the goal's x and y, 1 by default.
      urchin_low: lower bounds of each urchin's x and y, -1 by default.
      urchin_high: upper bounds of each urchin's x and y, 1 by default.
    """

    dt: FloatParam = 0.05
    goal_low: Annotated[ArrayParam, "float32 (2,)"] = struct.field(default=None)
    goal_high: Annotated[ArrayParam, "float32 (2,)"] = struct.field(default=None)
    urchin_low: Annotated[ArrayParam, "float32 (num_urchins, 2)"] = struct.field(default=None)
    urchin_high: Annotated[ArrayParam, "float32 (num_urchins, 2)"] = struct.field(default=None)
    max_steps_in_episode: IntParam = 500


class SwimmerStart(NamedTuple):
    """Draws of the start of an episode, all in [0, 1). Steps are not random.

    Attributes:
      urchin_xys: for the urchins' positions.
      xy: for the swimmer's position.
      goal_xy: for the goal's position.
    """

    urchin_xys: Annotated[jax.Array, "float32 (num_urchins, 2)"]
    xy: Annotated[jax.Array, "float32 (2,)"]
    goal_xy: Annotated[jax.Array, "float32 (2,)"]


@dataclasses.dataclass(frozen=True)
class Swimmer(Environment[SwimmerState, SwimmerParams]):
    """Swimmer-misc: swim to a goal and stay there, and keep away from the urchins.

    Original: `ivy_gym/swimmer.py` of Ivy's gym (github.com/ivy-llc/gym, once unifyai/gym), Lenton et al. (2021), "Ivy:
    Templated deep learning for inter-framework portability".

    The swimmer is a point of unit mass in the plane, and the action is the force on it. A step is one semi-implicit
    Euler step of `dt`. Nothing is clipped or damped. Urchins do not stop the swimmer, but reduce the reward.

    An episode's task is its goal and its urchins. The goal is uniform between `goal_low` and `goal_high`, and each
    urchin between its rows of `urchin_low` and `urchin_high`. By default all are on the square [-1, 1), where the
    swimmer starts too, at rest. Equal bounds fix a position for every episode. To run a batch of such tasks, `vmap`
    over params.

    Observation: float32 (2n + 6,), where n is `num_urchins`.
      0 to 2n - 1: x and y of each urchin
      2n and 2n + 1: x and y of the swimmer
      2n + 2 and 2n + 3: velocity of the swimmer along x and y
      2n + 4 and 2n + 5: x and y of the goal
    Action: float32 (2,).
      0: force along x
      1: force along y
    Reward: exp(-d^2 / 2), with the distance d from the goal, times 1 - exp(-30 u^2) for each urchin, with the distance
      u from the urchin. Both are measured after the step.
    Termination: never.
    Truncation: after 500 steps, gymnax's limit.

    Deviations: the original has no time limit (`max_steps_in_episode=envcore.environment.NO_TIME_LIMIT`). The bounds of
    goal and urchins are constants in its code. Positions and velocities are float32. gymnax has the same rules.

    Attributes:
      num_urchins: number of urchins, at least 0.

    Raises:
      ValueError: `num_urchins` is out of range.
    """

    differentiable: ClassVar[bool] = True
    render_fps: ClassVar[float] = 20

    num_urchins: int = 5

    def __post_init__(self) -> None:
        if self.num_urchins != 0:
            checks.positive_integer("num_urchins", self.num_urchins, at_most=2**16)

    @property
    def default_params(self) -> SwimmerParams:
        goal, urchins = np.ones(2, np.float32), np.ones((self.num_urchins, 2), np.float32)
        return SwimmerParams(goal_low=-goal, goal_high=goal, urchin_low=-urchins, urchin_high=urchins)

    def check_params(self, params: SwimmerParams) -> None:
        require.positive(params, "dt")
        require.ordered(params, "goal_low", "goal_high")
        require.ordered(params, "urchin_low", "urchin_high")
        require.moderate(params, "dt", "goal_low", "goal_high", "urchin_low", "urchin_high")

    def action_space(self, params: SwimmerParams) -> spaces.Box:
        return spaces.Box(-1.0, 1.0, (2,))

    def observation_space(self, params: SwimmerParams) -> spaces.Box:
        low = [*params.urchin_low.reshape(-1), *[-np.inf] * 4, *params.goal_low]
        return spaces.Box(low, [*params.urchin_high.reshape(-1), *[np.inf] * 4, *params.goal_high])

    def state_space(self, params: SwimmerParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "urchin_xys": spaces.Box(params.urchin_low, params.urchin_high),
                "xy": spaces.Box(-np.inf, np.inf, (2,)),
                "xy_vel": spaces.Box(-np.inf, np.inf, (2,)),
                "goal_xy": spaces.Box(params.goal_low, params.goal_high),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: SwimmerParams) -> SwimmerStart:
        return SwimmerStart(*random.units(key, (self.num_urchins, 2), (2,), (2,)))

    def init_state(self, draws: SwimmerStart, params: SwimmerParams) -> SwimmerState:
        return SwimmerState(
            urchin_xys=draws.urchin_xys * (params.urchin_high - params.urchin_low) + params.urchin_low,
            xy=2 * draws.xy - 1,
            xy_vel=jnp.zeros(2, jnp.float32),
            goal_xy=draws.goal_xy * (params.goal_high - params.goal_low) + params.goal_low,
        )

    def transition(
        self, state: SwimmerState, action: jax.Array, draws: jax.Array, params: SwimmerParams
    ) -> tuple[SwimmerState, jax.Array, bool]:
        xy_vel = state.xy_vel + params.dt * action
        xy = state.xy + params.dt * xy_vel
        reward = compute_once(_proximity, xy, state.goal_xy, state.urchin_xys)
        return state.replace(xy=xy, xy_vel=xy_vel), reward, False

    def observe(self, state: SwimmerState, params: SwimmerParams) -> jax.Array:
        return jnp.concatenate([state.urchin_xys.reshape(-1), state.xy, state.xy_vel, state.goal_xy])

    def render(self, state: SwimmerState, params: SwimmerParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_swimmer

        numbers = state.xy, state.xy_vel, state.goal_xy, state.urchin_xys
        bounds = params.goal_low, params.goal_high, params.urchin_low, params.urchin_high
        return paint_swimmer(height, *numbers, *bounds)


def _proximity(xy: jax.Array, goal_xy: jax.Array, urchin_xys: jax.Array) -> jax.Array:
    """Returns the reward: 1 on the goal, decreasing with distance from it and near urchins."""
    safety = jnp.prod(1 - jnp.exp(-30 * _distance_squared(xy[None], urchin_xys)))
    return jnp.exp(-0.5 * _distance_squared(xy, goal_xy)) * safety


def _distance_squared(here: jax.Array, there: jax.Array) -> jax.Array:
    return (here[..., 0] - there[..., 0]) ** 2 + (here[..., 1] - there[..., 1]) ** 2
