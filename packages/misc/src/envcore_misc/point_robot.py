"""PointRobot-misc, after BOReL `environments/toy_navigation/point_robot.py`."""

from __future__ import annotations

import dataclasses
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces, trig
from envcore.environment import Environment, EnvParams, EnvState
from envcore.typing import ArrayParam, BoolParam, Float, FloatParam, Int, IntParam
from flax import struct

from envcore_misc.clock import observed_time, time_bounds

Rules = Literal["gymnax", "original"]

_PI = np.float32(np.pi)


@struct.dataclass
class PointRobotState(EnvState):
    """State of `PointRobot`.

    Attributes:
      last_action: the last action before clipping, 0 at the start.
      last_reward: the last reward, 0 at the start.
      pos: x and y of the robot.
      goal: x and y of the goal. This is the task.
      goals_reached: number of steps in this episode that reached the goal.
    """

    last_action: Annotated[jax.Array, "float32 (2,)"]
    last_reward: Float
    pos: Annotated[jax.Array, "float32 (2,)"]
    goal: Annotated[jax.Array, "float32 (2,)"]
    goals_reached: Int


@struct.dataclass
class PointRobotParams(EnvParams):
    """Params of `PointRobot`.

    Attributes:
      max_force: largest move along an axis. With the original's rules, it only bounds the action space.
      circle_radius: radius of the half circle of goals.
      dense_reward: whether the reward is the negative distance to the goal.
      goal_radius: distance within which the goal is reached.
      center_init: whether the robot starts at the center.
      normalize_time: whether to scale the observed time to [-1, 1].
      goal: x and y of a fixed goal. None if it is drawn.
    """

    max_force: FloatParam = 0.1
    circle_radius: FloatParam = 1.0
    dense_reward: BoolParam = False
    goal_radius: FloatParam = 0.2
    center_init: BoolParam = False
    normalize_time: BoolParam = True
    goal: Annotated[ArrayParam, "float32 (2,)"] | None = None
    max_steps_in_episode: IntParam = 100


class PointRobotStart(NamedTuple):
    """Draws of the start of an episode.

    Attributes:
      place: initial position of the robot.
      goal: the goal on a half circle of radius 1. None for a fixed goal.
    """

    place: PointRobotDraws
    goal: Annotated[jax.Array, "float32 (2,)"] | None


class PointRobotDraws(NamedTuple):
    """Draws of a step: the new position of the robot if it reaches the goal.

    Attributes:
      x, y: the position for a `circle_radius` of 1.
    """

    x: Float
    y: Float


