"""Reacher-misc, after Ivy's gym (github.com/ivy-llc/gym) `ivy_gym/reacher.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from envcore import checks, random, require, spaces, trig
from envcore.environment import Environment, EnvParams, EnvState
from envcore.fusion import compute_once
from envcore.typing import ArrayParam, FloatParam, IntParam
from flax import struct


@struct.dataclass
class ReacherState(EnvState):
    """State of `Reacher`.

    Attributes:
      angles: angle of each link from the x axis, rad, not wrapped.
      angle_vels: angular velocity of each link, rad/s.
      goal_xy: x and y of the goal.
    """

    angles: Annotated[jax.Array, "float32 (num_joints,)"]
    angle_vels: Annotated[jax.Array, "float32 (num_joints,)"]
    goal_xy: Annotated[jax.Array, "float32 (2,)"]


@struct.dataclass
class ReacherParams(EnvParams):
    """Params of `Reacher`. `Reacher.default_params` sets those that are None here.

    Attributes:
      torque_scale: angular acceleration for a torque of 1, rad/s^2.
      dt: time step, s.
      link_lengths: length of each link, 1 by default.
      goal_low: lower bounds of the goal's x and y, -num_joints by default.
      goal_high: upper bounds of the goal's x and y, num_joints by default.
    """

    torque_scale: FloatParam = 1.0
    dt: FloatParam = 0.05
    link_lengths: Annotated[ArrayParam, "float32 (num_joints,)"] = struct.field(default=None)
    goal_low: Annotated[ArrayParam, "float32 (2,)"] = struct.field(default=None)
    goal_high: Annotated[ArrayParam, "float32 (2,)"] = struct.field(default=None)
    max_steps_in_episode: IntParam = 100


class ReacherStart(NamedTuple):
    """Draws of the start of an episode, all in [0, 1). Steps are not random.

    Attributes:
      angles: for the links' angles.
      angle_vels: for the links' velocities.
      goal_xy: for the goal's x and y.
    """

    angles: Annotated[jax.Array, "float32 (num_joints,)"]
    angle_vels: Annotated[jax.Array, "float32 (num_joints,)"]
    goal_xy: Annotated[jax.Array, "float32 (2,)"]


@dataclasses.dataclass(frozen=True)
class Reacher(Environment[ReacherState, ReacherParams]):
    """Reacher-misc: bring the end of an arm of several links to a goal in the plane, and keep it there.

    Original: `ivy_gym/reacher.py` of Ivy's gym (github.com/ivy-llc/gym, once unifyai/gym), Lenton et al. (2021), "Ivy:
    Templated deep learning for inter-framework portability".

    The arm is anchored at the origin. Each link, of length `link_lengths`, begins where the previous one ends. Angles
    are absolute, from the x axis instead of from the previous link, so a torque turns one link and shifts the links
    after it. Every link has unit inertia, so the action times `torque_scale` is the angular acceleration. A step is one
    semi-implicit Euler step of `dt`. Nothing is clipped, wrapped or damped.

    An episode's task is its goal, uniform between `goal_low` and `goal_high`. By default this is the square around the
    arm's reach, whose corners the arm cannot reach. The angles start uniform on [-pi, pi), the velocities on [-1, 1).
    If `goal_low` equals `goal_high`, every episode has the same goal. To run a batch of such tasks, or of arms, `vmap`
    over params.

    Observation: float32 (3n + 2,), where n is `num_joints`.
      0 to n - 1: cosine of each link's angle
      n to 2n - 1: sine of each link's angle
      2n to 3n - 1: angular velocity of each link, rad/s
      3n and 3n + 1: x and y of the goal
    Action: float32 (num_joints,) in [-1, 1], a torque for each joint.
    Reward: exp(-d^2), with the distance d from the arm's end to the goal after the step.
    Termination: never.
    Truncation: after 100 steps, gymnax's limit.

    Deviations: the original has no time limit (`max_steps_in_episode=envcore.environment.NO_TIME_LIMIT`). Like gymnax,
    it can only observe an arm of two joints. `link_lengths`, which are 1 there, and the goal's bounds are constants in
    its code. Angles and velocities are float32.

    Attributes:
      num_joints: number of links of the arm, at least 1.

    Raises:
      ValueError: `num_joints` is out of range.
    """

    differentiable: ClassVar[bool] = True
    render_fps: ClassVar[float] = 20

    num_joints: int = 2

    def __post_init__(self) -> None:
        checks.positive_integer("num_joints", self.num_joints, at_most=2**16)

    @property
    def default_params(self) -> ReacherParams:
        reach = np.full(2, self.num_joints, np.float32)
        return ReacherParams(link_lengths=np.ones(self.num_joints, np.float32), goal_low=-reach, goal_high=reach)

    def check_params(self, params: ReacherParams) -> None:
        require.positive(params, "link_lengths", "dt")
        require.ordered(params, "goal_low", "goal_high")
        require.between(params, 1e-12, 1000, "dt")  # the angle grows with the square of dt
        require.moderate(params, "torque_scale", "link_lengths", "goal_low", "goal_high")

    def action_space(self, params: ReacherParams) -> spaces.Box:
        return spaces.Box(-1.0, 1.0, (self.num_joints,))

    def observation_space(self, params: ReacherParams) -> spaces.Box:
        free = [1.0] * (2 * self.num_joints) + [np.inf] * self.num_joints
        return spaces.Box([*(-x for x in free), *params.goal_low], [*free, *params.goal_high])

    def state_space(self, params: ReacherParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "angles": spaces.Box(-np.inf, np.inf, (self.num_joints,)),
                "angle_vels": spaces.Box(-np.inf, np.inf, (self.num_joints,)),
                "goal_xy": spaces.Box(params.goal_low, params.goal_high),
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: ReacherParams) -> ReacherStart:
        return ReacherStart(*random.units(key, (self.num_joints,), (self.num_joints,), (2,)))

    def init_state(self, draws: ReacherStart, params: ReacherParams) -> ReacherState:
        return ReacherState(
            angles=(2 * draws.angles - 1) * np.float32(np.pi),
            angle_vels=2 * draws.angle_vels - 1,
            goal_xy=draws.goal_xy * (params.goal_high - params.goal_low) + params.goal_low,
        )

    def transition(
        self, state: ReacherState, action: jax.Array, draws: jax.Array, params: ReacherParams
    ) -> tuple[ReacherState, jax.Array, bool]:
        angle_vels = state.angle_vels + params.dt * (params.torque_scale * action)
        angles = state.angles + params.dt * angle_vels
        reward = compute_once(_proximity, angles, params.link_lengths, state.goal_xy)
        return state.replace(angles=angles, angle_vels=angle_vels), reward, False

    def observe(self, state: ReacherState, params: ReacherParams) -> jax.Array:
        return jnp.concatenate([trig.cos(state.angles), trig.sin(state.angles), state.angle_vels, state.goal_xy])

    def render(self, state: ReacherState, params: ReacherParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_reacher

        return paint_reacher(
            height, state.angles, state.goal_xy, params.link_lengths, params.goal_low, params.goal_high
        )


def _proximity(angles: jax.Array, link_lengths: ArrayParam, goal_xy: jax.Array) -> jax.Array:
    """Returns the reward: 1 if the arm's end is on the goal, decreasing with distance."""
    x, y = (link_lengths * trig.cos(angles)).sum(), (link_lengths * trig.sin(angles)).sum()
    return jnp.exp(-((x - goal_xy[0]) ** 2) - (y - goal_xy[1]) ** 2)
