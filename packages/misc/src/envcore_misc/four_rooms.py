"""FourRooms-misc, after github.com/howardh/gym-fourrooms `gym_fourrooms/envs/fourrooms_env.py`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Annotated, Literal

import jax
import jax.numpy as jnp
import numpy as np
from envcore import random, require, spaces
from envcore.environment import NO_TIME_LIMIT, Environment, EnvParams, EnvState
from envcore.fusion import compute_once
from envcore.typing import ArrayParam, BoolParam, FloatParam, Int, IntParam
from flax import struct

MAP = (
    "xxxxxxxxxxxxx",
    "x     x     x",
    "x     x     x",
    "x           x",
    "x     x     x",
    "x     x     x",
    "xx xxxx     x",
    "x     xxx xxx",
    "x     x     x",
    "x     x     x",
    "x           x",
    "x     x     x",
    "xxxxxxxxxxxxx",
)
"""The rows of the house. An x is a wall."""

_SIDE = len(MAP)
_IS_FREE = np.array([[mark == " " for mark in row] for row in MAP])
_FREE_PLACES = frozenset(zip(*np.nonzero(_IS_FREE), strict=True))
_CELLS = np.argwhere(_IS_FREE).astype(np.int32)  # row and column of free cells, in reading order
_MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)], np.int32)  # up, right, down, left


@struct.dataclass
class FourRoomsState(EnvState):
    """State of `FourRooms`.

    Attributes:
      pos: row and column of the agent.
      goal: row and column of the goal.
    """

    pos: Annotated[jax.Array, "int32 (2,)"]
    goal: Annotated[jax.Array, "int32 (2,)"]


@struct.dataclass
class FourRoomsParams(EnvParams):
    """Params of `FourRooms`.

    Attributes:
      fail_prob: probability that the agent moves in a direction other than the chosen one.
      resample_init_pos: whether to draw the start of each episode.
      resample_goal_pos: whether to draw the goal of each episode.
      goal_fixed: row and column of the goal if `resample_goal_pos` is off.
      pos_fixed: row and column of the start if `resample_init_pos` is off.
    """

    fail_prob: FloatParam = 1 / 3
    resample_init_pos: BoolParam = False
    resample_goal_pos: BoolParam = False
    goal_fixed: Annotated[ArrayParam, "int32 (2,)"] = struct.field(default_factory=lambda: np.array([8, 9]))
    pos_fixed: Annotated[ArrayParam, "int32 (2,)"] = struct.field(default_factory=lambda: np.array([4, 1]))
    max_steps_in_episode: IntParam = 500


@dataclasses.dataclass(frozen=True)
class FourRooms(Environment[FourRoomsState, FourRoomsParams]):
    """FourRooms-misc: walk to a goal in a house of four rooms whose doors join them in a ring.

    Original: github.com/howardh/gym-fourrooms, `gym_fourrooms/envs/fourrooms_env.py`, after Sutton, Precup & Singh
    (1999), "Between MDPs and semi-MDPs: A framework for temporal abstraction in reinforcement learning". This id has
    gymnax's defaults. `rules="original"` has the original's, which differ only in the default params:

        rules         start                  goal                          time limit
        "gymnax"      `pos_fixed`            `goal_fixed`                  500 steps
        "original"    any of 104 cells       any other cell                none

    The agent moves to the next cell in a direction, or stays in place if there is a wall. With probability
    `fail_prob * 4 / 3`, the direction is random among all four, so it differs from the chosen one with probability
    `fail_prob`. From 3/4 on, all directions are random.

    The task is the goal. For a batch of tasks, use `jax.vmap` over `goal_fixed` with `resample_goal_pos` off. With it
    on, each episode draws its own goal. Episodes never start on their goal. A drawn start or goal is uniform over the
    cells other than the position drawn or fixed before it. If the fixed start equals the fixed goal, the start is drawn
    instead.

    Observation: float32 (4,). Rows and columns count from 0 at the upper left corner of the outer wall.
      0: row of the agent
      1: column of the agent
      2: row of the goal
      3: column of the goal
      With `use_visual_obs` it is an image, bool (13, 13, 3): walls, agent, goal.
    Action: int32 ().
      0: up, 1: right, 2: down, 3: left
    Reward: 1 for the step that reaches the goal, else 0.
    Termination: the agent is on the goal. If you continue without a reset, the agent moves on from there.
    Truncation: after `max_steps_in_episode` steps, 500 or none as above.

    Deviations: probabilities are float32. A start can be the goal of the previous episode, which the original excludes
    from its second episode on. The original's goals that stay for several episodes or change after a number of steps
    are missing, and so are its other maps. gymnax differs in three ways. Its image has two channels of float32, with
    the agent's row and column swapped and without the goal. A drawn goal can be the fixed start. Observations are
    integers in a space of floats.

    Attributes:
      use_visual_obs: observe an image instead of four numbers.
      goal_fixed: row and column of the goal, for the default params.
      pos_fixed: row and column of the start, for the default params.
      rules: "gymnax" or "original", selects the default params.

    Raises:
      ValueError: `goal_fixed` or `pos_fixed` is not a free cell, or `rules` is unknown.
    """

    action_names = ("up", "right", "down", "left")
    render_fps = 8

    use_visual_obs: bool = False
    goal_fixed: tuple[int, int] = (8, 9)
    pos_fixed: tuple[int, int] = (4, 1)
    rules: Literal["gymnax", "original"] = "gymnax"

    def __post_init__(self) -> None:
        for name in ("goal_fixed", "pos_fixed"):
            place = tuple(getattr(self, name))
            if not _is_free_place(place):
                raise ValueError(f"{name} must be the row and column of a free cell of FourRooms, got {place}")
            object.__setattr__(self, name, place)  # a tuple, because gymnax's lists are not hashable
        if self.rules not in ("gymnax", "original"):
            raise ValueError(f"rules must be 'gymnax' or 'original', got {self.rules!r}")

    @property
    def default_params(self) -> FourRoomsParams:
        is_original = self.rules == "original"
        return FourRoomsParams(
            resample_init_pos=is_original,
            resample_goal_pos=is_original,
            goal_fixed=np.array(self.goal_fixed),
            pos_fixed=np.array(self.pos_fixed),
            max_steps_in_episode=NO_TIME_LIMIT if is_original else 500,
        )

    def check_params(self, params: FourRoomsParams) -> None:
        require.between(params, 0, 1, "fail_prob")
        for name in ("goal_fixed", "pos_fixed"):
            require.that(params, (name,), _is_free_place, "the row and column of a free cell")

    def action_space(self, params: FourRoomsParams) -> spaces.Discrete:
        return spaces.Discrete(4)

    def observation_space(self, params: FourRoomsParams) -> spaces.Box:
        if self.use_visual_obs:
            return spaces.Box(False, True, (_SIDE, _SIDE, 3), jnp.bool_)
        return spaces.Box(1.0, _SIDE - 2.0, (4,))

    def state_space(self, params: FourRoomsParams) -> spaces.Dict:
        place = spaces.Box(1, _SIDE - 2, (2,), jnp.int32)
        return spaces.Dict({"pos": place, "goal": place, "time": spaces.NATURAL_NUMBERS})

    # Start and step each use one random number, which XLA computes once. Two would be computed separately (5 to 20%).

    def draw_start(self, key: jax.Array, params: FourRoomsParams) -> Int:
        """Draws two free cells in reading order, `first + 104 * other`, with first from 0 to 103, other from 0 to 102.

        If `other` is the cell already chosen, the last free cell replaces it. Unused if start and goal are fixed.
        """
        return random.integers(random.bits(key), len(_CELLS) * (len(_CELLS) - 1))

    def init_state(self, draws: Int, params: FourRoomsParams) -> FourRoomsState:
        # Whichever of start and goal is drawn last avoids the other.
        first, other = compute_once(_two_free_cells, draws)
        draws_goal = jnp.asarray(params.resample_goal_pos)
        draws_pos = params.resample_init_pos | (~draws_goal & (params.pos_fixed == params.goal_fixed).all())
        first = jnp.where(draws_pos, first, params.pos_fixed)
        taken = jnp.where(draws_goal, first, params.goal_fixed)
        other = jnp.where((other == taken).all(), _CELLS[-1], other)
        pos = jnp.where(draws_goal | ~draws_pos, first, other)
        return FourRoomsState(pos=pos, goal=jnp.where(draws_goal, other, params.goal_fixed))

    def draw(self, key: jax.Array, params: FourRoomsParams) -> Int:
        """Draws the direction of a step that fails, numbered like the actions, or -1 for a step that doesn't fail."""
        word = random.bits(key)  # the upper 23 bits decide whether it fails, the lowest two choose the direction
        is_astray = random.unit(word) < params.fail_prob * np.float32(4 / 3)  # a quarter still get the chosen direction
        return jnp.where(is_astray, (word & np.uint32(3)).astype(jnp.int32), np.int32(-1))

    def transition(
        self, state: FourRoomsState, action: jax.Array, draws: Int, params: FourRoomsParams
    ) -> tuple[FourRoomsState, jax.Array, jax.Array]:
        direction = jnp.where(draws < 0, action, draws)
        target, is_free = compute_once(_try, state.pos, direction)
        pos = jnp.where(is_free, target, state.pos)
        is_goal = (pos == state.goal).all()
        return state.replace(pos=pos), is_goal.astype(jnp.float32), is_goal

    def observe(self, state: FourRoomsState, params: FourRoomsParams) -> jax.Array:
        if not self.use_visual_obs:
            return jnp.concatenate([state.pos, state.goal]).astype(jnp.float32)
        rows, columns = np.indices((_SIDE, _SIDE), np.int32)
        agent, goal = ((rows == place[0]) & (columns == place[1]) for place in (state.pos, state.goal))
        return jnp.stack([jnp.asarray(~_IS_FREE), agent, goal], axis=-1)

    def render(self, state: FourRoomsState, params: FourRoomsParams, height: int = 256) -> jax.Array:
        from envcore_misc.render import paint_four_rooms

        return paint_four_rooms(height, state.pos, state.goal, ~_IS_FREE)


def _is_free_place(place: Iterable[int]) -> bool:
    """Returns whether this row and column (Python or numpy numbers) are a free cell."""
    return tuple(place) in _FREE_PLACES


def _try(pos: jax.Array, direction: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns the next cell in a direction, and whether it is free."""
    target = pos + jnp.asarray(_MOVES)[direction]
    return target, jnp.asarray(_IS_FREE)[target[0], target[1]]


def _two_free_cells(numbers: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Returns rows and columns, int32 (2,) each, of the cells that `draw_start` numbers in reading order."""
    return jnp.asarray(_CELLS)[numbers % len(_CELLS)], jnp.asarray(_CELLS)[numbers // len(_CELLS)]