@dataclasses.dataclass(frozen=True)
class PointRobot(Environment[PointRobotState, PointRobotParams]):
    """PointRobot-misc: find the hidden goal on a half circle, in each episode from scratch.

    Original: BOReL `environments/toy_navigation/point_robot.py`, Dorfman et al. (2021), "Offline meta reinforcement
    learning: identifiability challenges and effective data collection strategies". The defaults are gymnax 1.0.1's
    `misc/point_robot.py`, except for its bug described below.

    The action moves the robot. The goal is hidden, uniform on the half circle y >= 0 of radius `circle_radius`. With
    the option `fixed_goal`, it is `params.goal`, which you can `vmap` over. The robot reaches the goal if it is at most
    `goal_radius` away after the move.

      rules="gymnax": moves are clipped to `max_force` along either axis. The robot starts at a uniform distance from
        the center, below `circle_radius`, in a uniform direction with y >= 0. After it has reached the goal, it starts
        again in this way, and has to return to the goal.
      rules="original": moves are not clipped. In units of `circle_radius`, the robot starts uniform on x from -1.5 to
        1.5 and y from -0.5 to 1.5. It may stay at the goal. Only its position is observed, and episodes have 60 steps.

    With `center_init` the robot starts at the center, with either rules.

    Observation: float32 (6,).
      0 and 1: x and y of the robot
      2: the last reward, 0 before the first step
      3 and 4: the last action before clipping, 0 before the first step
      5: time, from -1 to 1 over an episode, or the number of steps so far without `normalize_time`
      With the original's rules it is float32 (2,), x and y of the robot.
    Action: float32 (2,).
      0: move along x
      1: move along y
    Reward: 1 if the move reaches the goal, else 0. With `dense_reward`, the negative distance to the goal after the
      move.
    Termination: never.
    Truncation: after 100 steps, or 60 with the original's rules.

    Gradients with respect to state, action and params treat the draws as fixed. Reaching the goal has no gradient, so
    use `dense_reward`. At the goal itself the distance has gradient 0.

    Deviations: float32 where the original has float64. Each episode has its own goal, but the original draws `n_tasks`
    goals when it is constructed, and you choose one. Its option to keep starts off the half circle
    (`on_circle_init_state=False`) is missing. gymnax computes the reward, and whether the goal is reached, before the
    move, and divides the time by 100 for any time limit. Here the time is divided by `max_steps_in_episode`.

    Attributes:
      rules: "gymnax" or "original", where the two differ.
      fixed_goal: use `params.goal` instead of drawing a goal for each episode.

    Raises:
      ValueError: `rules` is unknown.
    """

    differentiable: ClassVar[bool] = True
    render_fps: ClassVar[float] = 15

    rules: Rules = "gymnax"
    fixed_goal: bool = False

    def __post_init__(self) -> None:
        if self.rules not in get_args(Rules):
            raise ValueError(f"rules must be one of {', '.join(get_args(Rules))}, got {self.rules!r}")

    @property
    def default_params(self) -> PointRobotParams:
        goal = np.array([0.0, 1.0]) if self.fixed_goal else None
        return PointRobotParams(goal=goal, max_steps_in_episode=100 if self._is_gymnax else 60)

    def check_params(self, params: PointRobotParams) -> None:
        require.nonnegative(params, "max_force", "circle_radius", "goal_radius")
        require.moderate(params, "max_force", "circle_radius", "goal_radius", "goal")

    def action_space(self, params: PointRobotParams) -> spaces.Box:
        return spaces.symmetric_box([params.max_force, params.max_force])

    def observation_space(self, params: PointRobotParams) -> spaces.Box:
        if not self._is_gymnax:
            return spaces.Box(-np.inf, np.inf, (2,))
        early, late = time_bounds(params)
        free = [np.inf, np.inf]
        return spaces.Box([-np.inf, -np.inf, -np.inf, -np.inf, -np.inf, early], [*free, 1.0, *free, late])

    def state_space(self, params: PointRobotParams) -> spaces.Dict:
        return spaces.Dict(
            {
                "last_action": spaces.Box(-np.inf, np.inf, (2,)),
                "last_reward": spaces.Box(-np.inf, 1.0),
                "pos": spaces.Box(-np.inf, np.inf, (2,)),
                "goal": spaces.Box(-np.inf, np.inf, (2,)),
                "goals_reached": spaces.NATURAL_NUMBERS,
                "time": spaces.NATURAL_NUMBERS,
            }
        )

    def draw_start(self, key: jax.Array, params: PointRobotParams) -> PointRobotStart:
        units = random.units(key, *[()] * (2 if self.fixed_goal else 3))
        return PointRobotStart(self._place(units[:2]), None if self.fixed_goal else jnp.stack(_direction(units[2])))

    def init_state(self, draws: PointRobotStart, params: PointRobotParams) -> PointRobotState:
        goal = params.goal if draws.goal is None else draws.goal * params.circle_radius
        return PointRobotState(
            last_action=jnp.zeros(2, jnp.float32),
            last_reward=jnp.float32(0),
            pos=_place(params, draws.place),
            goal=jnp.asarray(goal),
            goals_reached=jnp.int32(0),
        )

    def draw(self, key: jax.Array, params: PointRobotParams) -> PointRobotDraws:
        return self._place(random.units(key, (), ()))  # XLA removes it with the original's rules, which don't use it

    def transition(
        self, state: PointRobotState, action: jax.Array, draws: PointRobotDraws, params: PointRobotParams
    ) -> tuple[PointRobotState, jax.Array, bool]:
        shift = jnp.clip(action, -params.max_force, params.max_force) if self._is_gymnax else action
        pos = state.pos + shift
        distance = _length(state.goal - pos)
        reached = distance <= params.goal_radius
        reward = jnp.where(params.dense_reward, -distance, jnp.where(reached, 1.0, 0.0))
        state = state.replace(
            last_action=action,
            last_reward=reward,
            pos=jnp.where(reached, _place(params, draws), pos) if self._is_gymnax else pos,
            goals_reached=state.goals_reached + reached.astype(jnp.int32),
        )
        return state, reward, False

    def observe(self, state: PointRobotState, params: PointRobotParams) -> jax.Array:
        if not self._is_gymnax:
            return state.pos
        time = observed_time(state.time, params)
        return jnp.concatenate([state.pos, state.last_reward[None], state.last_action, time[None]])

    def render(self, state: PointRobotState, params: PointRobotParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_point_robot

        numbers = state.time, state.pos, state.goal, state.last_action, state.last_reward
        sizes = params.max_force, params.circle_radius, params.goal_radius
        return paint_point_robot(height, *numbers, *sizes, params.dense_reward)

    def _place(self, units: list[jax.Array]) -> PointRobotDraws:
        """Returns an initial position, given two numbers uniform on [0, 1)."""
        if self._is_gymnax:
            x, y = _direction(units[1])
            return PointRobotDraws(units[0] * x, units[0] * y)
        return PointRobotDraws(3.0 * units[0] - 1.5, 2.0 * units[1] - 0.5)

    @property
    def _is_gymnax(self) -> bool:
        return self.rules == "gymnax"


def _direction(unit: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the point at this fraction of the half circle of radius 1."""
    angle = _PI * unit
    return trig.cos(angle), trig.sin(angle)


def _place(params: PointRobotParams, start: PointRobotDraws) -> jax.Array:
    """Returns the initial position of the robot, float32 (2,)."""
    return jnp.where(params.center_init, 0.0, params.circle_radius * jnp.stack(start))


def _length(vector: jax.Array) -> jax.Array:
    """Returns the vector's length, with gradient 0 where it is 0."""
    square = vector[0] ** 2 + vector[1] ** 2
    is_zero = square == 0
    return jnp.where(is_zero, 0.0, jnp.sqrt(jnp.where(is_zero, 1.0, square)))
